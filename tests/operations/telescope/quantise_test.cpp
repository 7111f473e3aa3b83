// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "operations/telescope/quantise/quantise.hpp"

#include <array>
#include <cmath>
#include <complex>
#include <doctest/doctest.h>
#include <type_traits>
#include <vector>

#include "libtune/testing/devices.hpp"
#include "libtune/testing/run_tests.hpp"
#include "operations/telescope/quantise/dither.hpp"
#include "tests/operations/telescope/quantise_cases.hpp"

namespace quantise_test {

using namespace quantise_cases;  // NOLINT: helpers of this test

static_assert(std::is_nothrow_move_assignable_v<quantise>);

TEST_CASE("Philox gives the numbers of its authors") {
  using words = std::array<std::uint32_t, 4>;
  CHECK(philox({}, 0, 10) == words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
  CHECK(philox({~0U, ~0U, ~0U, ~0U}, ~std::uint64_t{0}, 10) ==
        words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
  CHECK(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, 0x299f31d0a4093822, 10) ==
        words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
  CHECK(philox({}, 0, 7) == words{0x5f6fb709, 0x0d893f64, 0x4f121f81, 0x4f730a48});
}

/// Mean, variance and largest magnitude of numbers, and correlations of neighbours.
struct statistics {
  explicit statistics(const std::vector<double>& numbers)
      : count(static_cast<double>(numbers.size())) {
    for (const double x : numbers) {
      mean += x / count;
      variance += x * x / count;
      largest = std::max(largest, std::abs(x));
    }
    for (const std::size_t step : {1, 2, 3, 4, 8, 64}) {
      double sum = 0;
      for (std::size_t i = 0; i + step < numbers.size(); ++i) sum += numbers[i] * numbers[i + step];
      correlation = std::max(correlation, std::abs(sum / variance / count));
    }
  }
  double count;
  double mean = 0;
  double variance = 0;
  double largest = 0;
  double correlation = 0;
};

void check_uniform(const std::vector<double>& numbers) {
  const statistics found(numbers);
  const double deviation = 1 / std::sqrt(found.count);
  CHECK(std::abs(found.mean) < 4 * std::sqrt(1 / 12.0) * deviation);
  CHECK(std::abs(found.variance - 1 / 12.0) < 4 * std::sqrt(1 / 180.0) * deviation);
  CHECK(found.largest < 0.5);
  CHECK(found.correlation < 5 * deviation);
}

TEST_CASE("dither is uniform, and its neighbours are independent") {
  constexpr std::size_t channels = 256, spectra = 512;
  std::vector<double> along_channels, along_spectra, along_seeds;
  for (std::size_t t = 0; t < spectra; ++t) {
    for (std::size_t c = 0; c < channels; ++c) {
      for (std::size_t p = 0; p < 2; ++p) {
        for (const float x : quantise_dither(5, t, c, channels, p)) along_channels.push_back(x);
      }
      along_spectra.push_back(quantise_dither(5, c, t % 7, channels, 1)[t % 2]);
      along_seeds.push_back(quantise_dither(t * channels + c, 3, 9, channels, 0)[0]);
    }
  }
  check_uniform(along_channels);
  check_uniform(along_seeds);
  std::vector<double> beams;
  for (std::size_t t = 0; t < 4096; ++t) {
    for (std::size_t b = 0; b < 16; ++b) {
      for (const float x : beamform_dither(5, 1000, t, 3, b)) beams.push_back(x);
    }
  }
  check_uniform(beams);
}

TEST_CASE("dither is symmetric, and leaves integers alone") {
  double sum = 0;
  for (std::uint32_t i = 0; i < 65536; ++i) {
    const float x = dither_of_word(i)[0];
    sum += static_cast<double>(x);
    REQUIRE(dither_of_word(i << 16)[1] == x);
    REQUIRE(dither_of_word(65535 - i)[0] == (i % 2 == 0 ? -x : dither_of_word(65535 - i)[0]));
    for (const float integer : {-127.0F, -7.0F, -1.0F, 0.0F, 1.0F, 126.0F, 127.0F}) {
      REQUIRE(std::nearbyint(integer + x) == integer);
    }
  }
  CHECK(sum == 0);
}

/// Spectra of complex samples, and one transform each, pass through unchanged.
struct identity {
  explicit identity(std::size_t bits, std::size_t channels = 32, std::size_t spectra = 64)
      : key{.real = false, .unzip = 1, .bits = bits},
        shape{.channels = channels, .spectra = spectra, .spectra_per_heap = 32},
        input(random_input(key, shape)) {
    input.gains.fill(1);
    input.delay.fill(0);
    input.phase.fill(0);
  }
  quantise_key key;
  quantise_shape shape;
  quantise_input input;
};

LIBTUNE_DEVICE_TEST_CASE("what passes unchanged is rounded with exactly the host's dither",
                         device) {
  const tune::context context = device.create_context();
  for (const std::size_t bits : {8, 4}) {
    identity given(bits);
    const float scale = bits == 8 ? 200.0F : 11.0F;
    for (std::size_t i = 0; i < given.input.spectra.padded_elements(); ++i) {
      given.input.spectra.data()[i] *= scale;
    }
    const quantise_template made(context, given.key);
    quantise op = made.instantiate(context.create_command_queue(), given.shape);
    op.set_first_spectrum(77);
    op.set_seed(0xfedcba9876543210);
    const result got = run(op, given.input);
    auto expected = quantise_on_host(given.key, given.shape, given.input, 77, 0xfedcba9876543210);
    // As the device's, sums are those of float32.
    for (std::size_t i = 0; i < expected.exact.padded_elements(); ++i) {
      expected.exact.data()[i] = std::complex<float>(expected.exact.data()[i]);
    }
    const auto wrong =
        find_misquantised(given.key, expected, got.out.data(), got.saturated.data(), 0);
    CHECK_MESSAGE(!wrong, wrong.value_or(""));
    CHECK(got.saturated[0] > 0);
  }
}

LIBTUNE_DEVICE_TEST_CASE("dither leaves integers alone, and is of all numbers the mean", device) {
  const tune::context context = device.create_context();
  identity given(8);
  for (std::size_t i = 0; i < given.input.spectra.padded_elements(); ++i) {
    const auto part = static_cast<float>(i % 255) - 127.0F;
    given.input.spectra.data()[i] = {part, -part};
  }
  const quantise_template made(context, given.key);
  quantise op = made.instantiate(context.create_command_queue(), given.shape);
  auto without = given.key;
  without.has_dither = false;
  auto expected = quantise_on_host(without, given.shape, given.input, 0, 0);
  for (const std::uint64_t first : {0, 64, 128}) {
    op.set_first_spectrum(first);
    const result got = run(op, given.input);
    for (std::size_t i = 0; i < got.out.size(); ++i) {
      REQUIRE(static_cast<std::int8_t>(got.out[i]) == expected.values.data()[i]);
    }
  }
  // A quarter becomes 0 or 1, and so a quarter on average.
  given.input.spectra.fill({0.25F, -3.75F});
  const result got = run(op, given.input);
  double sum = 0;
  for (const std::uint8_t byte : got.out) sum += static_cast<std::int8_t>(byte);
  CHECK(sum / static_cast<double>(got.out.size()) == doctest::Approx(-1.75).epsilon(0.01));
}

LIBTUNE_DEVICE_TEST_CASE("runs that follow each other have the dither of one long run", device) {
  const tune::context context = device.create_context();
  identity whole(8);
  whole.input.spectra.fill({0.3F, 100.7F});
  const quantise_template made(context, whole.key);
  quantise op = made.instantiate(context.create_command_queue(), whole.shape);
  op.set_first_spectrum(1000);
  const result both = run(op, whole.input);
  identity half(8, 32, 32);
  half.input.spectra.fill({0.3F, 100.7F});
  quantise second = made.instantiate(context.create_command_queue(), half.shape);
  second.set_first_spectrum(1032);
  const result got = run(second, half.input);
  CHECK(std::equal(got.out.begin(), got.out.end(), both.out.end() - std::ssize(got.out)));
  second.set_seed(1);
  CHECK(run(second, half.input).out != got.out);
}

LIBTUNE_DEVICE_TEST_CASE("spectra of real samples are quantised as by the host", device) {
  const tune::context context = device.create_context();
  const quantise_key key;
  const quantise_template made(context, key);
  check(made, key, context, {.channels = 512, .spectra = 64, .spectra_per_heap = 64}, 1ULL << 40);
  check(made, key, context,
        {.channels = 72,
         .first_channel = 7,
         .end_channel = 40,
         .spectra = 64,
         .spectra_per_heap = 32},
        3, 4);
  check(made, key, context, {.channels = 8, .spectra = 32, .spectra_per_heap = 32});
  const quantise_key fixed{.channels = 256};
  check(quantise_template(context, fixed), fixed, context,
        {.channels = 256, .spectra = 32, .spectra_per_heap = 32});
}

LIBTUNE_DEVICE_TEST_CASE("wrong shapes and keys are errors that say what is wrong", device) {
  const tune::context context = device.create_context();
  const tune::command_queue queue = context.create_command_queue();
  const quantise_template made(context);
  const quantise_shape right{.channels = 64, .spectra = 64, .spectra_per_heap = 32};
  const auto refuses = [&](auto&& change, const char* says) {
    quantise_shape wrong = right;
    change(wrong);
    CHECK_THROWS_WITH_AS(made.instantiate(queue, wrong), doctest::Contains(says),
                         tune::argument_error);
  };
  refuses([](auto& s) { s.polarisations = 1; }, "2 polarisations");
  refuses([](auto& s) { s.channels = 0; }, "multiple of 8");
  refuses([](auto& s) { s.channels = 12; }, "multiple of 8");
  refuses([](auto& s) { s.end_channel = 65; }, "from 0 to 65 of 64");
  refuses([](auto& s) { s.first_channel = 64; }, "from 64 to 64");
  refuses([](auto& s) { s.spectra_per_heap = 16; }, "multiple of 32");
  refuses([](auto& s) { s.spectra_per_heap = 0; }, "multiple of 32");
  refuses([](auto& s) { s.spectra = 96, s.spectra_per_heap = 64; }, "whole heaps");
  refuses([](auto& s) { s.channels = 1 << 24, s.spectra = 1ULL << 31; }, "work groups");
  CHECK_THROWS_WITH_AS(quantise_template(context, {.unzip = 3}), doctest::Contains("1, 2 or 4"),
                       tune::argument_error);
  CHECK_THROWS_WITH_AS(quantise_template(context, {.channels = 12}), doctest::Contains("12"),
                       tune::argument_error);
  const quantise_template fixed(context, {.channels = 128});
  CHECK_THROWS_WITH_AS(fixed.instantiate(queue, right), doctest::Contains("128 channels, not 64"),
                       tune::argument_error);
  CHECK_THROWS_WITH_AS(quantise_template(context, {.bits = 16}), doctest::Contains("of 16"),
                       tune::argument_error);
  quantise none = made.instantiate(queue, {.channels = 64, .spectra_per_heap = 32});
  CHECK_NOTHROW(none.run());
}

TEST_CASE("the space of quantise has the test default") {
  for (const bool real : {true, false}) {
    for (const std::size_t unzip : {1, 2, 4}) {
      const auto space = tuning_space(quantise_key{.real = real, .unzip = unzip});
      CHECK(space.find(quantise_tuning{}).has_value());
      CHECK(space.size() > 10);
    }
  }
}

}  // namespace quantise_test
