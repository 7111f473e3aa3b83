// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "operations/telescope/ddc/ddc.hpp"

#include <doctest/doctest.h>
#include <type_traits>

#include "libtune/testing/devices.hpp"
#include "libtune/testing/run_tests.hpp"
#include "tests/operations/telescope/ddc_cases.hpp"

namespace ddc_test {

using namespace ddc_cases;  // NOLINT: helpers of this test

static_assert(std::is_nothrow_move_assignable_v<ddc>);

LIBTUNE_DEVICE_TEST_CASE("a down-conversion is that of the host", device) {
  const tune::context context = device.create_context();
  const ddc_template made(context, {.taps = 40, .subsampling = 5, .bits = 10}, ddc_tuning{});
  converts(context, made, 1);
  converts(context, made, 700, 4);
}

LIBTUNE_DEVICE_TEST_CASE("what no down-converter can do is an error", device) {
  const tune::context context = device.create_context();
  CHECK_THROWS_WITH_AS(ddc_template(context, {.bits = 1}), doctest::Contains("1 bits"),
                       tune::argument_error);
  CHECK_THROWS_WITH_AS(ddc_template(context, {.taps = 0}), doctest::Contains("0 taps"),
                       tune::argument_error);
  CHECK_THROWS_WITH_AS(ddc_template(context, {.bits = 16}, ddc_tuning{.tensor = true, .wgs = 128}),
                       doctest::Contains("tensor"), tune::argument_error);
  CHECK_THROWS_WITH_AS(ddc_template(context, {}, ddc_tuning{.outputs = 6}),
                       doctest::Contains("outputs"), tune::argument_error);
  const ddc_template made(context, {.taps = 40, .subsampling = 5, .bits = 10}, ddc_tuning{});
  tune::command_queue queue = context.create_command_queue();
  CHECK_THROWS_WITH_AS(made.instantiate(queue, 2, 39), doctest::Contains("39 samples"),
                       tune::argument_error);
}

TEST_CASE("the space of ddc has the test default") {
  for (const std::size_t subsampling : {1, 2, 7, 16, 64, 128}) {
    for (const std::size_t ratio : {8, 32}) {
      for (const std::size_t bits : {2, 10, 16}) {
        const ddc_key key{ratio * subsampling, subsampling, bits};
        for (const bool has_tensor_units : {false, true}) {
          const auto space = tune::operations::tuning_space(key, has_tensor_units);
          CHECK(space.find(ddc_tuning{}).has_value());
          CHECK(space.size() <= 16);
          CHECK(space.size() >= 5);
        }
      }
    }
  }
}

}  // namespace ddc_test
