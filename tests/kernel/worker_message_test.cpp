// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/kernel/pool/worker_message.hpp"

#include <cstring>
#include <doctest/doctest.h>
#include <random>
#include <span>
#include <string>
#include <vector>

namespace worker_message_test {

using tune::detail::compile_order;
using tune::detail::compile_report;
using tune::detail::encode;
using tune::detail::prepare_order;
using tune::detail::wire_error;
using tune::detail::worker_greeting;
using tune::detail::worker_message;
using tune::detail::worker_message_reader;

constexpr std::size_t header_bytes = tune::detail::frame_form::header_bytes;

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
void read_all(std::span<const std::byte> bytes) {
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
    read_all(bytes);
  }
  for (int round = 0; round < 2'000; ++round) {
    std::vector<std::byte> bytes(random() % 200);
    for (std::byte& each : bytes) each = static_cast<std::byte>(random());
    read_all(bytes);
  }
}

}  // namespace worker_message_test
