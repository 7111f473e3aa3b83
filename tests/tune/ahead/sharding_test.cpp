// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include <chrono>
#include <doctest/doctest.h>

#include "libtune/tune/ahead/job_queue.hpp"

namespace sharding_test {

using namespace std::chrono_literals;

tune::search_started_event search_by(const char* strategy) {
  return {.subject = {},
          .strategy = strategy,
          .combinations = 1000,
          .configurations = 1000,
          .planned = 100,
          .taken_over = 10};
}

TEST_CASE("of an exhaustive search each shard gets every n-th configuration") {
  const auto shards = tune::divide(search_by("exhaustive"), 10, {}, 3);
  REQUIRE(shards.size() == 3);
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(shards[i].choice.shard == i);
    CHECK(shards[i].choice.shards == 3);
    CHECK_FALSE(shards[i].options.search.max_count);
  }
}

TEST_CASE("of another search each shard has its own seed, and a share of the planned number") {
  tune::tuning_options options;
  options.search.seed = 7;
  const auto shards = tune::divide(search_by("model"), 40, options, 4);
  REQUIRE(shards.size() == 4);
  for (std::size_t i = 0; i < 4; ++i) {
    CHECK_FALSE(shards[i].choice.is_strict());
    CHECK(shards[i].options.strategy == "model");
    CHECK(shards[i].options.search.seed == 7 + i);
    CHECK(shards[i].options.search.max_count == 40 + 15);
  }
}

TEST_CASE("the rest of a budget of trials is divided, and each shard has at least one") {
  tune::tuning_options options;
  options.budget = tune::tuning_budget{.trials = 50};
  CHECK(tune::divide(search_by("model"), 30, options, 2)[1].options.budget->trials == 15);
  CHECK(tune::divide(search_by("model"), 60, options, 2)[1].options.budget->trials == 1);
}

TEST_CASE("a search is divided as long as each shard takes long enough") {
  const auto count = [](std::size_t left, std::chrono::seconds start, std::chrono::seconds rest) {
    return tune::worthwhile_shards(left, tune::search_forecast{.start = start, .rest = rest}, 3s);
  };
  CHECK(count(100, 1s, 10s) == 3);
  CHECK(count(100, 1s, 5s) == 1);
  CHECK(count(2, 1s, 100s) == 2);
  // Each would have to start as the whole did.
  CHECK(count(100, 5s, 29s) == 1);
  CHECK(count(100, 5s, 30s) == 2);
  CHECK_FALSE(tune::worthwhile_shards(100, std::nullopt, 3s));
  CHECK(tune::worthwhile_shards(100, std::nullopt, 0s) == 100);
}

TEST_CASE("the pace of a search counts from its first trial, and takes some trials to be known") {
  const tune::search_pace::clock::time_point begin{};
  tune::search_pace pace(begin);
  const auto after = [&](std::chrono::seconds time, std::size_t left) {
    return pace.look(left, begin + time);
  };
  CHECK_FALSE(after(10s, 100));
  CHECK_FALSE(after(50s, 100));  // the first program takes long
  CHECK_FALSE(after(60s, 98));
  CHECK_FALSE(after(67s, 91));
  const auto known = after(70s, 88);
  REQUIRE(known);
  CHECK(known->start == 60s);
  CHECK(known->rest == 88s);
  CHECK(after(80s, 88)->rest == 176s);
  CHECK(after(105s, 8)->rest == 4s);
  CHECK(after(110s, 0)->rest == 0s);
  CHECK(after(110s, 0)->start == 60s);
}

}  // namespace sharding_test
