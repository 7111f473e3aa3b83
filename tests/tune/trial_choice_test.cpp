// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tune/engine/trial_choice.hpp"

#include <doctest/doctest.h>
#include <vector>

#include "libtune/base/error.hpp"
#include "tests/tune/scale.hpp"

namespace trial_choice_test {

using sample::scale_tuning;
using tune::trial_choice;
using indexes = std::vector<std::size_t>;

/// wgs from 1 to 7.
indexes list(const trial_choice& choice) {
  static const tune::device device = sample::make_device().device();
  tune::space<scale_tuning> space;
  space.add(&scale_tuning::wgs, {1, 2, 3, 4, 5, 6, 7});
  return list_of(choice,
                 {.space = space.core(),
                  .configuration = {},
                  .needs = [](std::size_t) { return std::nullopt; },
                  .generate = {},
                  .find =
                      [&](const std::vector<tune::named_value>& values) {
                        return space.find(tune::from_values<scale_tuning>(values));
                      }},
                 device);
}

std::vector<tune::named_value> wgs(int value) {
  return tune::to_values(scale_tuning{.wgs = value});
}

TEST_CASE("without a choice the strategy decides") {
  CHECK(list({}).empty());
  CHECK_FALSE(trial_choice{}.is_strict());
}

TEST_CASE("given configurations are tried in their order, each once, as far as they are there") {
  CHECK(list({.configurations = {wgs(5), wgs(99), wgs(2), wgs(5)}}) == indexes{4, 1});
}

TEST_CASE("given configurations that are all elsewhere are an error, for the rest is not meant") {
  CHECK_THROWS_AS(list({.configurations = {wgs(99)}}), tune::argument_error);
}

TEST_CASE("shards divide a space without leaving or sharing anything") {
  CHECK(list({.shard = 0, .shards = 3}) == indexes{0, 3, 6});
  CHECK(list({.shard = 1, .shards = 3}) == indexes{1, 4});
  CHECK(list({.shard = 2, .shards = 3}) == indexes{2, 5});
  CHECK_THROWS_AS(list({.shard = 7, .shards = 8}), tune::argument_error);
}

TEST_CASE("what is verified is the winners and no strict choice") {
  trial_choice choice;
  choice.known.winners.emplace_back().values = wgs(3);
  choice.known.test_default = wgs(1);
  CHECK(list(choice) == indexes{2, 0});
  CHECK_FALSE(choice.is_strict());
}

}  // namespace trial_choice_test
