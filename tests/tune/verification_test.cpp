// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tune/engine/verification.hpp"

#include <doctest/doctest.h>
#include <vector>

#include "tests/tune/scale.hpp"

namespace verification_test {

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

}  // namespace verification_test
