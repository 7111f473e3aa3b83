// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include <doctest/doctest.h>
#include <vector>

#include "libtune/tune/lookup_plan.hpp"
#include "libtune/tune/settings.hpp"

namespace lookup_plan_test {

using tune::lookup_candidates;
using tune::lookup_plan;
using tune::lookup_step;
using tune::match_mode;
using tune::tuning_mode;

struct expectation {
  tuning_mode mode;
  match_mode match;
  lookup_step exact;    ///< with a result of this device and others
  lookup_step nearest;  ///< with results of others alone
  lookup_step nothing;
};

TEST_CASE("mode, match and candidates decide what happens for a key") {
  using mode = tuning_mode;
  using match = match_mode;
  using step = lookup_step;
  const std::vector<expectation> table{
      {mode::tune, match::exact, step::use, step::tune, step::tune},
      {mode::tune, match::nearest, step::use, step::check_first, step::tune},
      {mode::tune, match::verify, step::use, step::verify, step::tune},
      {mode::resume, match::exact, step::use, step::tune, step::tune},
      {mode::resume, match::nearest, step::use, step::check_first, step::tune},
      {mode::resume, match::verify, step::use, step::verify, step::tune},
      {mode::cached, match::exact, step::use, step::fail, step::fail},
      {mode::cached, match::nearest, step::use, step::check_first, step::fail},
      {mode::cached, match::verify, step::use, step::check_first, step::fail},
      {mode::defaults, match::exact, step::use, step::test_default, step::test_default},
      {mode::defaults, match::verify, step::use, step::check_first, step::test_default},
      {mode::behind, match::exact, step::use, step::check_first, step::test_default},
      {mode::behind, match::nearest, step::use, step::check_first, step::test_default},
      {mode::behind, match::verify, step::use, step::check_first, step::test_default},
      {mode::force, match::exact, step::tune, step::tune, step::tune},
      {mode::force, match::verify, step::tune, step::tune, step::tune}};
  for (const expectation& row : table) {
    CAPTURE(static_cast<int>(row.mode));
    CAPTURE(static_cast<int>(row.match));
    const lookup_plan plan(row.mode, row.match);
    CHECK(plan.step({.exact = true, .nearest = true}) == row.exact);
    CHECK(plan.step({.nearest = true}) == row.nearest);
    CHECK(plan.step({}) == row.nothing);
    CHECK(plan.replaces() == (row.mode == mode::force || row.mode == mode::resume));
  }
}

TEST_CASE("a search that its budget ended goes on in the mode resume alone") {
  const lookup_candidates found{.exact = true, .stopped = true};
  CHECK(lookup_plan(tuning_mode::resume, match_mode::exact).step(found) == lookup_step::tune);
  CHECK(lookup_plan(tuning_mode::tune, match_mode::exact).step(found) == lookup_step::use);
  CHECK(lookup_plan(tuning_mode::cached, match_mode::exact).step(found) == lookup_step::use);
}

}  // namespace lookup_plan_test
