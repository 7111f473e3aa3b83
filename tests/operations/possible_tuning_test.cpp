// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Tunings that are given to templates, or that a database holds.
#include "operations/possible_tuning.hpp"

#include <cstdint>
#include <doctest/doctest.h>

#include "libtune/testing/devices.hpp"
#include "libtune/testing/fake_device.hpp"
#include "operations/fft/fft.hpp"
#include "operations/fill/fill.hpp"
#include "operations/hreduce/hreduce.hpp"
#include "operations/maskedsum/maskedsum.hpp"
#include "operations/percentile5/percentile5.hpp"
#include "operations/telescope/beamform/beamform.hpp"
#include "operations/telescope/correlate/correlate_reduce.hpp"
#include "operations/telescope/pfb/pfb.hpp"
#include "operations/telescope/quantise/quantise.hpp"
#include "operations/telescope/rfi/background.hpp"
#include "operations/telescope/rfi/noise_estimate.hpp"
#include "operations/telescope/rfi/threshold_simple.hpp"
#include "operations/telescope/rfi/threshold_sum.hpp"
#include "operations/telescope/rfi2d/rfi2d.hpp"
#include "operations/telescope/unpack/unpack.hpp"
#include "operations/transpose/transpose.hpp"

namespace possible_tuning_test {

using namespace tune::operations;  // NOLINT: all of them
using rfi::data_order;
using tune::dtype;

constexpr std::size_t huge = (std::size_t{1} << 32) + 64;  // 64 once it is cut to 32 bits

/// The template cannot be made, and the message says by which tuning.
#define REFUSES(...)                                                             \
  CHECK_THROWS_WITH_AS(__VA_ARGS__, doctest::Contains("cannot have the tuning"), \
                       tune::argument_error)

TEST_CASE("impossible tunings are refused before anything is compiled") {
  const tune::testing::fake_device fake;
  const tune::context context = fake.device().create_context();
  for (const std::size_t wgs : {std::size_t{0}, huge}) {
    REFUSES(fill_template(context, dtype::float32, fill_tuning{.wgs = wgs}));
    REFUSES(correlate_reduce_template(context, 1, correlate_reduce_tuning{.wgs = wgs}));
    REFUSES(hreduce_template(context, sum_of(dtype::float32), 100, hreduce_tuning{.wgsx = wgs}));
    REFUSES(maskedsum_template(context, true, 100, maskedsum_tuning{.wgsy = wgs}));
    REFUSES(percentile5_template(context, 100, true, percentile5_tuning{.size = wgs}));
    REFUSES(quantise_template(context, {}, quantise_tuning{.width = wgs}));
    REFUSES(transpose_template(context, dtype::float32, transpose_tuning{.block_x = wgs}));
    REFUSES(rfi2d_template(context, {}, rfi2d_tuning{.line_x = wgs}));
    REFUSES(unpack_template(context, {}, unpack_tuning{.wgs = wgs}));
    REFUSES(pfb_template(context, {}, pfb_tuning{.wgs = wgs}));
    CHECK_THROWS_AS(beamform_template(context, {}, beamform_tuning{.wgs = wgs}),
                    tune::argument_error);
    using namespace rfi;  // NOLINT: four of them
    REFUSES(background_median_filter_template(context, {}, background_tuning{.wgs = wgs}));
    REFUSES(noise_estimate_template(context, data_order::channel_major, 100,
                                    noise_estimate_tuning{.wgsx = wgs}));
    REFUSES(threshold_simple_template(context, {}, threshold_simple_tuning{.wgsy = wgs}));
    REFUSES(threshold_sum_template(context, {}, threshold_sum_tuning{.wgsy = wgs}));
  }
}

TEST_CASE("tunings that would leave a part of the work are refused") {
  const tune::testing::fake_device fake;
  const tune::context context = fake.device().create_context();
  for (const std::size_t spectra : {0, 24, 64}) {
    REFUSES(quantise_template(context, {}, quantise_tuning{.spectra = spectra}));
  }
  REFUSES(quantise_template(context, {}, quantise_tuning{.width = 24}));
  REFUSES(quantise_template(context, {.bits = 4}, quantise_tuning{.height = 4, .spectra = 4}));
  REFUSES(transpose_template(context, dtype::float32, transpose_tuning{.tile = 0}));
  REFUSES(transpose_template(context, dtype::float32, transpose_tuning{.tile = 24}));
  REFUSES(transpose_template(context, dtype::complex128, transpose_tuning{.vector = 2}));
  REFUSES(correlate_reduce_template(context, 1, correlate_reduce_tuning{.items = 0}));
  REFUSES(fill_template(context, tune::element_type::opaque(3), fill_tuning{.vector = 2}));
  REFUSES(hreduce_template(context, sum_of(dtype::complex64), 100, hreduce_tuning{.vector = 2}));
  REFUSES(maskedsum_template(context, true, 100, maskedsum_tuning{.vector = 3}));
  REFUSES(percentile5_template(context, 100, false, percentile5_tuning{.vector = 4}));
  REFUSES(percentile5_template(context, 100, true, percentile5_tuning{.bins = 300}));
  REFUSES(rfi2d_template(context, {}, rfi2d_tuning{.together = 6}));
  REFUSES(rfi2d_template(context, {}, rfi2d_tuning{.held = 12}));
  using namespace rfi;  // NOLINT: four of them
  REFUSES(background_median_filter_template(context, {}, background_tuning{.windows = 3}));
  REFUSES(background_median_filter_template(context, {}, background_tuning{.items = 0}));
  REFUSES(noise_estimate_template(context, data_order::baseline_major, 100,
                                  noise_estimate_tuning{.wgsy = 2}));
  REFUSES(threshold_simple_template(context, {}, threshold_simple_tuning{.vector = 2}));
  REFUSES(threshold_sum_template(context, {8}, threshold_sum_tuning{4, 4, 16}));
}

LIBTUNE_DEVICE_TEST_CASE("an FFT refuses numbers that no library takes", device) {
  if (!fft_absence(device).empty()) return;
  const tune::context context = device.create_context();
  REFUSES(fft_template(context, {.size = {8}}, fft_tuning{.threads = 3}));
  REFUSES(fft_template(context, {.size = {8}}, fft_tuning{.register_boost = huge}));
}

LIBTUNE_DEVICE_TEST_CASE("a sum threshold of the most windows has a test default", device) {
  const tune::context context = device.create_context();
  const rfi::threshold_sum_template made(context, {rfi::max_windows, data_order::baseline_major});
  CHECK_NOTHROW(
      made.instantiate(context.create_command_queue(), 100, 5, {.n_windows = rfi::max_windows}));
}

}  // namespace possible_tuning_test
