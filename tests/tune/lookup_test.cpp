// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The results that an autotuner uses: of other devices and system databases, of other goals, of a
// space that has changed, and of a lock.
#include <SQLiteCpp/SQLiteCpp.h>
#include <doctest/doctest.h>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "libtune/base/library_version.hpp"
#include "libtune/store/database/tuning_database.hpp"
#include "libtune/store/database/tuning_lock.hpp"
#include "libtune/testing/fixtures.hpp"
#include "libtune/testing/run_tests.hpp"
#include "libtune/testing/temporary_directory.hpp"
#include "libtune/tune/autotuner.hpp"
#include "libtune/tune/error.hpp"
#include "libtune/tune/options.hpp"
#include "tests/tune/application.hpp"

namespace lookup_test {

using sample::application;
using sample::context_of;
using sample::counted_application;
using sample::counted_autotuner;
using sample::fastest;
using sample::scale_tuning;
using sample::store;
using sample::test_default;
using tune::match_mode;
using tune::tuning_mode;
using tune::testing::scoped_environment;
using tune::testing::test_mode;
using tune::testing::test_mode_guard;

/// Remembers how lookups and trials went.
struct recorder final : tune::observer {
  void looked_up(const tune::lookup_event& event) override { lookups.push_back(event); }
  void search_started(const tune::search_started_event& event) override {
    searches.push_back(event.strategy);
  }
  void trial_finished(const tune::tuning_subject&, const tune::trial& made) override {
    tried.push_back(tune::from_values<scale_tuning>(made.configuration));
  }
  std::vector<tune::lookup_event> lookups;
  std::vector<std::string> searches;
  std::vector<scale_tuning> tried;
};

tune::tuning_options options_for(match_mode match, const std::shared_ptr<recorder>& heard,
                                 tuning_mode mode = tuning_mode::tune) {
  tune::tuning_options options{.match = match, .mode = mode};
  options.observers = {heard};
  return options;
}

std::int64_t count_rows(const std::string& path) {
  return SQLite::Database(path).execAndGet("SELECT count(*) FROM \"sample.scale__0\"").getInt64();
}

TEST_CASE_FIXTURE(counted_application,
                  "a nearest match that is not in the space is skipped for the next one") {
  const auto heard = std::make_shared<recorder>();
  store(path, context_of("fake device", "2.0"), {.wgs = 64, .rows = 1});
  store(path, context_of("another device"), {.wgs = 8, .rows = 2});
  CHECK(counted.autotune(context, {}, options_for(match_mode::nearest, heard)) ==
        scale_tuning{.wgs = 8, .rows = 2});
  REQUIRE(heard->lookups.size() == 1);
  CHECK(heard->lookups[0].grade == tune::lookup_grade::nearest);
  CHECK(heard->lookups[0].step == tune::match_step::architecture);
  CHECK(heard->lookups[0].device.name == "another device");
  CHECK(heard->tried.empty());
}

TEST_CASE_FIXTURE(counted_application, "a result of a share of a device is exact for that alone") {
  const auto heard = std::make_shared<recorder>();
  const auto parts = context.device().divide({3});
  const tune::context part = parts.at(0).create_context();
  store(path, context_of("another device"), {.wgs = 8, .rows = 1});
  store(path, part, {.wgs = 8, .rows = 2});
  const auto cached = [&](const tune::context& of, match_mode match) {
    return counted.autotune(of, {}, options_for(match, heard, tuning_mode::cached));
  };
  CHECK(cached(part, match_mode::exact) == scale_tuning{.wgs = 8, .rows = 2});
  CHECK_THROWS_AS(cached(context, match_mode::exact), tune::not_tuned_error);
  CHECK_THROWS_AS(cached(parts.at(1).create_context(), match_mode::exact), tune::not_tuned_error);
  CHECK(cached(context, match_mode::nearest) == scale_tuning{.wgs = 8, .rows = 2});
  CHECK(heard->lookups.back().step == tune::match_step::share);
  CHECK(counted.autotune(context) == fastest);
  CHECK(cached(part, match_mode::exact) == scale_tuning{.wgs = 8, .rows = 2});
}

/// Stores a prior: the configuration of another kernel that did the same work.
void store_prior(const std::string& path, const tune::context& context,
                 const scale_tuning& tuning) {
  tune::device_identity device = context.device().identity();
  device.capabilities = {.api = std::string(tune::prior_api)};
  tune::tuning_database(path).store(sample::scale_function(),
                                    {tune::to_values(sample::scale_key{}), device},
                                    tune::to_values(tuning), std::nullopt);
}

TEST_CASE("a prior is never a result, and a search tries it first") {
  for (const match_mode match : {match_mode::exact, match_mode::nearest, match_mode::verify}) {
    const application app;
    counted_autotuner counted;
    const auto heard = std::make_shared<recorder>();
    const auto context = context_of("fake device");
    store_prior(app.path, context, {.wgs = 8, .rows = 2});
    CHECK_THROWS_AS(counted.autotune(context, {}, options_for(match, heard, tuning_mode::cached)),
                    tune::not_tuned_error);
    CHECK(counted.autotune(context, {}, options_for(match, heard)) == fastest);
    CHECK(heard->lookups.at(1).grade == tune::lookup_grade::miss);
    CHECK(heard->searches.size() == 1);
    REQUIRE(heard->tried.size() == 6);
    CHECK(heard->tried.front() == scale_tuning{.wgs = 8, .rows = 2});
    // What the search found is a result like any other.
    CHECK(counted.autotune(context, {}, options_for(match, heard)) == fastest);
    CHECK(heard->lookups.at(2).grade == tune::lookup_grade::exact);
    CHECK(count_rows(app.path) == 2);
  }
}

TEST_CASE_FIXTURE(counted_application,
                  "of a prior outside of the space the closest configuration is tried first") {
  const auto heard = std::make_shared<recorder>();
  store_prior(path, context, {.wgs = 512, .rows = 2});
  CHECK(counted.autotune(context, {}, options_for(match_mode::exact, heard)) == fastest);
  CHECK(heard->tried.front() == scale_tuning{.wgs = 8, .rows = 2});
}

TEST_CASE_FIXTURE(counted_application, "results of other devices are tried before priors") {
  const auto heard = std::make_shared<recorder>();
  store_prior(path, context, {.wgs = 8, .rows = 2});
  store(path, context_of("another device"), {.wgs = 4, .rows = 2});
  CHECK(counted.autotune(context, {}, options_for(match_mode::exact, heard)) == fastest);
  CHECK(heard->tried.at(0) == scale_tuning{.wgs = 4, .rows = 2});
  CHECK(heard->tried.at(1) == scale_tuning{.wgs = 8, .rows = 2});
}

TEST_CASE_FIXTURE(application, "a nearest match that the device cannot run is skipped") {
  const auto heard = std::make_shared<recorder>();
  bool declared = false;
  SUBCASE("as the space declares") { declared = true; }
  SUBCASE("as one run shows") { declared = false; }
  const tune::autotuner<sample::scale_key, scale_tuning> autotune{
      {.name = "sample.scale"}, [&](tune::tuning_session& session, const sample::scale_key&) {
        auto space = sample::make_space();
        if (declared) {
          space.needs([](const scale_tuning& t) {
            return tune::resources{.work_group = {static_cast<std::size_t>(t.wgs), 1, 1}};
          });
        }
        return session.tune(space, [&](const scale_tuning& tuning) {
          return sample::generate(session.context(), tuning);
        });
      }};
  tune::testing::fake_device_options small;
  small.identity = {"small device", "fake platform", "1.0"};
  small.limits.max_work_group_size = 4;
  const tune::testing::fake_device fake(small);
  fake.add_kernel("scale", 2, [](tune::testing::fake_launch&) {});
  const auto context = fake.device().create_context();
  store(path, context_of("fake device"), {.wgs = 8, .rows = 1});
  store(path, context_of("zzz"), {.wgs = 4, .rows = 2});
  CHECK(autotune(context, {}, options_for(match_mode::nearest, heard, tuning_mode::cached)) ==
        scale_tuning{.wgs = 4, .rows = 2});
  CHECK(heard->tried.empty());
}

TEST_CASE_FIXTURE(
    counted_application,
    "where no nearest match can be used the mode decides, and what is tuned is exact") {
  const auto heard = std::make_shared<recorder>();
  store(path, context_of("fake device", "2.0"), {.wgs = 64, .rows = 1});
  CHECK_THROWS_AS(
      counted.autotune(context, {}, options_for(match_mode::nearest, heard, tuning_mode::cached)),
      tune::not_tuned_error);
  CHECK(counted.autotune(context, {},
                         options_for(match_mode::nearest, heard, tuning_mode::defaults)) ==
        test_default);
  CHECK(counted.autotune(context, {}, options_for(match_mode::nearest, heard)) == fastest);
  CHECK(heard->searches == std::vector<std::string>{"exhaustive"});
  CHECK(counted.autotune(context) == fastest);
  CHECK(heard->searches.size() == 1);
}

TEST_CASE_FIXTURE(
    counted_application,
    "a nearest match is checked once, never stored, and gives way to a result of its own") {
  const auto heard = std::make_shared<recorder>();
  store(path, context_of("fake device", "2.0"), {.wgs = 8, .rows = 1});
  const auto nearest = options_for(match_mode::nearest, heard);
  for (int i = 0; i < 3; ++i) CHECK(counted.autotune(context, {}, nearest).wgs == 8);
  CHECK(counted.calls == 1);  // the run that learned the space
  CHECK(count_rows(path) == 1);
  CHECK(counted.autotune(context) == fastest);
  CHECK(counted.autotune(context, {}, nearest) == fastest);
  CHECK(heard->lookups.back().grade == tune::lookup_grade::exact);
}

TEST_CASE_FIXTURE(counted_application, "threads that want the same nearest match share its check") {
  const auto heard = std::make_shared<recorder>();
  store(path, context_of("fake device", "2.0"), {.wgs = 8, .rows = 1});
  std::vector<scale_tuning> results(16);
  {
    std::vector<std::jthread> threads;
    for (auto& result : results) {
      threads.emplace_back([&] {
        result = counted.autotune(context, {}, tune::tuning_options{.match = match_mode::nearest});
      });
    }
  }
  for (const auto& result : results) CHECK(result.wgs == 8);
  CHECK(count_rows(path) == 1);
}

TEST_CASE_FIXTURE(application,
                  "a function that searches no space uses no result of another device") {
  const tune::autotuner<sample::scale_key, scale_tuning> constant{
      {.name = "sample.scale"}, [](tune::tuning_session&, const sample::scale_key&) {
        return scale_tuning{.wgs = 3, .rows = 3};
      }};
  store(path, context_of("fake device", "2.0"), {.wgs = 8, .rows = 1});
  CHECK(constant(context_of("fake device"), {}, {.match = match_mode::nearest}).wgs == 3);
  CHECK(count_rows(path) == 2);
}

TEST_CASE_FIXTURE(application,
                  "a function that asks for its own result while it is checked is told so") {
  const tune::autotuner<sample::scale_key, scale_tuning>* self = nullptr;
  const tune::autotuner<sample::scale_key, scale_tuning> recursive{
      {.name = "sample.scale"}, [&](tune::tuning_session& session, const sample::scale_key& key) {
        return (*self)(session.context(), key, {.match = match_mode::nearest});
      }};
  self = &recursive;
  store(path, context_of("fake device", "2.0"), {.wgs = 8, .rows = 1});
  CHECK_THROWS_AS(recursive(context_of("fake device"), {}, {.match = match_mode::nearest}),
                  tune::argument_error);
}

TEST_CASE_FIXTURE(counted_application,
                  "verification measures a few configurations again and keeps the best as exact") {
  const auto heard = std::make_shared<recorder>();
  counted.autotune(context_of("fake device", "2.0"));
  CHECK(counted.autotune(context, {}, options_for(match_mode::verify, heard)) == fastest);
  CHECK(heard->searches == std::vector<std::string>{"shortlist"});
  // The winner, then the best four others; the test default is not in this space.
  CHECK(heard->tried.size() == 5);
  CHECK(heard->tried.front() == fastest);
  REQUIRE(heard->lookups.size() == 1);
  CHECK(heard->lookups[0].grade == tune::lookup_grade::miss);
  CHECK(count_rows(path) == 2);
  CHECK(counted.autotune(context, {}, options_for(match_mode::exact, heard)) == fastest);
  CHECK(heard->lookups.back().grade == tune::lookup_grade::exact);
}

TEST_CASE_FIXTURE(counted_application,
                  "verification finds what is faster here among what was tried there") {
  const auto heard = std::make_shared<recorder>();
  counted.autotune(context_of("fake device", "2.0"));
  const auto fake = sample::make_device("fake device");
  fake.set_time([](const tune::testing::fake_launch& launch) {
    return std::chrono::nanoseconds(10'000 - 1000 * launch.integer("wgs") +
                                    10 * launch.integer("rows"));
  });
  CHECK(counted.autotune(fake.device().create_context(), {},
                         options_for(match_mode::verify, heard)) ==
        scale_tuning{.wgs = 8, .rows = 1});
}

TEST_CASE_FIXTURE(counted_application,
                  "verification is a whole search where nothing of other devices can be used") {
  const auto heard = std::make_shared<recorder>();
  SUBCASE("because there is nothing") {}
  SUBCASE("because it is not in the space") {
    store(path, context_of("fake device", "2.0"), {.wgs = 64, .rows = 1});
  }
  CHECK(counted.autotune(context_of("fake device"), {}, options_for(match_mode::verify, heard)) ==
        fastest);
  CHECK(heard->searches == std::vector<std::string>{"exhaustive"});
}

TEST_CASE_FIXTURE(counted_application,
                  "verification is a whole search where nothing on the list works any more") {
  const auto heard = std::make_shared<recorder>();
  store(path, context_of("fake device", "2.0"), {.wgs = 2, .rows = 1});
  const auto fake = sample::make_device("fake device");
  fake.fail_when(tune::testing::fake_call::compile,
                 [](const auto& macros) { return macros.integer("wgs") == 2; });
  CHECK(counted.autotune(fake.device().create_context(), {},
                         options_for(match_mode::verify, heard)) ==
        scale_tuning{.wgs = 4, .rows = 1});
  CHECK(heard->searches == std::vector<std::string>{"shortlist", "exhaustive"});
}

TEST_CASE_FIXTURE(counted_application,
                  "with verification, modes that never tune use the nearest match as it is") {
  const auto heard = std::make_shared<recorder>();
  store(path, context_of("fake device", "2.0"), {.wgs = 8, .rows = 1});
  for (const auto mode : {tuning_mode::cached, tuning_mode::defaults}) {
    const auto options = options_for(match_mode::verify, heard, mode);
    CHECK(counted.autotune(context_of("fake device"), {}, options).wgs == 8);
  }
  CHECK(heard->searches.empty());
  CHECK(count_rows(path) == 1);
}

TEST_CASE_FIXTURE(counted_application, "a system database answers where the user's has nothing") {
  const std::string system = (folder / "system.db").string();
  store(system, context, {.wgs = 4, .rows = 1});
  sample::forget_results();
  const std::string paths = "/nowhere/at all.db:" + system + ":";
  SUBCASE("named by the environment") {
    const scoped_environment variable("LIBTUNE_SYSTEM_DB", paths.c_str());
    CHECK(counted.autotune(context).wgs == 4);
  }
  SUBCASE("named by the options") {
    CHECK(counted.autotune(context, {}, {.system_databases = {{system}}}).wgs == 4);
  }
  CHECK(counted.searches == 0);
  CHECK_FALSE(std::filesystem::exists(path));
  // Without it the result is not there, though this process has found it before.
  CHECK(counted.autotune(context) == fastest);
}

TEST_CASE_FIXTURE(counted_application,
                  "a change of LIBTUNE_DB is noticed, and so is the way back") {
  CHECK(counted.autotune(context) == fastest);
  {
    const std::string other = (folder / "other.db").string();
    store(other, context, {.wgs = 4, .rows = 1});
    const scoped_environment database("LIBTUNE_DB", other.c_str());
    CHECK(counted.autotune(context).wgs == 4);
  }
  CHECK(counted.autotune(context) == fastest);
  CHECK(counted.searches == 1);
}

}  // namespace lookup_test

// Results of goals in the database.
namespace lookup_test::of_goal_lookup {

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

struct application : sample::application {
  application() { options.observers = {heard}; }

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

TEST_CASE_FIXTURE(application, "a result of one goal is never returned for another") {
  counted_autotuner counted;
  CHECK(counted.autotune(context, {}, options) == fastest);
  options.goal = tune::tuning_goal{.objectives = {tune::maximise("items")}};
  CHECK(counted.autotune(context, {}, options) == largest);
  CHECK(counted.searches == 2);
  CHECK(heard->started.goal == *options.goal);
  CHECK(heard->started.subject.function == "sample.scale");
  // Both are found from now on, by this process and by others.
  CHECK(counted.autotune(context, {}, options) == largest);
  options.goal.reset();
  CHECK(counted.autotune(context, {}, options) == fastest);
  CHECK(counted.searches == 2);
  // A goal that differs in a bound alone is another.
  options.goal = tune::tuning_goal{.objectives = {tune::maximise("items")},
                                   .constraints = {tune::at_most("items", 9)}};
  CHECK(counted.autotune(context, {}, options) == scale_tuning{.wgs = 4, .rows = 2});
  CHECK(counted.searches == 3);
}

TEST_CASE_FIXTURE(application,
                  "to a libtune that knows no goals they are results of other functions") {
  counted_autotuner counted;
  options.goal = tune::tuning_goal{.objectives = {tune::maximise("items")}};
  counted.autotune(context, {}, options);
  SQLite::Database file(path);
  const std::string name = "sample.scale..max_items";
  CHECK(file.execAndGet("SELECT name FROM libtune_function").getString() == name);
  CHECK(file.execAndGet("SELECT \"value_wgs\" FROM \"" + name + "__0\"").getInt() == 8);
  CHECK(file.execAndGet("SELECT user_version FROM pragma_user_version").getInt() == 1);
  tune::tuning_database database(path);
  const tune::record_key key = sample::key_on(context.device());
  tune::function_identity function = sample::scale_function();
  CHECK_FALSE(database.find(function, key, tune::match_mode::nearest));
  function.name = name;
  CHECK(database.find(function, key));
}

TEST_CASE_FIXTURE(application,
                  "the environment decides on the goal, then the application, then the author") {
  tune::autotuner<sample::scale_key, scale_tuning> autotune{
      {.name = "sample.scale",
       .test = sample::test_default,
       .goal = {.objectives = {tune::maximise("items")}}},
      [](tune::tuning_session& session, const sample::scale_key& key) {
        return counted_autotuner::search(session, key);
      }};
  CHECK(autotune(context, {}, options) == largest);
  options.goal = tune::tuning_goal{.objectives = {tune::minimise("time")}};
  CHECK(autotune(context, {}, options) == fastest);
  const scoped_environment chosen("LIBTUNE_OBJECTIVE", "max time, items <= 8");
  CHECK(autotune(context, {}, options) == scale_tuning{.wgs = 8, .rows = 1});
  const scoped_environment wrong("LIBTUNE_OBJECTIVE", "cheap");
  CHECK_THROWS_AS(autotune(context, {}, options), tune::environment_error);
}

TEST_CASE_FIXTURE(application,
                  "the result for the time is where a search for another goal begins") {
  counted_autotuner counted;
  counted.autotune(context, {}, options);
  heard->order.clear();
  options.goal = tune::tuning_goal{.objectives = {tune::maximise("items")}};
  counted.autotune(context, {}, options);
  REQUIRE_FALSE(heard->order.empty());
  CHECK(heard->order.front() == "wgs=2, rows=1");
}

TEST_CASE_FIXTURE(
    application,
    "an interrupted search goes on for its own goal, with its metrics, and for no other") {
  counted_autotuner counted;
  options.goal = tune::tuning_goal{.objectives = {tune::maximise("items")}};
  options.budget = tune::tuning_budget{.trials = 3};
  counted.autotune(context, {}, options);
  options.mode = tune::tuning_mode::resume;
  options.budget.reset();
  options.goal = tune::tuning_goal{.objectives = {tune::minimise("items")}};
  counted.autotune(context, {}, options);
  CHECK(heard->started.taken_over == 0);
  options.goal = tune::tuning_goal{.objectives = {tune::maximise("items")}};
  CHECK(counted.autotune(context, {}, options) == largest);
  CHECK(heard->started.taken_over == 3);
}

TEST_CASE_FIXTURE(application, "a configuration that does harm is denied whatever the goal is") {
  tune::tuning_database database(path);
  const tune::function_identity by_time = sample::scale_function();
  const tune::record_key key = sample::key_on(context.device());
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

}  // namespace lookup_test::of_goal_lookup

// What becomes of a stored result when the space that it was found in has changed.
namespace lookup_test::of_changed_space {

using sample::scale_key;
using tune::testing::fake_call;

using space_function = std::function<tune::space<scale_tuning>()>;

/// One start of an application after another, with the same database and device: each has the
/// autotuner "sample.changed" over a space of its own.
struct application {
  tune::testing::test_mode_guard mode{tune::testing::test_mode::off};
  tune::testing::temporary_directory folder;
  tune::testing::fake_device fake = sample::make_device();
  tune::context context = fake.device().create_context();
  int calls = 0;     // of the author's function
  int searches = 0;  // that began
  int measured = 0;  // configurations that were generated
  std::function<void(tune::tuning_session&)> before = [](tune::tuning_session&) {};
  int stages = 1;

  tune::tuning_options options(tune::tuning_mode what = tune::tuning_mode::tune) const {
    return {.database = (folder / "tuning.db").string(), .mode = what};
  }

  /// Starts it and asks so many times.
  scale_tuning start(const space_function& make_space, int times = 1,
                     tune::tuning_mode what = tune::tuning_mode::tune) {
    calls = searches = measured = 0;
    const tune::autotuner<scale_key, scale_tuning> autotune{
        {.name = "sample.changed", .version = 0, .test = sample::test_default},
        [&](tune::tuning_session& session, const scale_key&) {
          ++calls;
          before(session);
          scale_tuning best;
          for (int stage = 0; stage < stages; ++stage) {
            tune::space<scale_tuning> space = make_space();
            // A later search goes on from the result of the one before.
            if (stage > 0) space = stage_after(best);
            best = session.tune(space, [&](const scale_tuning& tuning) {
              ++measured;
              return sample::generate(session.context(), tuning);
            });
            ++searches;
          }
          return best;
        }};
    scale_tuning found;
    for (int i = 0; i < times; ++i) found = autotune(context, {}, options(what));
    return found;
  }

  static tune::space<scale_tuning> stage_after(const scale_tuning& best) {
    tune::space<scale_tuning> space;
    space.add(&scale_tuning::wgs, {best.wgs});
    space.add(&scale_tuning::rows, {0, 3});
    return space;
  }
};

tune::space<scale_tuning> without_fastest() {
  auto space = sample::make_space();
  space.restrict([](const scale_tuning& t) { return t != fastest; }, "not the fastest");
  return space;
}

tune::space<scale_tuning> with_more() {
  tune::space<scale_tuning> space;
  space.add(&scale_tuning::wgs, {4, 2, 8, 1});
  space.add(&scale_tuning::rows, {1, 2});
  return space;
}

tune::space<scale_tuning> with_needs() {
  auto space = sample::make_space();
  space.needs([](const scale_tuning& tuning) {
    const auto items = static_cast<std::size_t>(tuning == fastest ? 4096 : 1);
    return tune::resources{.work_group = {items, 1, 1}};
  });
  return space;
}

TEST_CASE_FIXTURE(application,
                  "a result that a new restriction forbids is tuned anew, and replaced") {
  CHECK(start(sample::make_space) == fastest);
  const scale_tuning now = start(without_fastest, 3);
  CHECK(now == scale_tuning{.wgs = 2, .rows = 2});
  CHECK(searches == 1);
  CHECK(start(without_fastest) == now);
  CHECK(searches == 0);
}

TEST_CASE_FIXTURE(application, "a result that asks for more than is declared now is tuned anew") {
  CHECK(start(sample::make_space) == fastest);
  CHECK(start(with_needs) == scale_tuning{.wgs = 2, .rows = 2});
  CHECK(searches == 1);
}

TEST_CASE_FIXTURE(application,
                  "without tuning a result that is forbidden is a miss like any other") {
  CHECK(start(sample::make_space) == fastest);
  CHECK_THROWS_AS(start(without_fastest, 1, tune::tuning_mode::cached), tune::not_tuned_error);
  CHECK(start(without_fastest, 2, tune::tuning_mode::defaults) == sample::test_default);
  CHECK(searches == 0);
}

TEST_CASE_FIXTURE(application,
                  "a result that is still in the space is used, and the space looked at once") {
  CHECK(start(sample::make_space, 3) == fastest);
  CHECK(calls == 1);
  const std::size_t compiled = fake.calls(fake_call::compile);
  for (const space_function& space :
       {space_function(sample::make_space), space_function(with_more)}) {
    CHECK(start(space, 5) == fastest);
    CHECK(calls == 1);
    CHECK(measured == 0);
  }
  CHECK(fake.calls(fake_call::compile) == compiled);
}

TEST_CASE_FIXTURE(application, "a lookup neither compiles nor tunes to see the space") {
  int inner_searches = 0;
  const tune::autotuner<scale_key, scale_tuning> inner{
      {.name = "sample.inner"}, [&](tune::tuning_session& session, const scale_key&) {
        ++inner_searches;
        return session.tune(sample::make_space(), [&](const scale_tuning& tuning) {
          return sample::generate(session.context(), tuning);
        });
      }};
  CHECK(start(sample::make_space) == fastest);
  const std::size_t compiled = fake.calls(fake_call::compile);
  SUBCASE("where it compiles before it searches") {
    before = [](tune::tuning_session& session) {
      static_cast<void>(sample::compile(session.context(), {.wgs = 5}));
    };
  }
  SUBCASE("where another is tuned before it searches") {
    before = [&](tune::tuning_session& session) {
      static_cast<void>(inner(session.context(), {.size = 7}, options()));
    };
  }
  SUBCASE("where it fails before it searches") {
    before = [](tune::tuning_session&) { throw std::runtime_error("not now"); };
  }
  SUBCASE("where it fails with something else") {
    before = [](tune::tuning_session&) { throw 7; };
  }
  // It cannot be told, so the result is used as it is.
  CHECK(start(without_fastest, 2) == fastest);
  CHECK(calls == 1);
  CHECK(inner_searches == 0);
  CHECK(fake.calls(fake_call::compile) == compiled);
}

TEST_CASE_FIXTURE(
    application,
    "what a function makes of several searches need not be in the space of the first") {
  stages = 2;
  const scale_tuning found = start(sample::make_space);
  CHECK(found == scale_tuning{.wgs = 2, .rows = 0});
  CHECK(start(sample::make_space) == found);
  CHECK(searches == 0);
}

TEST_CASE_FIXTURE(application,
                  "a result without a trial, as one that was imported, is used as it is") {
  CHECK(start(sample::make_space) == fastest);
  store((folder / "tuning.db").string(), context, {.wgs = 9, .rows = 9}, std::nullopt,
        "sample.changed");
  CHECK(start(sample::make_space) == scale_tuning{.wgs = 9, .rows = 9});
  CHECK(searches == 0);
}

}  // namespace lookup_test::of_changed_space

// An application that has to use the results of a lock (LIBTUNE_LOCK).
namespace lookup_test::of_locked_lookup {

using tune::not_locked_error;

constexpr scale_tuning locked_tuning{.wgs = 8, .rows = 2};  // not the fastest

struct application : counted_application {
  /// Writes a lock for sizes of scale_key, a file of its own each time, because a process keeps it.
  std::string lock(const std::vector<int>& sizes, const std::vector<std::string>& programs = {}) {
    tune::locked_function one{.function = sample::scale_function(), .results = {}};
    for (const int size : sizes) {
      one.results.push_back({.arguments = tune::to_values(sample::scale_key{size}),
                             .values = tune::to_values(locked_tuning),
                             .device = context.device().info().identity,
                             .programs = programs,
                             .library_version = std::string(tune::library_version())});
    }
    std::string file = folder / ("lock" + std::to_string(++locks) + ".json");
    std::ofstream(file) << tune::tuning_lock({one}).to_json();
    return file;
  }

  int locks = 0;
};

TEST_CASE_FIXTURE(
    application, "with a lock its results alone are used, whatever the database and the mode say") {
  REQUIRE(counted.autotune(context) == fastest);
  const int searches = counted.searches;
  const scoped_environment named("LIBTUNE_LOCK", lock({64}).c_str());
  for (const char* mode : {"tune", "resume", "cached", "default", "force", "behind"}) {
    CAPTURE(mode);
    const scoped_environment set("LIBTUNE_MODE", mode);
    CHECK(counted.autotune(context) == locked_tuning);
    CHECK_THROWS_WITH_AS(counted.autotune(context, {.size = 65}),
                         doctest::Contains("it has this function, but not this key"),
                         not_locked_error);
  }
  CHECK(counted.searches == searches);
}

TEST_CASE_FIXTURE(application,
                  "a lock neither makes nor reads a database, and notes no missed keys") {
  const std::string file = lock({64});
  const scoped_environment named("LIBTUNE_LOCK", file.c_str());
  CHECK(counted.autotune(context) == locked_tuning);
  CHECK_THROWS_AS(counted.autotune(context, {.size = 65}), not_locked_error);
  for (const auto& entry : std::filesystem::directory_iterator(folder.path())) {
    CHECK(entry.path() == file);
  }
}

TEST_CASE_FIXTURE(application, "a lock can be an option, over which the environment wins") {
  const tune::tuning_options options{.lock = lock({64})};
  CHECK(counted.autotune(context, {}, options) == locked_tuning);
  CHECK_THROWS_AS(counted.autotune(context, {.size = 65}, options), not_locked_error);
  const scoped_environment named("LIBTUNE_LOCK", lock({65}).c_str());
  CHECK(counted.autotune(context, {.size = 65}, options) == locked_tuning);
  CHECK_THROWS_AS(counted.autotune(context, {}, options), not_locked_error);
}

TEST_CASE_FIXTURE(application, "the result of another driver is none of this device") {
  const scoped_environment named("LIBTUNE_LOCK", lock({64}).c_str());
  const auto other = sample::make_device("fake device", "2.0").device().create_context();
  CHECK_THROWS_WITH_AS(counted.autotune(other),
                       doctest::Contains("for device 'fake device', which differs in"),
                       not_locked_error);
}

TEST_CASE_FIXTURE(application, "a lock that cannot be read is an error that names it") {
  const std::string missing = folder / "none.json";
  {
    const scoped_environment named("LIBTUNE_LOCK", missing.c_str());
    CHECK_THROWS_WITH_AS(counted.autotune(context), doctest::Contains("none.json"),
                         not_locked_error);
  }
  const std::string damaged = folder / "damaged.json";
  std::ofstream(damaged) << lock({64}).substr(0, 10);
  const scoped_environment named("LIBTUNE_LOCK", damaged.c_str());
  CHECK_THROWS_WITH_AS(counted.autotune(context), doctest::Contains("it is not JSON"),
                       not_locked_error);
}

TEST_CASE_FIXTURE(
    application, "a locked program is compiled as it was, and refused where its text has changed") {
  {
    const scoped_environment named("LIBTUNE_LOCK", lock({64}, {"00ff"}).c_str());
    REQUIRE(counted.autotune(context) == locked_tuning);
    CHECK_THROWS_WITH_AS(sample::compile(context, locked_tuning),
                         doctest::Contains("the kernel has changed since the result was locked"),
                         not_locked_error);
    // It is refused once; the next program of this configuration may be another template's.
    CHECK_NOTHROW(sample::compile(context, locked_tuning));
  }
  const scoped_environment named("LIBTUNE_LOCK", lock({64}, {"00ff", "?"}).c_str());
  REQUIRE(counted.autotune(context) == locked_tuning);
  CHECK_NOTHROW(sample::compile(context, locked_tuning));
}

TEST_CASE_FIXTURE(application, "in a test the declared default is returned, lock or not") {
  const scoped_environment named("LIBTUNE_LOCK", lock({64}).c_str());
  const test_mode_guard in_test(test_mode::defaults);
  CHECK(counted.autotune(context) == test_default);
}

}  // namespace lookup_test::of_locked_lookup
