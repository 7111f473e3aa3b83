// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tune/ahead/division.hpp"

#include <chrono>
#include <doctest/doctest.h>

namespace division_test {

using namespace std::chrono_literals;

tune::search_started_event search_by(const char* strategy) {
  return {.subject = {},
          .strategy = strategy,
          .combinations = 1000,
          .configurations = 1000,
          .planned = 100,
          .taken_over = 10};
}

TEST_CASE("a space of which everything is tried is dealt out") {
  const auto parts = tune::divide(search_by("exhaustive"), 10, {}, 3);
  REQUIRE(parts.size() == 3);
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(parts[i].choice.shard == i);
    CHECK(parts[i].choice.shards == 3);
    CHECK_FALSE(parts[i].options.search.max_count);
  }
}

TEST_CASE("of another each part has a seed of its own and its part of what was planned") {
  tune::tuning_options options;
  options.search.seed = 7;
  const auto parts = tune::divide(search_by("model"), 40, options, 4);
  REQUIRE(parts.size() == 4);
  for (std::size_t i = 0; i < 4; ++i) {
    CHECK_FALSE(parts[i].choice.is_strict());
    CHECK(parts[i].options.strategy == "model");
    CHECK(parts[i].options.search.seed == 7 + i);
    CHECK(parts[i].options.search.max_count == 40 + 15);
  }
}

TEST_CASE("what is left of a budget of trials is divided, and each part has one at least") {
  tune::tuning_options options;
  options.budget = tune::tuning_budget{.trials = 50};
  CHECK(tune::divide(search_by("model"), 30, options, 2)[1].options.budget->trials == 15);
  CHECK(tune::divide(search_by("model"), 60, options, 2)[1].options.budget->trials == 1);
}

TEST_CASE("a search is divided as far as each part takes long enough") {
  const auto parts = [](std::size_t left, std::chrono::seconds start, std::chrono::seconds rest) {
    return tune::worthwhile_parts(left, tune::search_outlook{.start = start, .rest = rest}, 3s);
  };
  CHECK(parts(100, 1s, 10s) == 3);
  CHECK(parts(100, 1s, 5s) == 1);
  CHECK(parts(2, 1s, 100s) == 2);
  // Each would have to start as the whole did.
  CHECK(parts(100, 5s, 29s) == 1);
  CHECK(parts(100, 5s, 30s) == 2);
  CHECK_FALSE(tune::worthwhile_parts(100, std::nullopt, 3s));
  CHECK(tune::worthwhile_parts(100, std::nullopt, 0s) == 100);
}

}  // namespace division_test
