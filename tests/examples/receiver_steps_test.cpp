// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The steps of the receiver that are its own. The receiver as a whole checks itself.
#include <cmath>
#include <cstdint>
#include <doctest/doctest.h>

#include "examples/receiver/digitiser.hpp"
#include "examples/receiver/steps.hpp"
#include "libtune/testing/devices.hpp"
#include "libtune/testing/run_tests.hpp"
#include "operations/telescope/unpack/packed_samples.hpp"

namespace receiver_steps_test {

LIBTUNE_DEVICE_TEST_CASE("the receiver's magnitudes are those of the host", device) {
  auto queue = device.create_context().create_command_queue();
  constexpr std::size_t channels = 3;
  constexpr std::size_t products = 77;
  receiver::magnitude op(queue, channels, products);
  op.ensure_all_bound();
  tune::host_array<std::int32_t> values({channels, products, 2});
  for (std::size_t i = 0; i < channels * products * 2; ++i) {
    values.data()[i] = static_cast<std::int32_t>((i * 7919) % 2001) - 1000;
  }
  op.buffer("src").set(queue, values);
  op.run();
  const auto found = op.buffer("dest").get<float>(queue);
  for (std::size_t c = 0; c < channels; ++c) {
    for (std::size_t i = 0; i < products; ++i) {
      const auto part = [&](std::size_t p) { return double{1} * values(c, i, p); };
      CHECK(found(c, i) == doctest::Approx(std::hypot(part(0), part(1))));
    }
  }
}

LIBTUNE_DEVICE_TEST_CASE("the receiver's corner turn puts heaps of an antenna among all", device) {
  auto queue = device.create_context().create_command_queue();
  receiver::settings sizes;
  sizes.antennas = 3;
  sizes.channels = 64;
  sizes.heaps = 2;
  sizes.heap_spectra = 32;
  receiver::corner_turn op(queue, sizes, 1);
  op.ensure_all_bound();
  tune::host_array<std::int8_t> heaps({2, 64, 32, 2, 2});
  for (std::size_t i = 0; i < heaps.size().elements(); ++i) {
    heaps.data()[i] = static_cast<std::int8_t>(i % 127);
  }
  op.buffer("from").set(queue, heaps);
  op.buffer("to").zero(queue);
  op.run();
  const auto all = op.buffer("to").get<std::int8_t>(queue);
  const std::size_t heap = heaps.size().elements() / 2;
  std::size_t wrong = 0;
  for (std::size_t b = 0; b < 2; ++b) {
    for (std::size_t a = 0; a < 3; ++a) {
      for (std::size_t i = 0; i < heap; ++i) {
        const int expected = a == 1 ? heaps.data()[b * heap + i] : 0;
        wrong += all.data()[(b * 3 + a) * heap + i] != expected ? 1U : 0U;
      }
    }
  }
  CHECK(wrong == 0);
}

TEST_CASE("the receiver's digitiser packs a frame that repeats, with its margins") {
  receiver::settings sizes;
  sizes.antennas = 2;
  sizes.channels = 64;
  sizes.heaps = 1;
  const receiver::digitiser input(sizes);
  std::vector<std::uint8_t> row(
      tune::operations::packed_row_bytes(sizes.samples_with_margin(), sizes.bits));
  input.pack(1, 0, row);
  std::uint64_t squares = 0;
  std::size_t differ = 0;
  for (std::size_t i = 0; i < sizes.samples_with_margin(); ++i) {
    const int sample = tune::operations::packed_sample(row.data(), i, sizes.bits);
    if (i < sizes.samples()) {
      squares += static_cast<std::uint64_t>(sample * sample);
    } else {
      differ +=
          sample != tune::operations::packed_sample(row.data(), i - sizes.samples(), sizes.bits)
              ? 1U
              : 0U;
    }
  }
  CHECK(differ == 0);
  CHECK(squares == input.seen().squares[1][0]);
}

TEST_CASE("the receiver's magnitudes compile for CUDA") {
  tune::testing::for_each_compile_target("cuda", [](const tune::context& context) {
    CHECK_NOTHROW(receiver::compile_magnitude(context));
  });
}

}  // namespace receiver_steps_test
