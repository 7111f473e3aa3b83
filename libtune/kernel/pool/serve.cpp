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
#include <string>
#include <string_view>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>
#include <utility>

#include "libtune/base/error.hpp"
#include "libtune/base/library_version.hpp"
#include "libtune/base/plain_text.hpp"
#include "libtune/device/backend.hpp"
#include "libtune/process/child_process.hpp"

namespace tune::detail {
namespace {

using status = compile_result::status;

void send(int socket, const worker_message& message) {
  if (!send_all(socket, encode(message))) throw wire_error("the other end of the socket is closed");
}

/// Receives the next message; empty at the end.
std::optional<worker_message> receive_one(int socket, worker_message_reader& reader) {
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-member-init): it is filled
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

compile_report carry_out(const worker_message& message, const order_handlers& handlers) {
  if (const auto* order = std::get_if<compile_order>(&message)) {
    return {order->id, outcome([&] { return handlers.compile(*order); })};
  }
  const auto* prepare = std::get_if<prepare_order>(&message);
  if (prepare == nullptr) throw wire_error("the message is not an order");
  return {0, outcome([&] {
            handlers.prepare(prepare->target);
            return compile_result{.what = status::built};
          })};
}

::pid_t number_of(const char* text) {
  ::pid_t parent = 0;
  std::from_chars(text, text + std::strlen(text), parent);
  return parent;
}

// Only orders whose source may name files have a folder.
void move_to(const std::string& folder) {
  if (!folder.empty() && ::chdir(folder.c_str()) != 0) {
    throw error("the worker cannot go to the folder '" + folder + "'");
  }
}

compile_result compile_order_here(const compile_order& order) {
  move_to(order.folder);
  compiled_program compiled;
  const compile_target& target = order.target;
  const backend* const found = find_backend(target.backend);
  if (found == nullptr) throw error("no worker compiles for " + target.backend);
  {
    const stderr_filter filtered;
    compiled = found->compile(target, order.source, order.launches, order.folder);
  }
  if (compiled.binary.empty()) throw error("the driver does not provide a binary");
  return {.what = status::built,
          .binary = std::move(compiled.binary),
          .included = std::move(compiled.included)};
}

void prepare_compiler(const compile_target& target) {
  if (const backend* const found = find_backend(target.backend)) found->prepare_compiler(target);
}

// For the signal handler, which may use nothing else. -1: standard error is not redirected.
volatile std::sig_atomic_t kept = -1;
volatile std::sig_atomic_t before = -1;

bool write_all(int to, const char* bytes, std::size_t size) noexcept {
  while (size > 0) {
    const ::ssize_t count = ::write(to, bytes, size);
    if (count < 0 && errno != EINTR) return false;
    if (count < 0) continue;
    bytes += count;
    size -= static_cast<std::size_t>(count);
  }
  return true;
}

template <class Take>
void read_kept(Take&& take) {
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-member-init): it is filled
  std::array<char, 4096> part;
  ::off_t at = 0;
  while (true) {
    const ::ssize_t count = ::pread(kept, part.data(), part.size(), at);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return;
    take(part.data(), static_cast<std::size_t>(count));
    at += count;
  }
}

// Installed for one call: the signal is raised again when this returns.
void write_last_words(int signal) {
  if (kept >= 0) {
    read_kept([](const char* bytes, std::size_t size) { write_all(before, bytes, size); });
  }
  ::raise(signal);
}

void install_handlers() noexcept {
  struct sigaction action = {};
  action.sa_handler = write_last_words;
  action.sa_flags = SA_RESETHAND | SA_NODEFER;
  for (const int signal : {SIGABRT, SIGSEGV, SIGBUS, SIGILL}) {
    struct sigaction present = {};
    // An existing handler stays.
    if (::sigaction(signal, nullptr, &present) == 0 && present.sa_handler == SIG_DFL) {
      ::sigaction(signal, &action, nullptr);
    }
  }
}

/// Matches "1 warning generated.", "2 warnings and 1 error generated."
bool is_count(std::string_view line) noexcept {
  constexpr std::string_view end = " generated.";
  if (!line.ends_with(end) || !is_digit(line.front())) return false;
  line.remove_suffix(end.size());
  return line.ends_with(" warning") || line.ends_with(" warnings") || line.ends_with(" error") ||
         line.ends_with(" errors");
}

std::string without_counts(std::string_view text) {
  std::string rest;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    const std::string_view whole = text.substr(0, line.size() + 1);
    if (!is_count(line)) rest += whole;
    text.remove_prefix(whole.size());
  }
  return rest;
}

}  // namespace

order_handlers compile_handlers() {
  return {.prepare = prepare_compiler, .compile = compile_order_here};
}

int serve_orders(int socket, const order_handlers& handlers) {
  try {
    send(socket, worker_greeting{.library = std::string(library_version())});
    worker_message_reader reader;
    while (const auto message = receive_one(socket, reader)) {
      send(socket, carry_out(*message, handlers));
    }
  } catch (const wire_error&) {
    return 1;
  }
  return 0;
}

void work_for(::pid_t parent, const order_handlers& handlers) {
  constexpr int socket = child_process::socket_in_child;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(0);  // the parent ended before PR_SET_PDEATHSIG
  constexpr rlimit none{.rlim_cur = 0, .rlim_max = 0};
  ::setrlimit(RLIMIT_CORE, &none);
  std::ofstream("/proc/self/oom_score_adj") << "1000";  // a number would depend on the locale
  const int result = serve_orders(socket, handlers);
  // Drivers have threads, and destructors that wait for them: both are skipped.
  std::fflush(nullptr);
  ::_exit(result);
}

int run_worker(int count, char** arguments, const order_handlers& handlers) {
  constexpr int socket = child_process::socket_in_child;
  if (count != 3 || std::string_view(arguments[1]) != "--serve" ||
      ::fcntl(socket, F_SETFD, FD_CLOEXEC) != 0) {
    std::fputs(
        "libtune-worker compiles kernels for programs that use libtune, which start it\n"
        "themselves. It has no other use.\n",
        stderr);
    return 2;
  }
  work_for(number_of(arguments[2]), handlers);
}

stderr_filter::stderr_filter() noexcept {
  const int file = ::memfd_create("libtune-compiler", MFD_CLOEXEC);
  const int error = ::fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  // If it cannot be held back, it is written as usual.
  if (file < 0 || error < 0) {
    if (file >= 0) ::close(file);
    if (error >= 0) ::close(error);
    return;
  }
  install_handlers();
  std::fflush(stderr);
  before = error;
  kept = file;
  ::dup2(file, STDERR_FILENO);
}

stderr_filter::~stderr_filter() {
  if (kept < 0) return;
  std::fflush(stderr);
  ::dup2(before, STDERR_FILENO);
  try {
    std::string text;
    read_kept([&](const char* bytes, std::size_t size) { text.append(bytes, size); });
    text = without_counts(text);
    write_all(STDERR_FILENO, text.data(), text.size());
  } catch (...) {  // out of memory
  }
  ::close(kept);
  ::close(before);
  kept = -1;
  before = -1;
}

}  // namespace tune::detail
