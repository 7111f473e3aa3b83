// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// A compile worker for tests that injects faults: the text of the source names the fault of an
// order, and FAULT in the environment one of the worker before its first order.
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string>
#include <string_view>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include "libtune/base/error.hpp"
#include "libtune/kernel/pool/serve.hpp"

namespace {

using tune::compile_result;

constexpr int channel = 3;

void send(const std::vector<std::byte>& bytes) {
  static_cast<void>(!::send(channel, bytes.data(), bytes.size(), MSG_NOSIGNAL));
}

std::vector<std::byte> bytes_of(std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

[[noreturn]] void sleep_for_ever() {
  while (true) std::this_thread::sleep_for(std::chrono::hours(1));
}

[[noreturn]] void take_all_memory() {
  constexpr std::size_t part = std::size_t{4} << 20;
  while (true) {
    std::memset(std::malloc(part), 1, part);
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
}

// By the signal, also where a sanitizer would catch it and write a report.
void crash() {
  std::signal(SIGSEGV, SIG_DFL);
  std::raise(SIGSEGV);
}

// "ECHO text" gives the text back, "SLEEP 20" and "EXIT 7" take a number.
compile_result misbehave(const tune::detail::compile_order& order) {
  const std::string_view text = order.source.text;
  const auto argument = [&] { return std::string(text.substr(text.find(' ') + 1)); };
  compile_result result{.what = compile_result::status::built};
  if (text == "CRASH") crash();
  if (text == "KILL") std::raise(SIGKILL);
  if (text.starts_with("EXIT")) ::_exit(std::atoi(argument().c_str()));
  if (text == "HANG") sleep_for_ever();
  if (text == "EAT") take_all_memory();
  if (text == "NO MEMORY") throw std::bad_alloc();
  if (text == "REFUSE") throw tune::error("it will not");
  if (text == "WRONG") throw tune::build_error("whole", "the log");
  if (text == "NONSENSE") send(bytes_of("this is no message, however long one looks at it"));
  if (text == "OTHER") send(tune::detail::encode(tune::detail::compile_report{order.id + 17, {}}));
  if (text == "ORDER") send(tune::detail::encode(tune::detail::compile_order{}));
  if (text.starts_with("SLEEP")) {
    std::this_thread::sleep_for(std::chrono::milliseconds(std::atoi(argument().c_str())));
  }
  result.binary = bytes_of(text == "PID" ? std::to_string(::getpid()) : argument());
  return result;
}

// Some devices are never ready.
void take_time(const tune::detail::compile_target& target) {
  if (target.device == "HANG") sleep_for_ever();
}

}  // namespace

int main(int count, char** arguments) {
  const char* given = std::getenv("FAULT");
  const std::string_view fault = given != nullptr ? given : "";
  if (fault == "exit") return 5;
  if (fault == "silent") sleep_for_ever();
  if (fault == "nonsense") send(bytes_of("hello, who is there? I speak no known language"));
  if (fault == "other version") {
    send(tune::detail::encode(tune::detail::worker_greeting{.library = "0.0.1"}));
    sleep_for_ever();
  }
  if (fault == "other protocol") {
    send(tune::detail::encode(tune::detail::worker_greeting{.protocol = 99, .library = "9.9"}));
    sleep_for_ever();
  }
  if (fault == "none")
    return tune::detail::run_worker(count, arguments, tune::detail::compile_handlers());
  return tune::detail::run_worker(count, arguments, {.prepare = take_time, .compile = misbehave});
}
