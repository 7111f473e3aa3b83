// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Results of goals in the database.
#include <SQLiteCpp/SQLiteCpp.h>
#include <doctest/doctest.h>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "libtune/store/database/tuning_database.hpp"
#include "libtune/testing/fixtures.hpp"
#include "libtune/testing/run_tests.hpp"
#include "libtune/testing/temporary_directory.hpp"
#include "libtune/tune/autotuner.hpp"
#include "libtune/tune/error.hpp"
#include "tests/tune/scale.hpp"

namespace goal_lookup_test {

using sample::counted_autotuner;
using sample::fastest;
using sample::scale_tuning;
using tune::testing::scoped_environment;
using tune::testing::test_mode;
using tune::testing::test_mode_guard;

constexpr scale_tuning largest{.wgs = 8, .rows = 2};

/// Remembers the searches.
struct recorder final : tune::observer {
  void search_started(const tune::search_started_event& event) override { started = event; }
  void trial_finished(const tune::tuning_subject&, const tune::trial& made) override {
    order.push_back(to_string(made.configuration));
  }
  tune::search_started_event started;
  std::vector<std::string> order;
};

struct application {
  application() { options.observers = {heard}; }

  test_mode_guard mode{test_mode::off};
  tune::testing::temporary_directory folder;
  std::string path = (folder / "tuning.db").string();
  scoped_environment database{"LIBTUNE_DB", path.c_str()};
  scoped_environment no_goal{"LIBTUNE_OBJECTIVE", nullptr};
  tune::context context = sample::make_device().device().create_context();
  std::shared_ptr<recorder> heard = std::make_shared<recorder>();
  // The larger, the better.
  tune::tuning_options options{
      .metrics = {.computed = {{.name = "items", .compute = [](const tune::trial& item) {
                                  const auto& wgs = item.configuration.front().value;
                                  const auto& rows = item.configuration.back().value;
                                  return static_cast<double>(std::get<std::int64_t>(wgs) *
                                                             std::get<std::int64_t>(rows));
                                }}}}};
};

TEST_CASE("a result of one goal is never returned for another") {
  application app;
  counted_autotuner counted;
  CHECK(counted.autotune(app.context, {}, app.options) == fastest);
  app.options.goal = tune::tuning_goal{.objectives = {tune::maximise("items")}};
  CHECK(counted.autotune(app.context, {}, app.options) == largest);
  CHECK(counted.searches == 2);
  CHECK(app.heard->started.goal == *app.options.goal);
  CHECK(app.heard->started.subject.function == "sample.scale");
  // Both are found from now on, by this process and by others.
  CHECK(counted.autotune(app.context, {}, app.options) == largest);
  app.options.goal.reset();
  CHECK(counted.autotune(app.context, {}, app.options) == fastest);
  CHECK(counted.searches == 2);
  // A goal that differs in a bound alone is another.
  app.options.goal = tune::tuning_goal{.objectives = {tune::maximise("items")},
                                       .constraints = {tune::at_most("items", 9)}};
  CHECK(counted.autotune(app.context, {}, app.options) == scale_tuning{.wgs = 4, .rows = 2});
  CHECK(counted.searches == 3);
}

TEST_CASE("to a libtune that knows no goals they are results of other functions") {
  application app;
  counted_autotuner counted;
  app.options.goal = tune::tuning_goal{.objectives = {tune::maximise("items")}};
  counted.autotune(app.context, {}, app.options);
  SQLite::Database file(app.path);
  const std::string name = "sample.scale..max_items";
  CHECK(file.execAndGet("SELECT name FROM libtune_function").getString() == name);
  CHECK(file.execAndGet("SELECT \"value_wgs\" FROM \"" + name + "__0\"").getInt() == 8);
  CHECK(file.execAndGet("SELECT user_version FROM pragma_user_version").getInt() == 1);
  tune::tuning_database database(app.path);
  const tune::record_key key{{{"size", std::int64_t{64}}}, app.context.device().identity()};
  tune::function_identity function{.name = "sample.scale",
                                   .version = 0,
                                   .key_fields = tune::describe_fields<sample::scale_key>(),
                                   .value_fields = tune::describe_fields<scale_tuning>()};
  CHECK_FALSE(database.find(function, key, tune::match_mode::nearest));
  function.name = name;
  CHECK(database.find(function, key));
}

TEST_CASE("the environment decides on the goal, then the application, then the author") {
  application app;
  tune::autotuner<sample::scale_key, scale_tuning> autotune{
      {.name = "sample.scale",
       .test = sample::test_default,
       .goal = {.objectives = {tune::maximise("items")}}},
      [](tune::tuning_session& session, const sample::scale_key& key) {
        return counted_autotuner::search(session, key);
      }};
  CHECK(autotune(app.context, {}, app.options) == largest);
  app.options.goal = tune::tuning_goal{.objectives = {tune::minimise("time")}};
  CHECK(autotune(app.context, {}, app.options) == fastest);
  const scoped_environment chosen("LIBTUNE_OBJECTIVE", "max time, items <= 8");
  CHECK(autotune(app.context, {}, app.options) == scale_tuning{.wgs = 8, .rows = 1});
  const scoped_environment wrong("LIBTUNE_OBJECTIVE", "cheap");
  CHECK_THROWS_AS(autotune(app.context, {}, app.options), tune::environment_error);
}

TEST_CASE("the result for the time is where a search for another goal begins") {
  application app;
  counted_autotuner counted;
  counted.autotune(app.context, {}, app.options);
  app.heard->order.clear();
  app.options.goal = tune::tuning_goal{.objectives = {tune::maximise("items")}};
  counted.autotune(app.context, {}, app.options);
  REQUIRE_FALSE(app.heard->order.empty());
  CHECK(app.heard->order.front() == "wgs=2, rows=1");
}

TEST_CASE("an interrupted search goes on for its own goal, with its metrics, and for no other") {
  application app;
  counted_autotuner counted;
  app.options.goal = tune::tuning_goal{.objectives = {tune::maximise("items")}};
  app.options.budget = tune::tuning_budget{.trials = 3};
  counted.autotune(app.context, {}, app.options);
  app.options.mode = tune::tuning_mode::resume;
  app.options.budget.reset();
  app.options.goal = tune::tuning_goal{.objectives = {tune::minimise("items")}};
  counted.autotune(app.context, {}, app.options);
  CHECK(app.heard->started.taken_over == 0);
  app.options.goal = tune::tuning_goal{.objectives = {tune::maximise("items")}};
  CHECK(counted.autotune(app.context, {}, app.options) == largest);
  CHECK(app.heard->started.taken_over == 3);
}

TEST_CASE("a configuration that does harm is denied whatever the goal is") {
  application app;
  tune::tuning_database database(app.path);
  const tune::function_identity by_time{.name = "sample.scale",
                                        .version = 0,
                                        .key_fields = tune::describe_fields<sample::scale_key>(),
                                        .value_fields = tune::describe_fields<scale_tuning>()};
  const tune::record_key key{{{"size", std::int64_t{64}}}, app.context.device().identity()};
  tune::function_identity by_energy = by_time;
  by_energy.name += "..min_energy";
  const tune::search_identity same{.compiler = "c", .library_version = "l"};
  const std::vector<std::string> crashes{"crashed"};
  for (const tune::function_identity& function : {by_time, by_energy}) {
    const auto search = database.begin_search(function, key, same);
    database.add_trial(search, {.configuration = tune::to_values(fastest), .outcome = "crashed"});
  }
  const tune::prior_query query{.search = same, .incident_outcomes = crashes};
  CHECK(database.prior(by_time, key, query).incidents.size() == 2);
  CHECK(database.prior(by_energy, key, query).incidents.size() == 2);
  tune::function_identity other = by_time;
  other.name = "sample.scale2";
  database.begin_search(other, key, same);
  CHECK(database.prior(other, key, query).incidents.empty());
}

TEST_CASE("a name that could be one with a goal is refused") {
  CHECK_THROWS_AS(counted_autotuner("sample..scale"), tune::argument_error);
}

}  // namespace goal_lookup_test
