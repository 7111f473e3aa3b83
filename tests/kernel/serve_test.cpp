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
#include "libtune/kernel/pool/worker_message.hpp"
#include "libtune/testing/devices.hpp"
#include "tests/store/captured_errors.hpp"

namespace serve_test {

using namespace tune::testing;
using namespace tune::detail;
using tune::compile_result;
using status = tune::compile_result::status;

/// A worker on a thread, and the other end of its socket.
class worker_thread {
 public:
  explicit worker_thread(order_handlers handlers) {
    REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends_.data()) == 0);
    thread_ = std::thread([this, handlers = std::move(handlers)] {
      status_ = serve_orders(ends_[1], handlers);
      ::shutdown(ends_[1], SHUT_RDWR);
    });
  }
  ~worker_thread() {
    leave();
    ::close(ends_[0]);
    ::close(ends_[1]);
  }

  void send(const worker_message& message) { send(encode(message)); }
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
  worker_message_reader reader_;
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

order_handlers handlers() {
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
  CHECK(std::get<worker_greeting>(*greeting).protocol == worker_protocol);
  CHECK(std::get<worker_greeting>(*greeting).library == tune::library_version());

  worker.send(prepare_order{});
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
  const std::vector<std::byte> good = encode(order(1, "right"));
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
  std::vector<std::byte> bytes = encode(order(1, "right"));
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
  const auto handlers = compile_handlers();
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
    compile_handlers().compile({.id = 1, .target = target_of(context), .source = wrong});
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
  CHECK_THROWS_WITH_AS(compile_handlers().compile(order), doctest::Contains("of old"), tune::error);
}

TEST_CASE("no worker compiles for what it does not know") {
  compile_order order;
  order.target.backend = "fake";
  CHECK_THROWS_AS(compile_handlers().compile(order), tune::error);
  order.target.backend = "OpenCL";
  order.target.platform = "no such platform";
  CHECK_THROWS_AS(compile_handlers().compile(order), tune::error);
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

constexpr std::size_t header_bytes = frame_form::header_bytes;

compile_order sample_order() {
  return {.id = 42,
          .target = {.backend = "CUDA",
                     .platform = "CUDA",
                     .device = "a device",
                     .driver_version = "driver 12.4",
                     .compiler_identity = "NVRTC 12.4 sm_90",
                     .compute_capability = {9, 0}},
          .source = {.name = "a.kernel", .text = "text\nwith lines", .options = {"-a", "", "-b"}},
          .launches = {{.global = {1024, 2, 1}, .local = {32, 2, 1}, .local_memory_bytes = 64}},
          .folder = "/somewhere"};
}

compile_report sample_report() {
  return {.id = 43,
          .result = {.what = tune::compile_result::status::build_failed,
                     .binary = {std::byte{1}, std::byte{0}, std::byte{255}},
                     .text = "a log",
                     .elapsed = std::chrono::nanoseconds(1234)}};
}

worker_message read_one(const std::vector<std::byte>& bytes) {
  worker_message_reader reader;
  reader.append(bytes);
  auto message = reader.next();
  REQUIRE(message.has_value());
  CHECK_FALSE(reader.next().has_value());
  return *std::move(message);
}

/// Reads until nothing more comes, or what came means nothing.
void read_whatever(std::span<const std::byte> bytes) {
  worker_message_reader reader;
  reader.append(bytes);
  try {
    while (reader.next()) {
    }
  } catch (const wire_error&) {
    return;
  }
}

TEST_CASE("messages come out as they went in") {
  const auto greeting = std::get<worker_greeting>(read_one(encode(worker_greeting{7, "1.2.3"})));
  CHECK(greeting.protocol == 7);
  CHECK(greeting.library == "1.2.3");

  const compile_order given = sample_order();
  const auto prepare =
      std::get<prepare_order>(read_one(encode(prepare_order{.target = given.target})));
  CHECK(prepare.target.compiler_identity == "NVRTC 12.4 sm_90");
  CHECK(prepare.target.compute_capability == given.target.compute_capability);

  const auto order = std::get<compile_order>(read_one(encode(given)));
  CHECK(order.id == 42);
  CHECK(order.target.device == "a device");
  CHECK(order.source.name == given.source.name);
  CHECK(order.source.text == given.source.text);
  CHECK(order.source.options == given.source.options);
  REQUIRE(order.launches.size() == 1);
  CHECK(order.launches[0].global == given.launches[0].global);
  CHECK(order.launches[0].local == given.launches[0].local);
  CHECK(order.launches[0].local_memory_bytes == 64);
  CHECK(order.folder == "/somewhere");

  const auto report = std::get<compile_report>(read_one(encode(sample_report())));
  CHECK(report.id == 43);
  CHECK(report.result.what == tune::compile_result::status::build_failed);
  CHECK(report.result.binary == sample_report().result.binary);
  CHECK(report.result.text == "a log");
  CHECK(report.result.elapsed == std::chrono::nanoseconds(1234));
}

/// Sets the length in a message's frame to that of the bytes which follow.
void mend_length(std::vector<std::byte>& bytes) {
  const std::uint64_t length = bytes.size() - header_bytes;
  std::memcpy(bytes.data() + 4, &length, sizeof length);
}

TEST_CASE("the greeting of a later version is understood as far as it has to be") {
  std::vector<std::byte> bytes = encode(worker_greeting{99, "9.0"});
  bytes.resize(bytes.size() + 8);
  mend_length(bytes);
  CHECK(std::get<worker_greeting>(read_one(bytes)).library == "9.0");
}

// That frames are cut right, whatever arrives, is tested with the frame reader.
TEST_CASE("nonsense is refused") {
  std::vector<std::byte> bytes = encode(sample_order());
  constexpr std::size_t fields = header_bytes + 4;  // behind the kind
  SUBCASE("an unknown kind") { bytes[header_bytes] = std::byte{4}; }
  SUBCASE("a text that is longer than its message") { bytes[fields + 8 + 4] = std::byte{1}; }
  SUBCASE("a result that there is not") {
    bytes = encode(sample_report());
    bytes[fields + 8] = std::byte{6};
  }
  SUBCASE("something after the end") {
    bytes.push_back(std::byte{0});
    mend_length(bytes);
  }
  worker_message_reader reader;
  reader.append(bytes);
  CHECK_THROWS_AS(reader.next(), wire_error);
}

TEST_CASE("damaged messages never do more than be refused") {
  const std::vector<std::vector<std::byte>> samples{encode(sample_order()), encode(sample_report()),
                                                    encode(worker_greeting{1, "0.1.0"}),
                                                    encode(prepare_order{sample_order().target})};
  std::mt19937 random(20);
  for (int round = 0; round < 20'000; ++round) {
    std::vector<std::byte> bytes = samples[random() % samples.size()];
    const std::size_t edits = 1 + random() % 4;
    for (std::size_t i = 0; i < edits; ++i) {
      bytes[random() % bytes.size()] = static_cast<std::byte>(random());
    }
    if (random() % 4 == 0) bytes.resize(random() % (bytes.size() + 1));
    read_whatever(bytes);
  }
  for (int round = 0; round < 2'000; ++round) {
    std::vector<std::byte> bytes(random() % 200);
    for (std::byte& each : bytes) each = static_cast<std::byte>(random());
    read_whatever(bytes);
  }
}

}  // namespace serve_test
