// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "operations/telescope/rfi2d/rfi2d.hpp"

#include <algorithm>
#include <complex>
#include <cstdint>
#include <doctest/doctest.h>
#include <limits>
#include <tuple>
#include <vector>

#include "libtune/testing/devices.hpp"
#include "libtune/testing/run_tests.hpp"
#include "libtune/verify/comparison.hpp"
#include "operations/telescope/rfi2d/rfi2d_host.hpp"
#include "tests/operations/short_tuning.hpp"
#include "tests/operations/telescope/rfi2d_cases.hpp"

using tune::host_array;
using tune::operations::rfi2d;
using tune::operations::rfi2d_host_flagger;
using tune::operations::rfi2d_parameters;
using tune::operations::rfi2d_template;
using tune::operations::rfi2d_tuning;

namespace {

template <class T>
host_array<std::uint8_t> flag(const rfi2d_template& made, tune::command_queue queue,
                              const host_array<T>& data, const host_array<std::uint8_t>& flags,
                              const rfi2d_parameters& parameters) {
  rfi2d op = made.instantiate(queue, data.size()[0], data.size()[1], data.size()[2], parameters);
  op.bind("vis", {queue.context(), data.layout()});
  op.bind("input_flags", {queue.context(), flags.layout()});
  op.ensure_all_bound();
  op.buffer("vis").set(queue, data);
  op.buffer("input_flags").set(queue, flags);
  op.run();
  return op.buffer("flags").template get<std::uint8_t>(queue);
}

/// The device's flags are the host's.
template <class T>
void agrees(const rfi2d_template& made, const tune::command_queue& queue, const host_array<T>& data,
            const host_array<std::uint8_t>& flags, const rfi2d_parameters& parameters) {
  const auto expected = rfi2d_host_flagger(parameters).flag(data, flags);
  const auto got = flag(made, queue, data, flags, parameters);
  const auto compared =
      tune::compare(expected.layout(), expected.data(), got.layout(), got.data(), {});
  CHECK_MESSAGE(compared.matches(), compared.describe());
}

}  // namespace

static_assert(std::is_nothrow_move_assignable_v<rfi2d>);

LIBTUNE_DEVICE_TEST_CASE("the device flags as the host does, on the golden input", device) {
  const tune::context context = device.create_context();
  const tune::command_queue queue = context.create_command_queue();
  const rfi2d_template made(context, {.is_complex = false});
  const rfi2d_case given = golden_rfi2d_case();
  for (const rfi2d_parameters& parameters :
       {rfi2d_parameters{}, rfi2d_parameters{.freq_chunks = 1},
        rfi2d_parameters{.freq_chunks = 4, .average_freq = 2},
        rfi2d_parameters{.background_iterations = 3, .freq_chunks = 3},
        rfi2d_parameters{.time_extend = 1, .freq_extend = 1, .freq_chunks = 3}}) {
    agrees(made, queue, given.data, given.flags, parameters);
  }
}

LIBTUNE_DEVICE_TEST_CASE("the device flags as the host does, whatever shape and parameters",
                         device) {
  const tune::context context = device.create_context();
  const tune::command_queue queue = context.create_command_queue();
  const rfi2d_template made(context, {.is_complex = false},
                            rfi2d_tuning{32, 2, 8, 8, 4, 8, 8, 16, 32});
  const std::vector<rfi2d_parameters> parameters{
      {},
      {.background_iterations = 0, .time_extend = 2, .freq_extend = 4, .freq_chunks = 3},
      {.windows_time = {3, 1, 50},
       .windows_freq = {5, 1, 7, 6},
       .background_iterations = 2,
       .freq_chunks = 7},
      {.spike_width_time = 0, .spike_width_freq = 3, .average_freq = 3},
      {.outlier_nsigma = 3, .flag_all_time_frac = 0.2, .flag_all_freq_frac = 0.1},
      {.windows_time = {}, .windows_freq = {}, .spike_width_freq = 60}};
  std::uint32_t seed = 1;
  for (const auto& size : {std::tuple(21, 97, 5), std::tuple(1, 70, 3), std::tuple(33, 1, 2),
                           std::tuple(9, 300, 37), std::tuple(2, 2, 1), std::tuple(140, 6, 3)}) {
    for (const rfi2d_parameters& given : parameters) {
      const auto [times, channels, baselines] = size;
      CAPTURE(std::get<0>(size));
      CAPTURE(std::get<1>(size));
      CAPTURE(seed);
      const rfi2d_case noise = random_rfi2d_case(times, channels, baselines, ++seed);
      agrees(made, queue, noise.data, noise.flags, given);
    }
  }
}

LIBTUNE_DEVICE_TEST_CASE("more channels than there are count as all of them", device) {
  const tune::context context = device.create_context();
  const tune::command_queue queue = context.create_command_queue();
  const rfi2d_template made(context, {.is_complex = false});
  const rfi2d_case noise = random_rfi2d_case(8, 64, 16, 3);
  constexpr std::size_t most = std::numeric_limits<std::size_t>::max();
  rfi2d_parameters all{.windows_freq = {1, 2, most}, .average_freq = 64};
  const auto expected = rfi2d_host_flagger(all).flag(noise.data, noise.flags);
  for (const std::size_t average : {std::size_t{64}, std::size_t{1} << 32, most}) {
    CAPTURE(average);
    all.average_freq = average;
    agrees(made, queue, noise.data, noise.flags, all);
    const auto got = flag(made, queue, noise.data, noise.flags, all);
    CHECK(std::equal(got.data(), got.data() + got.padded_elements(), expected.data()));
  }
}

LIBTUNE_DEVICE_TEST_CASE("the device flags as the host does where a mean overflows", device) {
  const tune::context context = device.create_context();
  const tune::command_queue queue = context.create_command_queue();
  // Those of other tests, which need not be compiled again.
  for (const rfi2d_tuning& tuning : {rfi2d_tuning{}, rfi2d_tuning{32, 2, 8, 8, 4, 8, 8, 16, 32}}) {
    const rfi2d_template made(context, {.is_complex = false}, tuning);
    for (std::uint32_t seed = 1; seed < 25; ++seed) {
      CAPTURE(seed);
      rfi2d_case noise = random_rfi2d_case(9 + seed, 29 + 3 * seed, 5, seed);
      numpy_random random(seed);
      for (std::size_t i = 0; i < noise.data.padded_elements(); ++i) {
        if (random.random_sample() < 0.02 * (seed % 4 + 1)) noise.data.data()[i] = 3e38F;
      }
      agrees(made, queue, noise.data, noise.flags,
             {.background_iterations = seed % 3,
              .freq_chunks = seed % 5 + 1,
              .average_freq = seed % 6 + 1});
    }
  }
}

// Windows of 1, 2, 4 and 8 samples need no local memory; four baselines share a word of flags; and
// lines are cut into pieces. With a low threshold there is much to find.
LIBTUNE_DEVICE_TEST_CASE("the device flags short windows as the host does", device) {
  const tune::context context = device.create_context();
  const tune::command_queue queue = context.create_command_queue();
  const std::vector<rfi2d_parameters> parameters{
      {.freq_chunks = 1},
      {.outlier_nsigma = 1, .windows_time = {1, 4}, .windows_freq = {8, 2}, .freq_chunks = 2},
      {.outlier_nsigma = 1.5, .time_extend = 5, .freq_chunks = 3, .rho = 2},
      {.outlier_nsigma = 2, .windows_time = {8}, .windows_freq = {}, .time_extend = 200},
      {.outlier_nsigma = 0, .windows_time = {}, .windows_freq = {4}, .freq_chunks = 1},
      {.outlier_nsigma = -1, .windows_time = {2}, .windows_freq = {1}, .average_freq = 2}};
  std::uint32_t seed = 100;
  for (const rfi2d_tuning& tuning :
       {rfi2d_tuning{},
        rfi2d_tuning{.select_x = 8, .select_y = 4, .bits = 8, .together = 8, .held = 32}}) {
    const rfi2d_template made(context, {.is_complex = false}, tuning);
    for (const auto& size : {std::tuple(32, 40, 8), std::tuple(3, 1200, 4), std::tuple(700, 3, 4),
                             std::tuple(33, 400, 1), std::tuple(7, 11, 12)}) {
      for (const rfi2d_parameters& given : parameters) {
        const auto [times, channels, baselines] = size;
        CAPTURE(std::get<0>(size));
        CAPTURE(std::get<1>(size));
        CAPTURE(seed);
        const rfi2d_case noise = random_rfi2d_case(times, channels, baselines, ++seed);
        agrees(made, queue, noise.data, noise.flags, given);
      }
    }
  }
}

LIBTUNE_DEVICE_TEST_CASE("complex visibilities with padding are flagged as on the host", device) {
  const tune::context context = device.create_context();
  const tune::command_queue queue = context.create_command_queue();
  const rfi2d_template made(context);
  const rfi2d_case given = random_rfi2d_case(17, 60, 35, 11);
  host_array<std::complex<float>> data(given.data.size(), {18, 63, 40});
  host_array<std::uint8_t> flags(given.flags.size(), {17, 61, 35});
  data.fill({1e30F, 1e30F});
  flags.fill(1);
  numpy_random random(3);
  for (std::size_t t = 0; t < 17; ++t) {
    for (std::size_t f = 0; f < 60; ++f) {
      for (std::size_t b = 0; b < 35; ++b) {
        const auto phase = static_cast<float>(random.uniform(0, 6.28));
        data(t, f, b) = given.data(t, f, b) * std::complex<float>(std::cos(phase), std::sin(phase));
        flags(t, f, b) = given.flags(t, f, b);
      }
    }
  }
  agrees(made, queue, data, flags, {});
}

LIBTUNE_DEVICE_TEST_CASE("with all flagged, or nothing finite, the device agrees too", device) {
  const tune::context context = device.create_context();
  const tune::command_queue queue = context.create_command_queue();
  const rfi2d_template made(context, {.is_complex = false});
  rfi2d_case given = random_rfi2d_case(12, 40, 3, 5);
  given.flags.fill(1);
  agrees(made, queue, given.data, given.flags, {});
  given.data.fill(std::numeric_limits<float>::quiet_NaN());
  agrees(made, queue, given.data, given.flags, {});
  given.flags.fill(0);
  agrees(made, queue, given.data, given.flags, {});
  given.data.fill(3.25F);
  agrees(made, queue, given.data, given.flags, {});
}

LIBTUNE_DEVICE_TEST_CASE("one operation flags one array after another", device) {
  const tune::context context = device.create_context();
  tune::command_queue queue = context.create_command_queue();
  const rfi2d_template made(context, {.is_complex = false});
  rfi2d op = made.instantiate(queue, 20, 50, 4, {.freq_chunks = 2});
  op.ensure_all_bound();
  for (const std::uint32_t seed : {20, 21, 22}) {
    const rfi2d_case given = random_rfi2d_case(20, 50, 4, seed);
    op.buffer("vis").set(queue, given.data);
    op.buffer("input_flags").set(queue, given.flags);
    op.run();
    const auto got = op.buffer("flags").get<std::uint8_t>(queue);
    const auto expected = rfi2d_host_flagger({.freq_chunks = 2}).flag(given.data, given.flags);
    const auto compared =
        tune::compare(expected.layout(), expected.data(), got.layout(), got.data(), {});
    CHECK_MESSAGE(compared.matches(), compared.describe());
  }
}

LIBTUNE_DEVICE_TEST_CASE("empty visibilities are flagged by doing nothing", device) {
  const tune::context context = device.create_context();
  tune::command_queue queue = context.create_command_queue();
  const rfi2d_template made(context, {.is_complex = false});
  for (const auto& [times, channels, baselines] :
       {std::tuple(0, 4, 4), std::tuple(4, 0, 4), std::tuple(4, 4, 0)}) {
    rfi2d op = made.instantiate(queue, times, channels, baselines);
    CHECK_NOTHROW(op.run());
    CHECK_NOTHROW(queue.finish());
  }
}

LIBTUNE_DEVICE_TEST_CASE("windows too long for local memory are an error that says so", device) {
  const tune::context context = device.create_context();
  const tune::command_queue queue = context.create_command_queue();
  const rfi2d_template made(context, {.is_complex = false});
  CHECK_THROWS_WITH_AS(made.instantiate(queue, 4, 10'000'000, 1, {.windows_freq = {1, 4'000'000}}),
                       doctest::Contains("windows"), tune::argument_error);
}

LIBTUNE_DEVICE_TEST_CASE("rfi2d can be tuned" * tune::testing::force_autotune(), device) {
  const tune::context context = device.create_context();
  tune::testing::tune_shortly(context);
  const rfi2d_template made(context, {.is_complex = true});
  CHECK(tune::operations::tuning_space(tune::operations::rfi2d_key{}).find(made.tuning()));
}

TEST_CASE("the space of rfi2d has the test default") {
  CHECK(tune::operations::tuning_space(tune::operations::rfi2d_key{})
            .find(rfi2d_tuning{})
            .has_value());
}

TEST_CASE("rfi2d compiles for CUDA in every number of bits") {
  tune::testing::for_each_compile_target("cuda sm_90", [](const tune::context& context) {
    for (const std::size_t bits : {6, 7, 8}) {
      CHECK_NOTHROW(rfi2d_template(context, {.is_complex = bits != 7},
                                   rfi2d_tuning{.wgsx = 64,
                                                .wgsy = 8,
                                                .select_x = 32,
                                                .select_y = 32,
                                                .bits = bits,
                                                .together = bits == 7 ? 8U : 16U,
                                                .held = bits == 6 ? 0U : 32U}));
    }
  });
}
