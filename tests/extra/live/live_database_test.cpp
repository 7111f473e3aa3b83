// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Results that a live pipeline finds in the database, and those that it takes back there.
#include <chrono>
#include <cstddef>
#include <doctest/doctest.h>
#include <optional>
#include <string>

#include "libtune/extra/behind/tuning_behind.hpp"
#include "libtune/store/database/tuning_database.hpp"
#include "tests/extra/live/live_bench.hpp"

namespace live_database_test {

using live_sample::step_key;
using live_sample::step_template;
using live_sample::step_tuning;
using tune::testing::scoped_environment;
using tune::testing::test_mode;
using tune::testing::test_mode_guard;

const tune::function_identity step_function{.name = "live_sample.step",
                                            .version = 0,
                                            .key_fields = tune::describe_fields<step_key>(),
                                            .value_fields = tune::describe_fields<step_tuning>()};

struct application {
  test_mode_guard mode{test_mode::off};
  tune::testing::temporary_directory folder;
  std::string path = (folder / "tuning.db").string();
  scoped_environment database{"LIBTUNE_DB", path.c_str()};
  scoped_environment system{"LIBTUNE_SYSTEM_DB", nullptr};
  scoped_environment workers{"LIBTUNE_ISOLATION", "off"};
  std::optional<live_sample::bench> b{std::in_place};

  tune::record_key key() const {
    return {tune::to_values(step_key{}), b->context.device().info().identity};
  }
  tune::record stored() const {
    tune::tuning_database now(path);
    return *now.find(step_function, key());
  }
  /// Stores a result as a search of another process does.
  void search_finds(const step_tuning& tuning, double score_ns) const {
    tune::tuning_database other(path);
    const auto search = other.begin_search(step_function, key(), {}, "exhaustive");
    other.add_trial(search, {.configuration = tune::to_values(tuning),
                             .outcome = "measured",
                             .samples_ns = {score_ns},
                             .score_ns = score_ns});
    other.store(step_function, key(), tune::to_values(tuning), score_ns);
    other.finish_search(search, "found");
  }
};

TEST_CASE("a result that another process has stored is found on request, and stays where it wins") {
  application app;
  const int first = app.b->mark();
  app.search_finds({.mark = 7, .time = 800}, 800);
  app.b->settle();
  CHECK(app.b->mark() == first);
  app.b->pipeline.look_again();
  app.b->settle();
  CHECK(app.b->mark() == 7);
  CHECK(app.stored().values == tune::to_values(step_tuning{.mark = 7, .time = 800}));
}

TEST_CASE("one that loses in service is taken back in the database, with the reason in its trial") {
  application app;
  const tune::record before = app.stored();
  REQUIRE(before.score_ns);
  const step_tuning wrong{.mark = 8, .time = 1300};
  app.search_finds(wrong, 700);
  app.b->pipeline.look_again();
  app.b->settle();
  CHECK(app.b->pipeline.counts().taken_back == 1);
  CHECK(app.stored().values == before.values);
  CHECK(app.stored().score_ns == before.score_ns);
  tune::tuning_database now(app.path);
  const auto trials = now.trials(step_function, app.key());
  REQUIRE(trials.size() == 1);
  CHECK(trials[0].configuration == tune::to_values(wrong));
  CHECK(trials[0].outcome == "measured");
  CHECK(trials[0].message.find("taken back in service: it takes 1.300 of the time") == 0);
  app.b->pipeline.look_again();
  app.b->settle();
  CHECK(app.b->pipeline.counts().tried == 1);
}

TEST_CASE("what was no result of the key does not take the place of one that loses in service") {
  application app;
  const scoped_environment served("LIBTUNE_MODE", "default");
  app.b.reset();
  app.path = (app.folder / "other.db").string();
  const scoped_environment database("LIBTUNE_DB", app.path.c_str());
  app.b.emplace();
  const int first = app.b->mark();
  const step_tuning found{.mark = 5, .time = 1300};
  app.search_finds(found, 999);
  app.b->pipeline.look_again();
  app.b->settle();
  CHECK(app.b->pipeline.counts().taken_back == 1);
  CHECK(app.b->mark() == first);
  CHECK(app.stored().values == tune::to_values(found));
  tune::tuning_database now(app.path);
  CHECK(now.trials(step_function, app.key()).at(0).message.find("taken back in service") == 0);
}

TEST_CASE("a result of another goal than the time is kept without a comparison of times") {
  application app;
  app.b.reset();
  const scoped_environment goal("LIBTUNE_OBJECTIVE", "min energy");
  const scoped_environment served("LIBTUNE_MODE", "default");
  app.b.emplace();
  tune::function_identity of_goal = step_function;
  const tune::tuning_goal wanted{.objectives = {tune::minimise("energy")}};
  of_goal.name = tune::detail::name_with_goal(of_goal.name, wanted);
  const auto slower = tune::to_values(step_tuning{.mark = 5, .time = 1200});
  tune::tuning_database other(app.path);
  other.store(of_goal, app.key(), slower, 1200);
  app.b->pipeline.look_again();
  app.b->settle();
  CHECK(app.b->mark() == 5);
  CHECK(app.b->pipeline.counts().tried == 0);
  CHECK(app.b->pipeline.counts().kept == 1);
  CHECK(other.find(of_goal, app.key())->values == slower);
}

TEST_CASE("a result that another has replaced meanwhile is left alone") {
  application app;
  app.search_finds({.mark = 8, .time = 1300}, 700);
  app.b->pipeline.look_again();
  app.b->core->step();
  app.search_finds({.mark = 9, .time = 600}, 600);
  app.b->settle();
  CHECK(app.b->pipeline.counts().taken_back == 1);
  CHECK(app.stored().values == tune::to_values(step_tuning{.mark = 9, .time = 600}));
}

TEST_CASE("in the mode cached nothing is written") {
  application app;
  const step_tuning wrong{.mark = 8, .time = 1300};
  app.search_finds(wrong, 700);
  const scoped_environment cached("LIBTUNE_MODE", "cached");
  app.b->pipeline.look_again();
  app.b->settle();
  CHECK(app.b->pipeline.counts().taken_back == 1);
  CHECK(app.stored().values == tune::to_values(wrong));
}

TEST_CASE("a drift says how the times compare with those of the search") {
  application app;
  app.search_finds({.mark = 7, .time = 800}, 400);
  app.b.emplace(tune::live_options{.watch_every = 1});
  for (int i = 0; i < 400; ++i) app.b->frame();
  app.b->fake.set_time([](const auto&) { return std::chrono::nanoseconds(1600); });
  for (int i = 0; i < 400; ++i) app.b->frame();
  app.b->core->step();
  REQUIRE(!app.b->heard->events.empty());
  CHECK(app.b->heard->events.back().reason.find("of its search") != std::string::npos);
}

TEST_CASE("a key that has drifted is tuned again behind, and the result replaces the old one") {
  application app;
  const tune::record before = app.stored();
  app.b.emplace(tune::live_options{.watch_every = 1, .tunes_again = true});
  for (int i = 0; i < 400; ++i) app.b->frame();
  app.b->fake.set_time([](const auto&) { return std::chrono::nanoseconds(1600); });
  for (int i = 0; i < 400; ++i) app.b->frame();
  const std::size_t tuned = tune::behind_report().tuned;
  app.b->core->step();
  REQUIRE(app.b->pipeline.counts().drifts == 1);
  REQUIRE(tune::wait_for_tuning_behind(std::chrono::seconds(60)));
  CHECK(tune::behind_report().tuned == tuned + 1);
  CHECK(app.stored().score_ns != before.score_ns);
}

}  // namespace live_database_test
