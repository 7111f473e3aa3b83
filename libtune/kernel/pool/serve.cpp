// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/kernel/pool/serve.hpp"

#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>
#include <fcntl.h>
#include <fstream>
#include <new>
#include <span>
#include <string_view>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>
#include <utility>

#include "libtune/base/error.hpp"
#include "libtune/base/library_version.hpp"
#include "libtune/process/child_process.hpp"

namespace tune::worker {
namespace {

using detail::compile_order;
using detail::compile_report;
using detail::wire_error;
using detail::worker_message;
using status = compile_result::status;

void send(int socket, const worker_message& message) {
  const std::vector<std::byte> bytes = detail::encode(message);
  std::span<const std::byte> left = bytes;
  while (!left.empty()) {
    const ::ssize_t count = ::send(socket, left.data(), left.size(), MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) throw wire_error("the other end takes nothing");
    left = left.subspan(static_cast<std::size_t>(count));
  }
}

/// Messages as they come; empty at the end.
std::optional<worker_message> receive(int socket, detail::worker_message_reader& reader) {
  std::array<std::byte, std::size_t{1} << 16> part;
  while (true) {
    if (auto message = reader.next()) return message;
    const ::ssize_t count = ::recv(socket, part.data(), part.size(), 0);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return std::nullopt;
    reader.append(std::span(part).first(static_cast<std::size_t>(count)));
  }
}

template <class Work>
compile_result outcome(Work work) {
  const auto begin = std::chrono::steady_clock::now();
  compile_result result;
  try {
    result = work();
  } catch (const build_error& failure) {
    result = {.what = status::build_failed, .binary = {}, .text = failure.log()};
  } catch (const std::bad_alloc&) {
    result = {.what = status::out_of_memory, .binary = {}, .text = "the compiler found no memory"};
  } catch (const std::exception& failure) {
    result = {.what = status::unavailable, .binary = {}, .text = failure.what()};
  }
  result.elapsed = std::chrono::steady_clock::now() - begin;
  return result;
}

compile_report carry_out(const worker_message& message, const trade& trade) {
  if (const auto* order = std::get_if<compile_order>(&message)) {
    return {order->id, outcome([&] { return trade.compile(*order); })};
  }
  const auto* prepare = std::get_if<detail::prepare_order>(&message);
  if (prepare == nullptr) throw wire_error("what came is no order");
  return {0, outcome([&] {
            trade.prepare(prepare->target);
            return compile_result{.what = status::built};
          })};
}

::pid_t number_of(const char* text) {
  ::pid_t parent = 0;
  std::from_chars(text, text + std::strlen(text), parent);
  return parent;
}

}  // namespace

int serve(int socket, const trade& trade) {
  try {
    send(socket, detail::worker_greeting{.library = std::string(library_version())});
    detail::worker_message_reader reader;
    while (const auto message = receive(socket, reader)) send(socket, carry_out(*message, trade));
  } catch (const wire_error&) {
    return 1;
  }
  return 0;
}

void work_for(::pid_t parent, const trade& trade) {
  constexpr int socket = detail::child_process::socket_in_child;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(0);  // it ended before that was asked for
  constexpr rlimit none{.rlim_cur = 0, .rlim_max = 0};
  ::setrlimit(RLIMIT_CORE, &none);
  std::ofstream("/proc/self/oom_score_adj") << 1000;
  const int result = serve(socket, trade);
  // Drivers have threads, and destructors that wait for them: none of that matters any more.
  std::fflush(nullptr);
  ::_exit(result);
}

int run(int count, char** arguments, const trade& trade) {
  constexpr int socket = detail::child_process::socket_in_child;
  if (count != 3 || std::string_view(arguments[1]) != "--serve" ||
      ::fcntl(socket, F_SETFD, FD_CLOEXEC) != 0) {
    std::fputs(
        "libtune-worker compiles kernels for programs that use libtune, which start it\n"
        "themselves. It is of no use to anybody else.\n",
        stderr);
    return 2;
  }
  work_for(number_of(arguments[2]), trade);
}

}  // namespace tune::worker
