// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/kernel/pool/serve.hpp"

#include <array>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <doctest/doctest.h>
#include <new>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <sys/socket.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include "libtune/base/error.hpp"
#include "libtune/base/library_version.hpp"
#include "libtune/device/context.hpp"
#include "libtune/device/kernel.hpp"
#include "libtune/testing/devices.hpp"
#include "tests/store/captured_errors.hpp"

namespace serve_test {

using status = tune::compile_result::status;
using tune::compile_result;
using tune::detail::compile_order;
using tune::detail::compile_report;
using tune::detail::compile_target;
using tune::detail::stderr_filter;
using tune::detail::worker_greeting;
using tune::detail::worker_message;
using tune::testing::captured_errors;

/// A worker on a thread, and the other end of its socket.
class worker_thread {
 public:
  explicit worker_thread(tune::detail::order_handlers handlers) {
    REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends_.data()) == 0);
    thread_ = std::thread([this, handlers = std::move(handlers)] {
      status_ = tune::detail::serve_orders(ends_[1], handlers);
      ::shutdown(ends_[1], SHUT_RDWR);
    });
  }
  ~worker_thread() {
    leave();
    ::close(ends_[0]);
    ::close(ends_[1]);
  }

  void send(const worker_message& message) { send(tune::detail::encode(message)); }
  void send(const std::vector<std::byte>& bytes) {
    CHECK(::send(ends_[0], bytes.data(), bytes.size(), MSG_NOSIGNAL) ==
          static_cast<::ssize_t>(bytes.size()));
  }

  std::optional<worker_message> receive() {
    while (true) {
      if (auto message = reader_.next()) return message;
      std::array<std::byte, 4096> part;
      const ::ssize_t count = ::recv(ends_[0], part.data(), part.size(), 0);
      if (count <= 0) return std::nullopt;
      reader_.append(std::span(part).first(static_cast<std::size_t>(count)));
    }
  }

  /// Closes, and waits. @returns the exit status
  int leave() {
    if (thread_.joinable()) {
      ::shutdown(ends_[0], SHUT_WR);
      thread_.join();
    }
    return status_;
  }

 private:
  std::array<int, 2> ends_{};
  tune::detail::worker_message_reader reader_;
  std::thread thread_;
  int status_ = -1;
};

compile_result compile(const compile_order& order) {
  const std::string& text = order.source.text;
  if (text == "wrong") throw tune::build_error("the whole text", "the log");
  if (text == "large") throw std::bad_alloc();
  if (text == "refused") throw tune::error("no device");
  return {.what = status::built, .binary = std::vector<std::byte>(3, std::byte{7})};
}

tune::detail::order_handlers handlers() {
  return {.prepare = [](const auto&) {}, .compile = compile};
}

compile_order order(std::uint64_t id, std::string text) {
  compile_order made{.id = id};
  made.source.text = std::move(text);
  return made;
}

compile_report report(worker_thread& worker) {
  const auto message = worker.receive();
  REQUIRE(message.has_value());
  REQUIRE(std::holds_alternative<compile_report>(*message));
  return std::get<compile_report>(*message);
}

TEST_CASE("a worker greets, carries out orders in turn, and ends when nobody is left") {
  worker_thread worker(handlers());
  const auto greeting = worker.receive();
  REQUIRE(greeting.has_value());
  REQUIRE(std::holds_alternative<worker_greeting>(*greeting));
  CHECK(std::get<worker_greeting>(*greeting).protocol == tune::detail::worker_protocol);
  CHECK(std::get<worker_greeting>(*greeting).library == tune::library_version());

  worker.send(tune::detail::prepare_order{});
  worker.send(order(1, "right"));
  worker.send(order(2, "wrong"));
  const compile_report prepared = report(worker);
  CHECK(prepared.id == 0);
  CHECK(prepared.result.what == status::built);
  const compile_report first = report(worker);
  CHECK(first.id == 1);
  CHECK(first.result.what == status::built);
  CHECK(first.result.binary.size() == 3);
  const compile_report second = report(worker);
  CHECK(second.id == 2);
  CHECK(second.result.what == status::build_failed);
  CHECK(second.result.text == "the log");
  CHECK(worker.leave() == 0);
}

TEST_CASE("what an order throws is its result, and the worker goes on") {
  worker_thread worker(handlers());
  worker.receive();
  worker.send(order(1, "large"));
  CHECK(report(worker).result.what == status::out_of_memory);
  worker.send(order(2, "refused"));
  const compile_report refused = report(worker);
  CHECK(refused.result.what == status::unavailable);
  CHECK(refused.result.text == "no device");
  worker.send(order(3, "right"));
  CHECK(report(worker).result.what == status::built);
}

TEST_CASE("a worker that is sent what means nothing ends with a failure") {
  const std::vector<std::byte> good = tune::detail::encode(order(1, "right"));
  SUBCASE("bytes at random") {
    std::mt19937 random(7);
    for (int round = 0; round < 20; ++round) {
      worker_thread worker(handlers());
      std::vector<std::byte> bytes(100);
      for (std::byte& each : bytes) each = static_cast<std::byte>(random());
      worker.send(bytes);
      CHECK(worker.leave() == 1);
    }
  }
  SUBCASE("a message for the other side") {
    worker_thread worker(handlers());
    worker.send(compile_report{});
    CHECK(worker.leave() == 1);
  }
  SUBCASE("a length beyond all bounds") {
    worker_thread worker(handlers());
    std::vector<std::byte> bytes = good;
    bytes[15] = std::byte{0x7F};
    worker.send(bytes);
    CHECK(worker.leave() == 1);
  }
}

TEST_CASE("half an order is none") {
  worker_thread worker(handlers());
  std::vector<std::byte> bytes = tune::detail::encode(order(1, "right"));
  bytes.resize(bytes.size() / 2);
  worker.send(bytes);
  CHECK(worker.leave() == 0);
}

compile_target target_of(const tune::context& context) {
  const tune::device device = context.device();
  return {.backend = device.info().backend,
          .platform = device.platform_name(),
          .device = device.name(),
          .driver_version = device.driver_version(),
          .compiler_identity = context.compiler_identity(),
          .compute_capability =
              device.info().hardware.compute_capability.value_or(tune::compute_capability{})};
}

tune::program_source kernel_for(const tune::context& context, const std::string& name) {
  const bool cuda = context.device().info().language == tune::kernel_language::cuda_cpp;
  return {.name = name,
          .text = cuda ? "extern \"C\" __global__ void nothing() {}" : "__kernel void nothing() {}",
          .options = {}};
}

LIBTUNE_DEVICE_TEST_CASE("what is compiled for another process loads there", device) {
  const tune::context context = device.create_context();
  const auto handlers = tune::detail::compile_handlers();
  handlers.prepare(target_of(context));
  const auto result = handlers.compile(
      {.id = 1, .target = target_of(context), .source = kernel_for(context, "nothing.kernel")});
  REQUIRE(result.what == tune::compile_result::status::built);
  const auto program = context.create_program_from_binary("nothing.kernel", result.binary);
  CHECK_NOTHROW(program.create_kernel("nothing"));
}

LIBTUNE_DEVICE_TEST_CASE("a log is as it is without a worker", device) {
  const tune::context context = device.create_context();
  const tune::program_source wrong{
      .name = "wrong.kernel", .text = "#line 1 \"wrong.kernel\"\nthis is no kernel", .options = {}};
  std::string log;
  std::string log_here;
  try {
    context.create_program(wrong);
  } catch (const tune::build_error& failure) {
    log_here = failure.log();
  }
  try {
    tune::detail::compile_handlers().compile(
        {.id = 1, .target = target_of(context), .source = wrong});
  } catch (const tune::build_error& failure) {
    log = failure.log();
  }
  CHECK_FALSE(log.empty());
  CHECK(log == log_here);
}

LIBTUNE_DEVICE_TEST_CASE("nothing is compiled by another compiler than was asked for", device) {
  const tune::context context = device.create_context();
  compile_order order{
      .id = 1, .target = target_of(context), .source = kernel_for(context, "nothing.kernel")};
  order.target.compiler_identity += " of old";
  CHECK_THROWS_WITH_AS(tune::detail::compile_handlers().compile(order), doctest::Contains("of old"),
                       tune::error);
}

TEST_CASE("no worker compiles for what it does not know") {
  compile_order order;
  order.target.backend = "fake";
  CHECK_THROWS_AS(tune::detail::compile_handlers().compile(order), tune::error);
  order.target.backend = "OpenCL";
  order.target.platform = "no such platform";
  CHECK_THROWS_AS(tune::detail::compile_handlers().compile(order), tune::error);
}

void say(const char* text) {
  REQUIRE(::write(STDERR_FILENO, text, std::strlen(text)) ==
          static_cast<::ssize_t>(std::strlen(text)));
}

TEST_CASE("counts of warnings and errors are kept back, the rest is written") {
  captured_errors errors;
  for (int i = 0; i < 2; ++i) {
    const stderr_filter filter;
    say("1 warning generated.\nLLVM is uneasy\n12 errors generated.\n");
    say("2 warnings and 1 error generated.\n3 things generated.\n\nno end");
    if (i == 0) CHECK(errors.text().empty());
  }
  const std::string once = "LLVM is uneasy\n3 things generated.\n\nno end";
  CHECK(errors.text() == once + once);
}

TEST_CASE("what a compiler writes before it crashes is not lost") {
  captured_errors errors;
  const ::pid_t child = ::fork();
  if (child == 0) {
    for (const int signal : {SIGABRT, SIGSEGV}) ::signal(signal, SIG_DFL);
    const stderr_filter filter;
    constexpr const char* words = "LLVM ERROR: cannot select\n";
    if (::write(STDERR_FILENO, words, std::strlen(words)) < 0) ::_exit(1);
    std::abort();
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(WIFSIGNALED(status));
  CHECK(WTERMSIG(status) == SIGABRT);
  CHECK(errors.text() == "LLVM ERROR: cannot select\n");
}

}  // namespace serve_test
