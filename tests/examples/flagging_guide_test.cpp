// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The code of docs/flagging.md and operations/telescope/rfi/README.md.
#include <algorithm>
#include <complex>
#include <cstdint>
#include <doctest/doctest.h>

#include "libtune/testing/devices.hpp"
#include "operations/maskedsum/maskedsum.hpp"
#include "operations/percentile5/percentile5.hpp"
#include "operations/telescope/rfi/flagger.hpp"
#include "operations/telescope/rfi2d/rfi2d_host.hpp"

namespace flagging_guide_test {

constexpr std::size_t channels = 64;
constexpr std::size_t baselines = 20;

/// Amplitudes from 1 to 1.3, and one of 100 in channel 40 of baseline 3.
tune::host_array<std::complex<float>> visibilities() {
  tune::host_array<std::complex<float>> vis({channels, baselines});
  for (std::size_t c = 0; c < channels; ++c) {
    for (std::size_t b = 0; b < baselines; ++b) {
      vis(c, b) = 1 + 0.1F * static_cast<float>((7 * c + 3 * b) % 4);
    }
  }
  vis(40, 3) = 100;
  return vis;
}

LIBTUNE_DEVICE_TEST_CASE("the page on flagging flags the sample that is too strong", device) {
  const tune::context context = device.create_context();
  tune::command_queue queue = context.create_command_queue();
  const auto vis = visibilities();
  // clang-format off
  // [flag]
  using namespace tune::operations::rfi;
  const flagger_template made = make_flagger(context, {.width = 13, .channels = 10240});
  tune::operation_sequence flagger = made.instantiate(queue, channels, baselines);
  flagger.ensure_all_bound();
  flagger.buffer("vis").set(queue, vis);  // channels x baselines of std::complex<float>
  flagger.run();
  const auto flags = flagger.buffer("flags").get<std::uint8_t>(queue);
  // [flag]
  // clang-format on
  for (std::size_t c = 0; c < channels; ++c) {
    for (std::size_t b = 0; b < baselines; ++b) CHECK((flags(c, b) != 0) == (c == 40 && b == 3));
  }
}

LIBTUNE_DEVICE_TEST_CASE("the page on flagging adds and ranks visibilities", device) {
  const tune::context context = device.create_context();
  tune::command_queue queue = context.create_command_queue();
  const auto vis = visibilities();
  tune::host_array<float> weights({channels});
  weights.fill(0.5F);
  // clang-format off
  // [sum]
  const tune::operations::maskedsum_template sums(context);
  tune::operations::maskedsum sum = sums.instantiate(queue, channels, baselines);
  sum.ensure_all_bound();
  sum.buffer("src").set(queue, vis);
  sum.buffer("mask").set(queue, weights);  // one for each channel
  sum.run();
  const auto total = sum.buffer("dest").get<std::complex<float>>(queue);  // one for each baseline
  // [sum]
  // [percentiles]
  const tune::operations::percentile5_template ranks(context, 4096, /*is_amplitude=*/false);
  tune::operations::percentile5 rank = ranks.instantiate(queue, channels, baselines);
  rank.bind("src", sum.buffer("src"));
  rank.ensure_all_bound();
  rank.run();
  const auto found = rank.buffer("dest").get<float>(queue);  // of each channel, over its baselines
  // [percentiles]
  // clang-format on
  CHECK(total(3).real() > total(4).real() + 49);
  CHECK(found(1, 40) == 100);   // the largest
  CHECK(found(4, 40) < 1.31F);  // the median
}

TEST_CASE("the page on flagging flags a time and channel on the host") {
  constexpr std::size_t times = 20;
  tune::host_array<std::complex<float>> vis({times, channels, baselines});
  std::fill_n(vis.data(), vis.padded_elements(), std::complex<float>(1, 0));
  for (std::size_t i = 0; i < vis.padded_elements(); ++i) vis.data()[i] += 1e-3F * float(i % 7);
  vis(10, 40, 3) = 100;
  // clang-format off
  // [flag2d]
  const tune::operations::rfi2d_host_flagger flagger({.time_extend = 1, .freq_extend = 1});
  tune::host_array<std::uint8_t> known({times, channels, baselines});  // 1: known to be bad
  const auto flags = flagger.flag(vis, known);
  // [flag2d]
  // clang-format on
  CHECK(flags(10, 40, 3) == 1);
  CHECK(flags(2, 5, 7) == 0);
}

}  // namespace flagging_guide_test
