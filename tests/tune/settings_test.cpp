// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tune/settings.hpp"

#include <chrono>
#include <doctest/doctest.h>
#include <vector>

#include "libtune/base/error.hpp"
#include "libtune/testing/fake_device.hpp"
#include "libtune/testing/fixtures.hpp"
#include "libtune/tune/lookup_plan.hpp"
#include "libtune/tune/options.hpp"

namespace settings_test {

using namespace std::chrono_literals;
using tune::lookup_candidates;
using tune::lookup_plan;
using tune::lookup_step;
using tune::match_mode;
using tune::tuning_mode;
using tune::testing::scoped_environment;

struct bare_environment {
  scoped_environment database{"LIBTUNE_DB", nullptr};
  scoped_environment system{"LIBTUNE_SYSTEM_DB", nullptr};
  scoped_environment match{"LIBTUNE_MATCH", nullptr};
  scoped_environment mode{"LIBTUNE_MODE", nullptr};
  scoped_environment wait{"LIBTUNE_WAIT", nullptr};
  scoped_environment isolation{"LIBTUNE_ISOLATION", nullptr};
  scoped_environment trial_time{"LIBTUNE_TRIAL_TIME", nullptr};
  scoped_environment strategy{"LIBTUNE_STRATEGY", nullptr};
  scoped_environment budget{"LIBTUNE_BUDGET", nullptr};
  scoped_environment good_enough{"LIBTUNE_GOOD_ENOUGH", nullptr};
  scoped_environment ready{"LIBTUNE_READY", nullptr};
  scoped_environment early_end{"LIBTUNE_EARLY_END", nullptr};
  scoped_environment objective{"LIBTUNE_OBJECTIVE", nullptr};
  scoped_environment cache{"XDG_CACHE_HOME", nullptr};
  scoped_environment home{"HOME", "/home/someone"};
};

TEST_CASE("without options and environment the defaults hold") {
  const bare_environment bare;
  const auto settings = tune::resolve_settings({});
  CHECK(settings.database == "/home/someone/.cache/libtune/tuning.db");
  CHECK(settings.match == tune::match_mode::exact);
  CHECK(settings.mode == tune::tuning_mode::tune);
  CHECK(settings.wait() == std::chrono::minutes(10));
}

TEST_CASE("the environment wins over the options, and these over the defaults") {
  const bare_environment bare;
  tune::tuning_options given{
      .database = "/y.db", .match = tune::match_mode::exact, .mode = tune::tuning_mode::force};
  auto settings = tune::resolve_settings(given);
  CHECK(settings.database == "/y.db");
  CHECK(settings.match == tune::match_mode::exact);
  CHECK(settings.mode == tune::tuning_mode::force);
  CHECK_FALSE(settings.mode_of_process);
  const scoped_environment database("LIBTUNE_DB", "/x.db");
  const scoped_environment match("LIBTUNE_MATCH", "nearest");
  const scoped_environment mode("LIBTUNE_MODE", "default");
  for (const tune::tuning_options& options : {tune::tuning_options{}, given}) {
    settings = tune::resolve_settings(options);
    CHECK(settings.database == "/x.db");
    CHECK(settings.match == tune::match_mode::nearest);
    CHECK(settings.mode == tune::tuning_mode::defaults);
    CHECK(settings.mode_of_process);
  }
  given.given_by = tune::option_source::command;
  settings = tune::resolve_settings(given);
  CHECK_MESSAGE(settings.database == "/y.db", "a command line wins over the environment");
  CHECK(settings.match == tune::match_mode::exact);
  CHECK(settings.mode == tune::tuning_mode::force);
}

TEST_CASE("system databases are listed with colons, or in the options") {
  const bare_environment bare;
  using paths = std::vector<std::string>;
  CHECK(tune::resolve_settings({}).system_databases.empty());
  CHECK(tune::resolve_settings({.system_databases = {{"/y.db"}}}).system_databases ==
        paths{"/y.db"});
  const scoped_environment system("LIBTUNE_SYSTEM_DB", "/a.db::/b c.db:");
  CHECK(tune::resolve_settings({}).system_databases == paths{"/a.db", "/b c.db"});
  CHECK(tune::resolve_settings({.system_databases = {{"/x.db"}}}).system_databases ==
        paths{"/a.db", "/b c.db"});
  CHECK(tune::resolve_settings(
            {.system_databases = paths{}, .given_by = tune::option_source::command})
            .system_databases.empty());
}

TEST_CASE("a server in the place of a file is refused, without its password") {
  const bare_environment bare;
  const std::string url = "postgresql://user:s3cret@host/base";
  const auto refusal = [](const tune::tuning_options& given) -> std::string {
    try {
      tune::resolve_settings(given);
    } catch (const tune::error& failure) {
      return failure.what();
    }
    return "it is taken for a file, with s3cret";
  };
  CHECK(refusal({.database = url}).find("s3cret") == std::string::npos);
  for (const char* variable :
       {"LIBTUNE_DB", "LIBTUNE_SYSTEM_DB", "LIBTUNE_MISSED", "LIBTUNE_LOCK", "LIBTUNE_REPORT"}) {
    CAPTURE(variable);
    const scoped_environment set(variable, url.c_str());
    CHECK(refusal({}).find("s3cret") == std::string::npos);
    CHECK(refusal({}).find("LIBTUNE_SHARED_DB") != std::string::npos);
  }
  const scoped_environment list("LIBTUNE_SYSTEM_DB", ("/a.db:" + url).c_str());
  CHECK(refusal({}).find("s3cret") == std::string::npos);
}

TEST_CASE("a result may be verified instead of trusted") {
  const bare_environment bare;
  const scoped_environment match("LIBTUNE_MATCH", "verify");
  CHECK(tune::resolve_settings({}).match == tune::match_mode::verify);
}

TEST_CASE("a variable that a command line makes irrelevant is not read") {
  const bare_environment bare;
  const scoped_environment mode("LIBTUNE_MODE", "nonsense");
  tune::tuning_options options{.mode = tune::tuning_mode::cached};
  CHECK_THROWS_AS(tune::resolve_settings(options), tune::environment_error);
  options.given_by = tune::option_source::command;
  CHECK(tune::resolve_settings(options).mode == tune::tuning_mode::cached);
}

TEST_CASE("waiting has an end, whatever is asked for") {
  const bare_environment bare;
  const auto wait = [](tune::tuning_options options) { return tune::search_options(options).wait; };
  CHECK(wait({.wait = 5ms}) == 5ms);
  CHECK(wait({.wait = std::chrono::milliseconds::max()}) == std::chrono::hours(24 * 365));
  CHECK(wait({.wait = -1ms}) == 0ms);
  CHECK(tune::search_options({}, 2s).wait == 2s);
  {
    const scoped_environment given("LIBTUNE_WAIT", "0");
    CHECK(wait({}) == 0ms);
    CHECK(wait({.wait = 5ms}) == 0ms);
    CHECK(wait({.wait = 5ms, .given_by = tune::option_source::command}) == 5ms);
  }
  const scoped_environment longest("LIBTUNE_WAIT", "18446744073709551615");
  CHECK(wait({}) == std::chrono::hours(24 * 365));
  const scoped_environment nonsense("LIBTUNE_WAIT", "2 s");
  CHECK_THROWS_WITH_AS(wait({}), doctest::Contains("LIBTUNE_WAIT"), tune::environment_error);
}

TEST_CASE("searches run where the environment says, else the options") {
  const bare_environment bare;
  const auto place = [](tune::tuning_options options) {
    return tune::search_options(options).isolation;
  };
  CHECK_MESSAGE(place({}) == tune::isolation_mode::off, "in tests");
  CHECK(place({.isolation = tune::isolation_mode::on}) == tune::isolation_mode::on);
  const scoped_environment given("LIBTUNE_ISOLATION", "automatic");
  CHECK(place({}) == tune::isolation_mode::automatic);
  CHECK(place({.isolation = tune::isolation_mode::on}) == tune::isolation_mode::automatic);
  const scoped_environment nonsense("LIBTUNE_ISOLATION", "maybe");
  CHECK_THROWS_WITH_AS(place({}), doctest::Contains("LIBTUNE_ISOLATION"), tune::environment_error);
}

TEST_CASE("a configuration has at least a millisecond and at most a year") {
  const bare_environment bare;
  const auto floor = [](std::optional<std::chrono::milliseconds> given) {
    return tune::search_options({.watchdog = {.floor = given}}).watchdog.floor;
  };
  CHECK_FALSE(floor({}));
  CHECK(floor(0ms) == 1ms);
  CHECK(floor(std::chrono::milliseconds::max()) == std::chrono::hours(24 * 365));
  const scoped_environment given("LIBTUNE_TRIAL_TIME", "3");
  CHECK(floor({}) == 3s);
  CHECK(floor(1ms) == 3s);
  const scoped_environment longest("LIBTUNE_TRIAL_TIME", "18446744073709551615");
  CHECK(floor({}) == std::chrono::hours(24 * 365));
}

// ---- who decides a search

const tune::search_defaults authors{.strategy = "local",
                                    .budget = {.trials = 40},
                                    .max_count = 50,
                                    .early_end = false,
                                    .measure = tune::measure_settings{.max_iterations = 7},
                                    .verify = tune::result_check::finalists};

TEST_CASE("the author of an operation decides where nobody else does") {
  const bare_environment bare;
  const auto decided = tune::decide(tune::search_options({}), authors);
  CHECK(decided.options.strategy == "local");
  CHECK(decided.options.budget->trials == 40);
  CHECK(decided.options.search.max_count == 50);
  CHECK(decided.options.search.early_end == false);
  CHECK(decided.options.measure->max_iterations == 7);
  CHECK(decided.options.verify == tune::result_check::finalists);
  CHECK(decided.sources ==
        "strategy local (author), limits 40 trials, 50 configurations (author), early end off "
        "(author), 3 to 7 runs (author), check of finalists (author)");
  CHECK(tune::decide(tune::search_options({}), {}).sources.empty());
}

TEST_CASE("the application wins over the author, the environment over both, pretuning over all") {
  const bare_environment bare;
  tune::tuning_options application{.strategy = "genetic"};
  application.search.max_fraction = 0.5;
  auto decided = tune::decide(tune::search_options(application), authors);
  CHECK(decided.options.strategy == "genetic");
  CHECK_FALSE(decided.options.budget);
  CHECK_FALSE(decided.options.search.max_count);
  CHECK(decided.options.search.max_fraction == 0.5);
  CHECK(decided.options.verify == tune::result_check::finalists);
  CHECK(decided.sources.starts_with(
      "strategy genetic (application), limits 0.5 of the space (application), early end off "
      "(author)"));

  const scoped_environment strategy("LIBTUNE_STRATEGY", "random");
  const scoped_environment budget("LIBTUNE_BUDGET", "9 trials");
  const scoped_environment end("LIBTUNE_EARLY_END", "on");
  decided = tune::decide(tune::search_options(application), authors);
  CHECK(decided.options.strategy == "random");
  CHECK(decided.options.budget->trials == 9);
  CHECK_FALSE(decided.options.search.max_fraction);
  CHECK(decided.options.search.early_end == true);
  CHECK(decided.sources.starts_with(
      "strategy random (LIBTUNE_STRATEGY), limits 9 trials (LIBTUNE_BUDGET), early end on "
      "(LIBTUNE_EARLY_END), 3 to 7 runs (author)"));

  tune::tuning_options command = application;
  command.given_by = tune::option_source::command;
  decided = tune::decide(tune::search_options(command), authors);
  CHECK(decided.options.strategy == "genetic");
  CHECK(decided.options.search.max_fraction == 0.5);
  CHECK_FALSE(decided.options.budget);
  CHECK_MESSAGE(decided.options.search.early_end == true, "the command line says nothing of it");
  CHECK(decided.sources.starts_with(
      "strategy genetic (command line), limits 0.5 of the space (command line), early end on "
      "(LIBTUNE_EARLY_END)"));
}

TEST_CASE("the source of the goal is named, unless it is the library's") {
  const bare_environment bare;
  const auto sources = [](const tune::tuning_options& given,
                          const std::optional<tune::tuning_goal>& authors) {
    return tune::decide(tune::search_options(given), {}, authors).sources;
  };
  const tune::tuning_goal gflops{.objectives = {tune::maximise("gflops")}};
  const tune::tuning_goal energy{.objectives = {tune::minimise("energy")}};
  CHECK(sources({}, std::nullopt).empty());
  CHECK(sources({}, gflops) == "goal max gflops (author)");
  CHECK(sources({.goal = energy}, gflops) == "goal min energy (application)");
  tune::tuning_options command{.goal = energy, .given_by = tune::option_source::command};
  {
    const scoped_environment objective("LIBTUNE_OBJECTIVE", "min time, power <= 100");
    const std::string expected = "goal min time, power <= 100 (LIBTUNE_OBJECTIVE)";
    CHECK(sources({}, gflops) == expected);
    CHECK(sources({.goal = energy}, gflops) == expected);
    CHECK(sources(tune::search_options({.goal = energy}), gflops) == expected);
    CHECK(sources(command, gflops) == "goal min energy (command line)");
    command.goal.reset();
    CHECK(sources(command, gflops) == expected);
  }
  CHECK(tune::decide(tune::search_options({}), {}, gflops).options.goal == gflops);
}

TEST_CASE("an application may lift the limits of the author") {
  const bare_environment bare;
  const auto decided =
      tune::decide(tune::search_options({.budget = tune::tuning_budget{}}), authors);
  CHECK(decided.options.budget == tune::tuning_budget{});
  CHECK_FALSE(decided.options.search.max_count);
  CHECK(decided.sources.find("limits none (application)") != std::string::npos);
}

TEST_CASE("a strategy that is not there is an error that lists the names, and says who asked") {
  const bare_environment bare;
  CHECK_NOTHROW(tune::require_strategy({}));
  CHECK_NOTHROW(tune::require_strategy({.strategy = "genetic"}));
  CHECK_THROWS_WITH_AS(tune::require_strategy({.strategy = "annealing"}),
                       doctest::Contains("'annealing' in this process; the strategies are exhaus"),
                       tune::argument_error);
  const scoped_environment strategy("LIBTUNE_STRATEGY", "annealing");
  CHECK_THROWS_WITH_AS(tune::require_strategy(tune::search_options({})),
                       doctest::Contains("LIBTUNE_STRATEGY is 'annealing'"),
                       tune::environment_error);
}

TEST_CASE("the database is in the user's cache folder, where there is one") {
  const bare_environment bare;
  {
    const scoped_environment cache("XDG_CACHE_HOME", "/var/tmp/cache");
    CHECK(tune::default_database_path() == "/var/tmp/cache/libtune/tuning.db");
  }
  {
    const scoped_environment relative("XDG_CACHE_HOME", "cache");
    CHECK(tune::default_database_path() == "/home/someone/.cache/libtune/tuning.db");
  }
  const scoped_environment homeless("HOME", nullptr);
  CHECK(tune::default_database_path().empty());
}

TEST_CASE("every mode has the word that the environment takes") {
  const bare_environment bare;
  for (const auto mode :
       {tune::tuning_mode::tune, tune::tuning_mode::cached, tune::tuning_mode::defaults,
        tune::tuning_mode::force, tune::tuning_mode::behind}) {
    const scoped_environment word("LIBTUNE_MODE", tune::tuning_mode_name(mode));
    CHECK(tune::resolve_settings({}).mode == mode);
  }
}

TEST_CASE("what is good enough is apart from the limits, and lifts none of them") {
  const bare_environment bare;
  const tune::search_defaults author{.budget = {.time = std::chrono::seconds(20)}};
  const auto decided = [&](const tune::tuning_options& given) {
    return tune::decide(tune::search_options(given), author, std::nullopt);
  };
  {
    const scoped_environment enough("LIBTUNE_GOOD_ENOUGH", "5%");
    const auto made = decided({});
    CHECK(made.options.budget ==
          tune::tuning_budget{.time = std::chrono::seconds(20), .within = 0.05});
    CHECK(made.sources == "limits 20 s (author), good enough within 5 % (LIBTUNE_GOOD_ENOUGH)");
    const tune::tuning_options given{.budget = tune::tuning_budget{.trials = 7, .within = 0.01}};
    CHECK(tune::search_options(given).budget == tune::tuning_budget{.trials = 7, .within = 0.05});
    auto command = given;
    command.given_by = tune::option_source::command;
    CHECK(tune::search_options(command).budget == given.budget);
  }
  CHECK(decided({.budget = tune::tuning_budget{.within = 0.02}}).options.budget ==
        tune::tuning_budget{.time = std::chrono::seconds(20), .within = 0.02});
  CHECK(decided({.budget = tune::tuning_budget{.trials = 3}}).options.budget ==
        tune::tuning_budget{.trials = 3});
  {
    const scoped_environment budget("LIBTUNE_BUDGET", "9 trials");
    const scoped_environment enough("LIBTUNE_GOOD_ENOUGH", "0.5 %");
    CHECK(tune::search_options({}).budget == tune::tuning_budget{.trials = 9, .within = 0.005});
  }
  for (const char* wrong : {"5", "-1%", "0%", "much", "5%, 3 trials", "5 s", ""}) {
    const scoped_environment nonsense("LIBTUNE_GOOD_ENOUGH", wrong);
    if (*wrong == 0) {
      CHECK_FALSE(tune::search_options({}).budget);  // an empty variable is none
      continue;
    }
    CHECK_THROWS_WITH_AS(tune::search_options({}), doctest::Contains("LIBTUNE_GOOD_ENOUGH"),
                         tune::environment_error);
  }
}

TEST_CASE("the pace behind an application is that of the environment, in its bounds") {
  const bare_environment bare;
  const scoped_environment no_share("LIBTUNE_SHARE", nullptr);
  const scoped_environment no_slice("LIBTUNE_SLICE", nullptr);
  const scoped_environment no_slack("LIBTUNE_SLACK", nullptr);
  const tune::tuning_options given{.behind = {.share = 0.5, .slice = std::chrono::microseconds(7)}};
  CHECK_FALSE(tune::search_options({}).behind.share);
  CHECK(tune::search_options(given).behind.share == 0.5);
  const scoped_environment share("LIBTUNE_SHARE", "20");
  const scoped_environment slice("LIBTUNE_SLICE", "500");
  const scoped_environment slack("LIBTUNE_SLACK", "35");
  CHECK(tune::search_options(given).behind.slack == 0.35);
  CHECK(tune::search_options(given).behind.share == 0.2);
  CHECK(tune::search_options(given).behind.slice == std::chrono::microseconds(500));
  for (const char* wrong : {"0", "101", "5 %"}) {
    const scoped_environment nonsense("LIBTUNE_SHARE", wrong);
    CHECK_THROWS_WITH_AS(tune::search_options({}), doctest::Contains("LIBTUNE_SHARE"),
                         tune::environment_error);
  }
  {
    const scoped_environment nonsense("LIBTUNE_SLACK", "1001");
    CHECK_THROWS_WITH_AS(tune::search_options({}), doctest::Contains("LIBTUNE_SLACK"),
                         tune::environment_error);
  }
  const scoped_environment never("LIBTUNE_SLICE", "0");
  CHECK_THROWS_WITH_AS(tune::search_options({}), doctest::Contains("LIBTUNE_SLICE"),
                       tune::environment_error);
}

struct expectation {
  tuning_mode mode;
  match_mode match;
  lookup_step exact;    ///< with a result of this device and others
  lookup_step nearest;  ///< with results of others alone
  lookup_step nothing;
};

TEST_CASE("mode, match and candidates decide what happens for a key") {
  using mode = tuning_mode;
  using match = match_mode;
  using step = lookup_step;
  const std::vector<expectation> table{
      {mode::tune, match::exact, step::use, step::tune, step::tune},
      {mode::tune, match::nearest, step::use, step::check_first, step::tune},
      {mode::tune, match::verify, step::use, step::verify, step::tune},
      {mode::resume, match::exact, step::use, step::tune, step::tune},
      {mode::resume, match::nearest, step::use, step::check_first, step::tune},
      {mode::resume, match::verify, step::use, step::verify, step::tune},
      {mode::cached, match::exact, step::use, step::fail, step::fail},
      {mode::cached, match::nearest, step::use, step::check_first, step::fail},
      {mode::cached, match::verify, step::use, step::check_first, step::fail},
      {mode::defaults, match::exact, step::use, step::test_default, step::test_default},
      {mode::defaults, match::verify, step::use, step::check_first, step::test_default},
      {mode::behind, match::exact, step::use, step::check_first, step::test_default},
      {mode::behind, match::nearest, step::use, step::check_first, step::test_default},
      {mode::behind, match::verify, step::use, step::check_first, step::test_default},
      {mode::force, match::exact, step::tune, step::tune, step::tune},
      {mode::force, match::verify, step::tune, step::tune, step::tune}};
  for (const expectation& row : table) {
    CAPTURE(static_cast<int>(row.mode));
    CAPTURE(static_cast<int>(row.match));
    const lookup_plan plan(row.mode, row.match);
    CHECK(plan.step({.exact = true, .nearest = true}) == row.exact);
    CHECK(plan.step({.nearest = true}) == row.nearest);
    CHECK(plan.step({}) == row.nothing);
    CHECK(plan.replaces() == (row.mode == mode::force || row.mode == mode::resume));
  }
}

TEST_CASE("a search that its budget ended goes on in the mode resume alone") {
  const lookup_candidates found{.exact = true, .stopped = true};
  CHECK(lookup_plan(tuning_mode::resume, match_mode::exact).step(found) == lookup_step::tune);
  CHECK(lookup_plan(tuning_mode::tune, match_mode::exact).step(found) == lookup_step::use);
  CHECK(lookup_plan(tuning_mode::cached, match_mode::exact).step(found) == lookup_step::use);
}

}  // namespace settings_test

namespace settings_test::of_options {

TEST_CASE("options belong to the context, not to the handle") {
  const tune::testing::fake_device fake;
  const auto context = fake.device().create_context();
  const auto copy = context;
  const auto other = fake.device().create_context();
  tune::set_tuning_options(context, {.database = "/a.db"});
  CHECK(tune::tuning_options_of(copy)->database == "/a.db");
  CHECK_FALSE(tune::tuning_options_of(other)->database);
  tune::set_tuning_options(copy, {.database = "/b.db"});
  CHECK(tune::tuning_options_of(context)->database == "/b.db");
}

TEST_CASE("a context without options says nothing") {
  const auto options =
      tune::tuning_options_of(tune::testing::fake_device().device().create_context());
  CHECK_FALSE(options->mode);
  CHECK_FALSE(options->match);
  CHECK_FALSE(options->wait);
  CHECK(options->observers.empty());
  CHECK(options->strategy.empty());
}

TEST_CASE("the time to be ready is a time or off, and anything else is an error") {
  const bare_environment bare;
  CHECK_FALSE(tune::search_options({}).ready);
  const tune::tuning_options given{.ready = 5s};
  CHECK(tune::search_options(given).ready == 5s);
  {
    const scoped_environment ready("LIBTUNE_READY", "60 s");
    CHECK(tune::search_options(given).ready == 60s);
    tune::tuning_options of_command = given;
    of_command.given_by = tune::option_source::command;
    CHECK(tune::search_options(of_command).ready == 5s);
    // A command that tunes holds up no program.
    of_command.ready.reset();
    CHECK_FALSE(tune::search_options(of_command).ready);
  }
  {
    const scoped_environment ready("LIBTUNE_READY", "2min");
    CHECK(tune::search_options({}).ready == 2min);
  }
  {
    const scoped_environment ready("LIBTUNE_READY", "off");
    CHECK(tune::search_options(given).ready == tune::no_ready_limit);
  }
  for (const char* text : {"60", "0 s", "-1 s", "soon", "200 trials", "60 s, 200 trials"}) {
    CAPTURE(text);
    const scoped_environment ready("LIBTUNE_READY", text);
    CHECK_THROWS_WITH_AS(tune::search_options({}), doctest::Contains("LIBTUNE_READY"),
                         tune::environment_error);
  }
}

TEST_CASE("the longest time of a search limits it beside the limits of its author") {
  const bare_environment bare;
  const tune::tuning_options given{.longest_search = 3s};
  const tune::search_defaults author{.max_count = 7};
  const auto decided = tune::decide(tune::search_options(given), author).options;
  REQUIRE(decided.budget);
  CHECK(decided.budget->time == 3s);
  CHECK(decided.search.max_count == 7U);
  const tune::search_defaults brief{.budget = {.time = 1s, .trials = 5}};
  const auto kept = tune::decide(tune::search_options(given), brief).options;
  CHECK(kept.budget == tune::tuning_budget{.time = 1s, .trials = 5});
}

TEST_CASE("settings as options keep their values whatever the environment says then") {
  const bare_environment bare;
  tune::tuning_options given;
  {
    const scoped_environment database("LIBTUNE_DB", "/x.db");
    const scoped_environment match("LIBTUNE_MATCH", "nearest");
    const scoped_environment ready("LIBTUNE_READY", "60 s");
    given = tune::as_options(tune::resolve_settings({}));
  }
  const scoped_environment database("LIBTUNE_DB", "/y.db");
  const scoped_environment match("LIBTUNE_MATCH", "exact");
  const scoped_environment ready("LIBTUNE_READY", "1 s");
  const auto settings = tune::resolve_settings(given);
  CHECK(settings.database == "/x.db");
  CHECK(settings.match == match_mode::nearest);
  CHECK(settings.search.ready == 60s);
}

}  // namespace settings_test::of_options
