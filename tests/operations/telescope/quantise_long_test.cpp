// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include <doctest/doctest.h>
#include <set>
#include <tuple>

#include "libtune/testing/devices.hpp"
#include "libtune/testing/run_tests.hpp"
#include "operations/telescope/quantise/quantise.hpp"
#include "tests/operations/short_tuning.hpp"
#include "tests/operations/telescope/quantise_cases.hpp"

namespace quantise_long_test {

using namespace quantise_cases;  // NOLINT: helpers of this test

LIBTUNE_DEVICE_TEST_CASE("every kind of spectra is quantised as by the host", device) {
  const tune::context context = device.create_context();
  for (const bool real : {true, false}) {
    for (const std::size_t unzip : {1, 2, 4}) {
      for (const std::size_t bits : {8, 4}) {
        for (const bool has_dither : {true, false}) {
          const quantise_key key{real, unzip, bits, has_dither};
          CAPTURE(real);
          CAPTURE(unzip);
          CAPTURE(bits);
          CAPTURE(has_dither);
          const quantise_template made(context, key);
          check(made, key, context, {.channels = 2 * unzip, .spectra = 32, .spectra_per_heap = 32});
          check(made, key, context, {.channels = 128, .spectra = 64, .spectra_per_heap = 64},
                ~std::uint64_t{0} - 31);
          check(made, key, context,
                {.channels = 88,
                 .first_channel = 3,
                 .end_channel = 81,
                 .spectra = 96,
                 .spectra_per_heap = 32},
                5, 6);
        }
      }
    }
  }
}

LIBTUNE_DEVICE_TEST_CASE("every configuration of quantise gives the host's values", device) {
  const tune::context context = device.create_context();
  const tune::device_limits& limits = device.limits();
  for (const quantise_key& key :
       {quantise_key{}, quantise_key{.real = false, .unzip = 1, .bits = 4}}) {
    const auto space = tuning_space(key);
    // Where registers are bounded, the program is the same.
    std::set<std::tuple<std::size_t, std::size_t, std::size_t, bool, std::size_t>> tried;
    for (const quantise_tuning& tuning : space) {
      const auto& [width, height, spectra, together, ahead, resident] = tuning;
      if (!tried.emplace(width, height, spectra, together, ahead).second) continue;
      if (space.resources_of(tuning)->local_memory_bytes > limits.local_memory_bytes) continue;
      CAPTURE(tune::to_string(tune::to_values(tuning)));
      const quantise_template made(context, key, tuning);
      for (const std::size_t channels : {152, 512}) {
        check(made, key, context,
              {.channels = channels,
               .first_channel = 1,
               .end_channel = channels - 2,
               .spectra = 64,
               .spectra_per_heap = 32},
              99);
      }
    }
  }
}

LIBTUNE_DEVICE_TEST_CASE("quantise can be tuned" * tune::testing::force_autotune(), device) {
  const tune::context context = device.create_context();
  tune::testing::tune_shortly(context);
  for (const std::size_t bits : {8, 4}) {
    const quantise_key key{.bits = bits};
    CHECK(tuning_space(key).find(quantise_template(context, key).tuning()));
  }
}

TEST_CASE("quantise compiles for CUDA") {
  tune::testing::for_each_compile_target("cuda sm_90", [](const tune::context& context) {
    for (const bool real : {true, false}) {
      for (const std::size_t unzip : {1, 2, 4}) {
        for (const std::size_t bits : {8, 4}) {
          CHECK_NOTHROW(quantise_template(context, {real, unzip, bits, true}));
          CHECK_NOTHROW(quantise_template(context, {real, unzip, bits, false},
                                          quantise_tuning{16, 8, 16, false, 3, 640}));
        }
      }
    }
  });
}

}  // namespace quantise_long_test
