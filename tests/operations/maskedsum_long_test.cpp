// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <complex>
#include <doctest/doctest.h>
#include <limits>
#include <type_traits>

#include "libtune/testing/devices.hpp"
#include "libtune/testing/run_tests.hpp"
#include "operations/maskedsum/maskedsum.hpp"
#include "tests/operations/maskedsum_cases.hpp"
#include "tests/operations/short_tuning.hpp"

namespace maskedsum_long_test {

using namespace maskedsum_cases;  // NOLINT: helpers of this test

LIBTUNE_DEVICE_TEST_CASE("4096 rows of every width are added to one part in a million", device) {
  const tune::context context = device.create_context();
  for (const std::size_t columns : {2, 4029, 4030, 4031, 4032}) {
    const inputs given(4096, columns, 1);
    check_both(context, {}, given, {1, 4, 2, 3});
  }
}

LIBTUNE_DEVICE_TEST_CASE("every tuning adds all rows, of odd shapes, in words or not", device) {
  const tune::context context = device.create_context();
  std::mt19937 engine(5);
  for (const maskedsum_tuning& tuning :
       {maskedsum_tuning{32, 2, 2, 4, 1}, maskedsum_tuning{64, 1, 2, 1, 4},
        maskedsum_tuning{32, 16, 1, 8, 4}}) {
    for (const std::size_t rows : {1, 3, 130, 700}) {
      const std::size_t columns = 1 + engine() % 300;
      check_both(context, tuning, inputs(rows, columns, 2), {0, engine() % 3, 1, 1});
    }
  }
}

LIBTUNE_DEVICE_TEST_CASE("maskedsum can be tuned" * tune::testing::force_autotune(), device) {
  const tune::context context = device.create_context();
  tune::testing::tune_shortly(context);
  for (const bool use_amplitudes : {false, true}) {
    const maskedsum_template made(context, use_amplitudes, 1000);
    CHECK(tune::operations::tuning_space(tune::operations::maskedsum_key{}).find(made.tuning()));
  }
}

TEST_CASE("masked sums compile for CUDA") {
  tune::testing::for_each_compile_target("cuda sm_90", [](const tune::context& context) {
    for (const bool use_amplitudes : {false, true}) {
      for (const std::size_t vector : {1, 2}) {
        for (const std::size_t items : {1, 2, 4, 8}) {
          CHECK_NOTHROW(maskedsum_template(context, use_amplitudes, 8192,
                                           maskedsum_tuning{128, 4, vector, items, 1}));
        }
      }
    }
    CHECK_NOTHROW(maskedsum_template(context, true, 8192, maskedsum_tuning{64, 1, 2, 2, 1}));
  });
}

}  // namespace maskedsum_long_test
