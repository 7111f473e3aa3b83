// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "operations/percentile5/percentile5.hpp"

#include <complex>
#include <doctest/doctest.h>
#include <limits>
#include <type_traits>

#include "libtune/testing/devices.hpp"
#include "libtune/testing/run_tests.hpp"
#include "tests/operations/percentile5_cases.hpp"

namespace percentile5_test {

using namespace percentile5_cases;  // NOLINT: helpers of this test

static_assert(std::is_nothrow_move_assignable_v<percentile5>);

LIBTUNE_DEVICE_TEST_CASE("absolute values are ranked up to the largest number", device) {
  const tune::context context = device.create_context();
  constexpr float largest = std::numeric_limits<float>::max();
  host_array<complex> src({1, 6});
  const complex numbers[] = {{3e19F, 4e19F}, {-largest, 0},   {NAN, 1},
                             {0, 1e-44F},    {NAN, INFINITY}, {1e30F, -1e30F}};
  for (std::size_t i = 0; i < 6; ++i) src(0, i) = numbers[i];
  ranks(percentile5_template(context, 100, false), context, src, {0, 6});
}

LIBTUNE_DEVICE_TEST_CASE("no rows have no percentiles, and a wrong range is an error", device) {
  const tune::context context = device.create_context();
  const percentile5_template made(context, 100);
  tune::command_queue queue = context.create_command_queue();
  percentile5 op = made.instantiate(queue, 0, 8);
  CHECK_NOTHROW(op.run());
  for (const column_range& wrong : {column_range{3, 3}, column_range{4, 3}, column_range{0, 9}}) {
    CHECK_THROWS_WITH_AS(made.instantiate(queue, 2, 8, wrong), doctest::Contains("columns"),
                         tune::argument_error);
  }
  const std::size_t many = std::size_t{1} << 32;
  CHECK_THROWS_WITH_AS(made.instantiate(queue, 1, many), doctest::Contains("2^32"),
                       tune::argument_error);
  CHECK_THROWS_AS(percentile5_template(context, 0), tune::argument_error);
}

LIBTUNE_DEVICE_TEST_CASE("rows with anything that is hard to rank are ranked", device) {
  const tune::context context = device.create_context();
  const percentile5_template made(context, 100);
  ranks(made, context, hard_rows(19, 100), {0, 100});
  ranks(made, context, hard_rows(9, 104), {3, 102}, {1, 1, 1, 2});
}

// Both ways to read stand inside of a loop with barriers, where PoCL 5.0 takes no branch.
LIBTUNE_DEVICE_TEST_CASE("rows that are read again are read as words, or one by one", device) {
  const tune::context context = device.create_context();
  const percentile5_template made(context, 100, true, percentile5_tuning{32, 2, 4, 256, 0, false});
  ranks(made, context, hard_rows(19, 500), {0, 500});
  ranks(made, context, hard_rows(9, 504), {3, 502}, {1, 1, 1, 2});
}

LIBTUNE_DEVICE_TEST_CASE("a sampled histogram ranks whatever rows there are", device) {
  const tune::context context = device.create_context();
  const percentile5_template made(context, 500, true,
                                  percentile5_tuning{64, 2, 1, 256, 0, true, true});
  ranks(made, context, hard_rows(19, 500), {0, 500});
  ranks(made, context, treacherous_rows(11, 504), {3, 502}, {1, 1, 1, 2});
  ranks(made, context, uniform<float>(5, 500), {0, 500});
  ranks(made, context, hard_rows(9, 3), {0, 3});
}

TEST_CASE("the space of percentile5 has the test default, and registers for what is kept") {
  for (const std::size_t columns : {1, 128, 5000, 65536, 1 << 20}) {
    for (const bool is_amplitude : {true, false}) {
      const auto space =
          tune::operations::tuning_space(tune::operations::percentile5_key{columns, is_amplitude});
      CHECK(space.find(percentile5_tuning{}).has_value());
      CHECK(space.size() > 20);
    }
  }
}

}  // namespace percentile5_test
