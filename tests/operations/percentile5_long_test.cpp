// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include <complex>
#include <doctest/doctest.h>
#include <limits>
#include <type_traits>

#include "libtune/testing/devices.hpp"
#include "libtune/testing/run_tests.hpp"
#include "operations/percentile5/percentile5.hpp"
#include "tests/operations/percentile5_cases.hpp"
#include "tests/operations/short_tuning.hpp"

namespace percentile5_long_test {

using namespace percentile5_cases;  // NOLINT: helpers of this test

LIBTUNE_DEVICE_TEST_CASE("percentiles of whole and partial rows are exact", device) {
  const tune::context context = device.create_context();
  const percentile5_template real(context, 5000);
  const percentile5_template absolute(context, 5000, false);
  const extra more{1, 3, 2, 5};
  ranks(absolute, context, uniform<complex>(64, 1), {0, 1}, more);
  ranks(real, context, uniform<float>(31, 4029), {0, 4009}, more);
  ranks(absolute, context, uniform<complex>(30, 4030), {100, 4030}, more);
  ranks(absolute, context, uniform<complex>(19, 6031), {123, 4001}, more);
  ranks(real, context, uniform<float>(28, 4032), {0, 4032}, more);
}

LIBTUNE_DEVICE_TEST_CASE("thousands of long rows are ranked", device) {
  if (device.kind() != tune::device_kind::gpu) {
    tune::testing::skip("slow where there is no GPU");
    return;
  }
  const tune::context context = device.create_context();
  ranks(percentile5_template(context, 5000), context, uniform<float>(4095, 4029), {0, 4009});
  ranks(percentile5_template(context, 5000, false), context, uniform<complex>(2343, 6031),
        {123, 4001});
  const percentile5_template sampled(context, 4096, true,
                                     percentile5_tuning{128, 1, 4, 256, 0, true, true});
  ranks(sampled, context, uniform<float>(4097, 4096), {0, 4096});
  ranks(sampled, context, treacherous_rows(1100, 4096), {0, 4096});
}

LIBTUNE_DEVICE_TEST_CASE("every way of ranking takes any numbers, and leaves NaN out", device) {
  const tune::context context = device.create_context();
  for (const percentile5_tuning& tuning :
       {percentile5_tuning{64, 4, 1, 256, 0, true}, percentile5_tuning{32, 2, 4, 512, 0, false},
        percentile5_tuning{128, 1, 1, 256, 2, true},
        percentile5_tuning{256, 1, 4, 512, 0, true, true}}) {
    CAPTURE(tuning.size);
    CAPTURE(tuning.sampled);
    const percentile5_template made(context, 200, true, tuning);
    for (const std::size_t columns : {1, 2, 5, 64, 200, 900}) {
      ranks(made, context, hard_rows(19, columns), {0, columns});
    }
    ranks(made, context, hard_rows(9, 204), {4, 204});
    ranks(made, context, hard_rows(9, 204), {3, 202}, {0, 1, 0, 0});
  }
}

LIBTUNE_DEVICE_TEST_CASE("a sample that misleads costs time, and no exactness", device) {
  const tune::context context = device.create_context();
  const percentile5_template real(context, 2000, true,
                                  percentile5_tuning{128, 1, 4, 256, 0, true, true});
  ranks(real, context, treacherous_rows(22, 2000), {0, 2000});
  ranks(real, context, treacherous_rows(11, 1502), {3, 1500}, {0, 1, 0, 0});
  ranks(real, context, hard_rows(9, 2000), {0, 1999});
  const percentile5_template absolute(context, 1000, false,
                                      percentile5_tuning{32, 4, 2, 256, 0, true, true});
  ranks(absolute, context, uniform<complex>(5, 1000), {0, 1000});
  ranks(absolute, context, uniform<complex>(5, 1001), {1, 998});
}

LIBTUNE_DEVICE_TEST_CASE("percentile5 can be tuned" * tune::testing::force_autotune(), device) {
  const tune::context context = device.create_context();
  tune::testing::tune_shortly(context);
  const percentile5_template made(context, 100);
  CHECK(tune::operations::tuning_space(tune::operations::percentile5_key{.max_columns = 100})
            .find(made.tuning()));
}

TEST_CASE("percentiles compile for CUDA") {
  tune::testing::for_each_compile_target("cuda sm_90", [](const tune::context& context) {
    for (const bool is_amplitude : {false, true}) {
      CHECK_NOTHROW(percentile5_template(context, 4096, is_amplitude));
      for (const std::size_t bits : {0, 1, 2}) {
        CHECK_NOTHROW(percentile5_template(context, 4096, is_amplitude,
                                           percentile5_tuning{256, 1, 2, 256, bits, true}));
      }
      for (const std::size_t size : {32, 128, 256}) {
        CHECK_NOTHROW(percentile5_template(context, 32 * size, is_amplitude,
                                           percentile5_tuning{size, 2, 2, 512, 0, true, true}));
      }
      CHECK_NOTHROW(percentile5_template(context, 1 << 20, is_amplitude,
                                         percentile5_tuning{512, 2, 2, 1024, 0, false}));
    }
  });
}

}  // namespace percentile5_long_test
