// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include <doctest/doctest.h>
#include <vector>

#include "libtune/base/error.hpp"
#include "libtune/tune/engine/prior_knowledge.hpp"
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

TEST_CASE("what is verified is the winners and no strict choice") {
  trial_choice choice;
  choice.known.winners.emplace_back().values = wgs(3);
  choice.known.test_default = wgs(1);
  CHECK(list(choice) == indexes{2, 0});
  CHECK_FALSE(choice.is_strict());
}

TEST_CASE("configurations of the space have a number there, each once") {
  const auto space = sample::make_space();
  const auto tuning = [](std::int64_t wgs, std::int64_t rows) {
    return std::vector<tune::named_value>{{"wgs", wgs}, {"rows", rows}};
  };
  const tune::search_problem problem{
      .space = space.core(),
      .configuration = {},
      .needs = {},
      .generate = {},
      .find = [&](const std::vector<tune::named_value>& values) {
        return space.find(tune::from_values<sample::scale_tuning>(values));
      }};
  const std::vector<std::vector<tune::named_value>> given{
      tuning(2, 1), tuning(3, 1), {{"other", std::int64_t{1}}}, tuning(8, 2), tuning(2, 1)};
  const auto numbers = numbers_of(given, problem);
  REQUIRE(numbers.size() == 2);
  CHECK(space[numbers[0]] == sample::scale_tuning{.wgs = 2, .rows = 1});
  CHECK(space[numbers[1]] == sample::scale_tuning{.wgs = 8, .rows = 2});
}

}  // namespace trial_choice_test

namespace trial_choice_test::of_verification {

using sample::scale_tuning;
using tune::make_shortlist;
using tune::verification;
using indexes = std::vector<std::size_t>;

/// wgs from 1 to 9, of which the device allows up to 8 where that is declared.
struct line {
  line() {
    space.add(&scale_tuning::wgs, {1, 2, 3, 4, 5, 6, 7, 8, 2048});
    space.needs([](const scale_tuning& t) {
      return tune::resources{.work_group = {static_cast<std::size_t>(t.wgs), 1, 1}};
    });
  }

  indexes shortlist(const verification& known) const {
    return make_shortlist(known,
                          {.space = space.core(),
                           .configuration = {},
                           .needs = [&](std::size_t i) { return space.resources_of(space[i]); },
                           .generate = {},
                           .find =
                               [&](const std::vector<tune::named_value>& values) {
                                 return space.find(tune::from_values<scale_tuning>(values));
                               }},
                          device);
  }

  tune::space<scale_tuning> space;
  tune::device device = sample::make_device().device();
};

tune::record winner(int wgs) {
  tune::record made;
  made.values = tune::to_values(scale_tuning{.wgs = wgs});
  return made;
}

tune::stored_trial trial(int wgs, std::optional<double> score) {
  return {.configuration = tune::to_values(scale_tuning{.wgs = wgs}),
          .outcome = score ? "measured" : "skipped",
          .score_ns = score};
}

TEST_CASE("winners come first, then the best of the trials, then the test default") {
  const line space;
  CHECK(space.shortlist({.winners = {winner(5), winner(3)},
                         .trials = {trial(6, 30.0), trial(5, 10.0), trial(7, 20.0)},
                         .test_default = tune::to_values(scale_tuning{.wgs = 1})}) ==
        indexes{4, 2, 6, 5, 0});
}

TEST_CASE("no more than a few of each are listed, each once") {
  const line space;
  CHECK(space.shortlist({.winners = {winner(1), winner(1), winner(2), winner(3), winner(4)},
                         .trials = {trial(1, 1.0), trial(4, 2.0), trial(5, 3.0), trial(6, 4.0),
                                    trial(7, 5.0), trial(8, 6.0)},
                         .test_default = tune::to_values(scale_tuning{.wgs = 1})}) ==
        indexes{0, 1, 2, 3, 4, 5, 6});
}

TEST_CASE("what is over a limit, not in the space, of other fields or without a time is left out") {
  const line space;
  CHECK(space.shortlist({.winners = {winner(2048), winner(77), {}, winner(2)},
                         .trials = {trial(3, std::nullopt), trial(2048, 1.0), trial(4, 2.0)},
                         .test_default = {{"other", std::int64_t{1}}}}) == indexes{1, 3});
}

TEST_CASE("without a winner that can be used there is no list") {
  const line space;
  CHECK(space.shortlist({}).empty());
  CHECK(space
            .shortlist({.winners = {winner(2048)},
                        .trials = {trial(3, 1.0)},
                        .test_default = tune::to_values(scale_tuning{.wgs = 1})})
            .empty());
}

}  // namespace trial_choice_test::of_verification
