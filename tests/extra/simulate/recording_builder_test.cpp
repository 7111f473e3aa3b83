// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/simulate/recording_builder.hpp"

#include <doctest/doctest.h>
#include <string>

namespace recording_builder_test {

using tune::value;
using tune::detail::recording_builder;

tune::recorded_configuration scored(std::vector<value> values, double score_ms) {
  return {std::move(values), {.score_ms = score_ms}};
}

TEST_CASE("numbers that occur become candidates in their order, words in that of the file") {
  recording_builder builder({{"n", {}}, {"word", {}}});
  builder.add(scored({std::int64_t{10}, std::string("b")}, 1));
  builder.add(scored({std::int64_t{9}, std::string("a")}, 2));
  const auto space = std::move(builder).build("s");
  const auto& parameters = space.space().parameters();
  CHECK(parameters[0].candidates == std::vector<value>{std::int64_t{9}, std::int64_t{10}});
  CHECK(parameters[1].candidates.size() == 2);
  CHECK(space.size() == 2);
}

TEST_CASE("the later of two recordings of a configuration counts") {
  recording_builder builder(std::vector<tune::parameter>{{"n", {}}});
  builder.add(scored({std::int64_t{1}}, 1));
  builder.add(scored({std::int64_t{1}}, 2));
  const auto space = std::move(builder).build("s");
  REQUIRE(space.size() == 1);
  CHECK(space[0].score_ms == 2);
}

}  // namespace recording_builder_test
