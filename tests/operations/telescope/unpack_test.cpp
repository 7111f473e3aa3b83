// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "operations/telescope/unpack/unpack.hpp"

#include <algorithm>
#include <cstdint>
#include <doctest/doctest.h>
#include <random>
#include <span>
#include <type_traits>
#include <vector>

#include "libtune/testing/devices.hpp"
#include "libtune/testing/run_tests.hpp"
#include "operations/telescope/unpack/reference.hpp"

namespace unpack_test {

using tune::dtype;
using tune::operations::pack_samples;
using tune::operations::packed_row_bytes;
using tune::operations::packed_sample;
using tune::operations::unpack_key;
using tune::operations::unpack_template;
using tune::operations::unpack_tuning;

static_assert(std::is_nothrow_move_assignable_v<tune::operations::unpack>);

TEST_CASE("samples lie in a row from the highest bit of its first byte on") {
  std::vector<std::uint8_t> row(5, 0xFF);
  // 10 bits: 0000000001 1111111111 1000000000 0
  pack_samples(std::vector<std::int16_t>{1, -1, -512}, 10, row);
  CHECK(row == std::vector<std::uint8_t>{0x00, 0x7F, 0xF8, 0x03, 0xFF});
  CHECK(packed_sample(row.data(), 0, 10) == 1);
  CHECK(packed_sample(row.data(), 1, 10) == -1);
  CHECK(packed_sample(row.data(), 2, 10) == -512);
  CHECK(packed_row_bytes(96, 10) == 128);
  CHECK(packed_row_bytes(97, 10) == 256);
  CHECK_THROWS_WITH_AS(packed_row_bytes(1, 17), doctest::Contains("17 bits"), tune::argument_error);
  CHECK_THROWS_WITH_AS(pack_samples(std::vector<std::int16_t>(5), 10, row),
                       doctest::Contains("5 bytes"), tune::argument_error);
}

TEST_CASE("what is packed with any number of bits is read again") {
  for (std::size_t bits = 2; bits <= 16; ++bits) {
    CAPTURE(bits);
    std::mt19937 engine(1);
    const int half = 1 << (bits - 1);
    std::vector<std::int16_t> samples(101);
    for (std::int16_t& sample : samples) {
      sample = static_cast<std::int16_t>(static_cast<int>(engine() % (2U << (bits - 1))) - half);
    }
    std::vector<std::uint8_t> row(packed_row_bytes(samples.size(), bits));
    pack_samples(samples, bits, row);
    int different = 0;
    for (std::size_t i = 0; i < samples.size(); ++i) {
      different += packed_sample(row.data(), i, bits) != samples[i] ? 1 : 0;
    }
    CHECK(different == 0);
  }
}

template <class T>
void unpacks(const tune::context& context, const unpack_key& key, const unpack_tuning& tuning) {
  CAPTURE(key.bits);
  CAPTURE(tuning.adjacent);
  const unpack_template made(context, key, tuning);
  for (const std::size_t samples : {std::size_t{1}, std::size_t{1003}}) {
    std::mt19937 engine(1);
    tune::host_array<std::uint8_t> packed({3, packed_row_bytes(samples, key.bits)});
    for (std::uint8_t& byte : std::span(packed.data(), 3 * packed.size()[1])) {
      byte = static_cast<std::uint8_t>(engine());
    }
    tune::command_queue queue = context.create_command_queue();
    auto op = made.instantiate(queue, 3, samples);
    op.ensure_all_bound();
    op.buffer("samples").set(queue, packed);
    op.run();
    const auto found = op.buffer("out").template get<T>(queue);
    const auto expected = tune::operations::unpack_on_host<T>(packed, key.bits, samples);
    int different = 0;
    for (std::size_t row = 0; row < 3; ++row) {
      for (std::size_t i = 0; i < samples; ++i) {
        different += found(row, i) != expected(row, i) ? 1 : 0;
      }
    }
    CHECK(different == 0);
  }
}

LIBTUNE_DEVICE_TEST_CASE("samples are unpacked exactly", device) {
  const tune::context context = device.create_context();
  unpacks<float>(context, {10, dtype::float32}, {});
  unpacks<std::int16_t>(context, {12, dtype::int16}, {.adjacent = 8, .rounds = 2});
}

LIBTUNE_DEVICE_TEST_CASE("another type, and another number of bits, is an error", device) {
  const tune::context context = device.create_context();
  CHECK_THROWS_WITH_AS(unpack_template(context, {10, dtype::float64}), doctest::Contains("float64"),
                       tune::argument_error);
  CHECK_THROWS_WITH_AS(unpack_template(context, {1, dtype::int16}), doctest::Contains("1 bits"),
                       tune::argument_error);
  CHECK_THROWS_WITH_AS(unpack_template(context, {}, unpack_tuning{.adjacent = 3}),
                       doctest::Contains("2, 4 or 8"), tune::argument_error);
}

TEST_CASE("the space of unpack has the test default") {
  CHECK(tune::operations::tuning_space(unpack_key{}).find(unpack_tuning{}).has_value());
}

}  // namespace unpack_test
