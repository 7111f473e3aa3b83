// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/simulate/recorded_space.hpp"

#include <doctest/doctest.h>
#include <limits>
#include <string>

#include "libtune/base/error.hpp"

namespace recorded_space_test {

using tune::recorded_configuration;
using tune::recorded_space;
using tune::value;

const std::vector<tune::parameter> parameters{
    {"a", {std::int64_t{1}, std::int64_t{2}, std::int64_t{3}}}, {"b", {false, true}}};

recorded_configuration scored(std::int64_t a, bool b, double score_ms) {
  return {{a, b}, {.score_ms = score_ms}};
}

TEST_CASE("the space has what was recorded and nothing else, in its own order") {
  const recorded_space space("s", parameters,
                             {scored(3, true, 31), scored(1, false, 10), scored(3, false, 30)});
  REQUIRE(space.space().size() == 3);
  CHECK(space.space().cartesian_size() == 6);
  for (std::size_t i = 0; i < space.size(); ++i) {
    const auto values = space.space().values(i);
    const double expected = 10.0 * static_cast<double>(std::get<std::int64_t>(values[0].value)) +
                            (std::get<bool>(values[1].value) ? 1.0 : 0.0);
    CHECK(space[i].score_ms == expected);
  }
}

TEST_CASE("a thousand of ten million combinations are found without visiting all") {
  std::vector<tune::parameter> digits;
  for (int i = 0; i < 7; ++i) {
    digits.push_back({std::string(1, static_cast<char>('a' + i)), {}});
    for (std::int64_t d = 0; d < 10; ++d) digits.back().candidates.emplace_back(d);
  }
  std::vector<recorded_configuration> recorded;
  for (std::int64_t n = 0; n < 1000; ++n) {
    recorded_configuration one{std::vector<value>(7), {.score_ms = static_cast<double>(n)}};
    std::int64_t rest = n * 9973;
    for (std::size_t i = 7; i-- > 0; rest /= 10) one.values[i] = rest % 10;
    recorded.push_back(one);
  }
  const recorded_space space("s", digits, recorded);
  REQUIRE(space.space().size() == 1000);
  CHECK(space[999].score_ms == 999);
}

TEST_CASE("recordings that cannot be of one space are refused") {
  using tune::argument_error;
  const double nan = std::numeric_limits<double>::quiet_NaN();
  CHECK_THROWS_AS(recorded_space("s", parameters, {}), argument_error);
  CHECK_THROWS_WITH_AS(recorded_space("s", parameters, {scored(4, true, 1)}),
                       "a recorded configuration has a=4, which is no candidate", argument_error);
  CHECK_THROWS_WITH_AS(recorded_space("s", parameters, {scored(1, true, 1), scored(1, true, 2)}),
                       "the configuration (a=1, b=true) is recorded twice", argument_error);
  CHECK_THROWS_AS(recorded_space("s", parameters, {{{std::int64_t{1}}, {}}}), argument_error);
  CHECK_THROWS_AS(recorded_space("s", parameters, {scored(1, true, -1)}), argument_error);
  CHECK_THROWS_AS(recorded_space("s", parameters, {scored(1, true, nan)}), argument_error);
  CHECK_THROWS_AS(recorded_space("s", parameters, {{{std::int64_t{1}, true}, {.compile_ms = nan}}}),
                  argument_error);
}

}  // namespace recorded_space_test
