// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "operations/telescope/beamform/beamform.hpp"

#include <algorithm>
#include <complex>
#include <doctest/doctest.h>
#include <type_traits>
#include <vector>

#include "libtune/testing/devices.hpp"
#include "libtune/testing/run_tests.hpp"
#include "tests/operations/telescope/beamform_cases.hpp"

namespace beamform_test {

using namespace beamform_cases;  // NOLINT: helpers of this test

static_assert(std::is_nothrow_move_assignable_v<beamform>);

LIBTUNE_DEVICE_TEST_CASE("beams of both polarisations are those of the host", device) {
  const tune::context context = device.create_context();
  const beamform_key key{.beams = 4};
  const beamform_template made(context, key);
  const beamform_shape shape{
      .batches = 3, .antennas = 37, .channels = 6, .spectra = 36, .beams = 4};
  check(made, key, context, shape, 1ULL << 40, 3);
  // All of the second polarisation, in one pass; and more of them than of the other.
  beamform_input input = random_input(shape);
  input.polarisations = {1, 1, 1, 1};
  check(made, key, context, shape, input);
  input.polarisations = {0, 1, 0, 0};
  check(made, key, context, shape, input);
  check(made, key, context,
        {.batches = 1, .antennas = 1, .channels = 1, .spectra = 4, .beams = 11});
}

LIBTUNE_DEVICE_TEST_CASE("beams are formed in few passes", device) {
  const tune::context context = device.create_context();
  const beamform_template made(context, {.beams = 7});
  const auto queue = context.create_command_queue();
  const auto passes = [&](const std::vector<std::size_t>& polarisations) {
    beamform op = made.instantiate(
        queue,
        {.batches = 1, .antennas = 2, .channels = 1, .spectra = 4, .beams = polarisations.size()});
    for (std::size_t b = 0; b < polarisations.size(); ++b) op.set_beam(b, polarisations[b]);
    return op.passes();
  };
  CHECK(passes({0, 1, 0, 1, 0, 1, 0, 1}) == 1);
  CHECK(passes({0, 0, 0, 0, 0, 0, 0, 0}) == 1);
  CHECK(passes({1, 1, 1, 1, 1, 1, 1, 1}) == 1);
  CHECK(passes({0, 0, 0, 0, 0, 1, 1, 1}) == 2);
  CHECK(passes({1}) == 1);
  CHECK(passes(std::vector<std::size_t>(64, 1)) == 8);
}

/// One antenna of weight 1 passes through unchanged.
LIBTUNE_DEVICE_TEST_CASE("an antenna alone is unchanged, with dither or without", device) {
  const tune::context context = device.create_context();
  const beamform_key key{.beams = 2};
  const beamform_shape shape{.batches = 2, .antennas = 1, .channels = 3, .spectra = 64, .beams = 3};
  beamform_input input = random_input(shape);
  input.weights.fill(1);
  input.delays.fill(0);
  // At 127 dither may clamp, which counts.
  for (std::size_t i = 0; i < input.in.padded_elements(); ++i) {
    input.in.data()[i] = std::clamp<std::int8_t>(input.in.data()[i], -126, 126);
  }
  beamform op = beamform_template(context, key).instantiate(context.create_command_queue(), shape);
  const result got = run(op, input);
  std::size_t i = 0;
  for (std::size_t batch = 0; batch < 2; ++batch) {
    for (std::size_t b = 0; b < 3; ++b) {
      for (std::size_t c = 0; c < 3; ++c) {
        for (std::size_t t = 0; t < 64; ++t) {
          for (std::size_t part = 0; part < 2; ++part) {
            REQUIRE(got.out[i++] == input.in(batch, 0, c, t, b % 2, part));
          }
        }
      }
    }
  }
  for (const std::uint32_t count : got.saturated) CHECK(count == counted_before);
}

LIBTUNE_DEVICE_TEST_CASE("dither depends on the place in the stream, and its mean is 0", device) {
  const tune::context context = device.create_context();
  const beamform_template made(context, {.beams = 2});
  const auto queue = context.create_command_queue();
  const beamform_shape shape{
      .batches = 4, .antennas = 1, .channels = 8, .spectra = 256, .beams = 2};
  beamform_input input = random_input(shape);
  input.in.fill(1);
  input.weights.fill(0.25F);  // real and imaginary part 0.25
  input.delays.fill(0);
  input.dithered = {true, true};
  beamform op = made.instantiate(queue, shape);
  const result all = run(op, input);
  double sum = 0;
  for (const std::int8_t part : all.out) sum += part;
  CHECK(sum / static_cast<double>(all.out.size()) == doctest::Approx(0.25).epsilon(0.05));
  // The second half, as a run of its own.
  const beamform_shape half{.batches = 2, .antennas = 1, .channels = 8, .spectra = 256, .beams = 2};
  beamform_input half_input = random_input(half);
  half_input.in.fill(1);
  half_input.weights.fill(0.25F);
  half_input.delays.fill(0);
  half_input.dithered = {true, true};
  beamform second = made.instantiate(queue, half);
  second.set_first_spectrum(512);
  const result got = run(second, half_input);
  CHECK(std::equal(got.out.begin(), got.out.end(), all.out.end() - std::ssize(got.out)));
  second.set_seed(1);
  CHECK(run(second, half_input).out != got.out);
}

LIBTUNE_DEVICE_TEST_CASE("wrong shapes, keys and beams are errors that say what is wrong", device) {
  const tune::context context = device.create_context();
  const tune::command_queue queue = context.create_command_queue();
  const beamform_template made(context, {.beams = 2});
  const beamform_shape right{.batches = 2, .antennas = 3, .channels = 4, .spectra = 8, .beams = 2};
  const auto refuses = [&](auto&& change, const char* says) {
    beamform_shape wrong = right;
    change(wrong);
    CHECK_THROWS_WITH_AS(made.instantiate(queue, wrong), doctest::Contains(says),
                         tune::argument_error);
  };
  refuses([](auto& s) { s.beams = 0; }, "1 to 64 beams, not 0");
  refuses([](auto& s) { s.beams = 65; }, "1 to 64 beams, not 65");
  refuses([](auto& s) { s.antennas = 0; }, "one antenna");
  refuses([](auto& s) { s.antennas = 32769; }, "32768");
  refuses([](auto& s) { s.spectra = 10; }, "multiple of 4");
  refuses([](auto& s) { s.channels = 1ULL << 32; }, "2^32");
  refuses(
      [](auto& s) {
        s.channels = 1U << 31;
        s.spectra = 1 << 20;
      },
      "work groups");
  CHECK_THROWS_WITH_AS(beamform_template(context, {.beams = 0}), doctest::Contains("one beam"),
                       tune::argument_error);
  const auto refuses_tuning = [&](const beamform_tuning& tuning) {
    CHECK_THROWS_WITH_AS(beamform_template(context, {.beams = 4}, tuning),
                         doctest::Contains("cannot form 4 beams"), tune::argument_error);
  };
  refuses_tuning({.tensor = true, .vector = 4});
  refuses_tuning({.vector = 8});
  refuses_tuning({.antennas = 30, .unroll = 4});
  beamform op = made.instantiate(queue, right);
  CHECK_THROWS_WITH_AS(op.set_beam(2, 0), doctest::Contains("index 2"), tune::argument_error);
  CHECK_THROWS_WITH_AS(op.set_beam(0, 2), doctest::Contains("not 2"), tune::argument_error);
  beamform none = made.instantiate(
      queue, {.batches = 0, .antennas = 3, .channels = 4, .spectra = 8, .beams = 2});
  CHECK_NOTHROW(none.run());
}

TEST_CASE("the space of beamform has the test default") {
  for (const std::size_t beams : {1, 2, 4, 8, 16}) {
    const auto space = tuning_space(beamform_key{.beams = beams});
    CHECK(space.find(beamform_tuning{}).has_value());
    CHECK(space.size() > 20);
    CHECK(tuning_space(beamform_key{.beams = beams}, true).find(beamform_tuning{}).has_value());
  }
}

}  // namespace beamform_test
