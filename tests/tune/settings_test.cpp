// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tune/settings.hpp"

#include <chrono>
#include <doctest/doctest.h>

#include "libtune/base/error.hpp"
#include "libtune/testing/fake_device.hpp"
#include "libtune/testing/fixtures.hpp"
#include "libtune/tune/options.hpp"

namespace settings_test {

using namespace std::chrono_literals;
using tune::testing::scoped_environment;

struct bare_environment {
  scoped_environment database{"LIBTUNE_DB", nullptr};
  scoped_environment system{"LIBTUNE_SYSTEM_DB", nullptr};
  scoped_environment match{"LIBTUNE_MATCH", nullptr};
  scoped_environment mode{"LIBTUNE_MODE", nullptr};
  scoped_environment wait{"LIBTUNE_WAIT", nullptr};
  scoped_environment isolation{"LIBTUNE_ISOLATION", nullptr};
  scoped_environment trial_time{"LIBTUNE_TRIAL_TIME", nullptr};
  scoped_environment cache{"XDG_CACHE_HOME", nullptr};
  scoped_environment home{"HOME", "/home/someone"};
};

TEST_CASE("without options and environment the defaults hold") {
  const bare_environment bare;
  const auto settings = tune::resolve_settings({});
  CHECK(settings.database == "/home/someone/.cache/libtune/tuning.db");
  CHECK(settings.match == tune::match_mode::exact);
  CHECK(settings.mode == tune::tuning_mode::tune);
  CHECK(settings.wait == std::chrono::minutes(10));
}

TEST_CASE("the environment wins over the defaults, the options over the environment") {
  const bare_environment bare;
  const scoped_environment database("LIBTUNE_DB", "/x.db");
  const scoped_environment match("LIBTUNE_MATCH", "nearest");
  const scoped_environment mode("LIBTUNE_MODE", "default");
  auto settings = tune::resolve_settings({});
  CHECK(settings.database == "/x.db");
  CHECK(settings.match == tune::match_mode::nearest);
  CHECK(settings.mode == tune::tuning_mode::defaults);
  settings = tune::resolve_settings(
      {.database = "/y.db", .match = tune::match_mode::exact, .mode = tune::tuning_mode::force});
  CHECK(settings.database == "/y.db");
  CHECK(settings.match == tune::match_mode::exact);
  CHECK(settings.mode == tune::tuning_mode::force);
}

TEST_CASE("system databases are listed with colons, or in the options, which win") {
  const bare_environment bare;
  using paths = std::vector<std::string>;
  CHECK(tune::resolve_settings({}).system_databases.empty());
  const scoped_environment system("LIBTUNE_SYSTEM_DB", "/a.db::/b c.db:");
  CHECK(tune::resolve_settings({}).system_databases == paths{"/a.db", "/b c.db"});
  CHECK(tune::resolve_settings({.system_databases = {{"/x.db"}}}).system_databases ==
        paths{"/x.db"});
  CHECK(tune::resolve_settings({.system_databases = paths{}}).system_databases.empty());
}

TEST_CASE("a result may be verified instead of trusted") {
  const bare_environment bare;
  const scoped_environment match("LIBTUNE_MATCH", "verify");
  CHECK(tune::resolve_settings({}).match == tune::match_mode::verify);
}

TEST_CASE("a variable that the options make irrelevant is not read") {
  const bare_environment bare;
  const scoped_environment mode("LIBTUNE_MODE", "nonsense");
  CHECK(tune::resolve_settings({.mode = tune::tuning_mode::cached}).mode ==
        tune::tuning_mode::cached);
  CHECK_THROWS_AS(tune::resolve_settings({}), tune::environment_error);
}

TEST_CASE("waiting has an end, whatever is asked for") {
  const bare_environment bare;
  {
    const scoped_environment wait("LIBTUNE_WAIT", "0");
    CHECK(tune::resolve_settings({}).wait == 0ms);
    CHECK(tune::resolve_settings({.wait = 5ms}).wait == 5ms);
  }
  {
    const scoped_environment wait("LIBTUNE_WAIT", "7");
    CHECK(tune::resolve_settings({}).wait == 7s);
  }
  const scoped_environment longest("LIBTUNE_WAIT", "18446744073709551615");
  CHECK(tune::resolve_settings({}).wait == std::chrono::hours(24 * 365));
  CHECK(tune::resolve_settings({.wait = std::chrono::milliseconds::max()}).wait ==
        std::chrono::hours(24 * 365));
  CHECK(tune::resolve_settings({.wait = -1ms}).wait == 0ms);
  const scoped_environment nonsense("LIBTUNE_WAIT", "2 s");
  CHECK_THROWS_WITH_AS(tune::resolve_settings({}), doctest::Contains("LIBTUNE_WAIT"),
                       tune::environment_error);
}

TEST_CASE("where searches run is what options say, else the environment, else automatic") {
  const bare_environment bare;
  CHECK(tune::resolve_isolation({}) == tune::isolation_mode::automatic);
  const scoped_environment given("LIBTUNE_ISOLATION", "off");
  CHECK(tune::resolve_isolation({}) == tune::isolation_mode::off);
  CHECK(tune::resolve_isolation({.isolation = tune::isolation_mode::on}) ==
        tune::isolation_mode::on);
  const scoped_environment nonsense("LIBTUNE_ISOLATION", "maybe");
  CHECK_THROWS_WITH_AS(tune::resolve_isolation({}), doctest::Contains("LIBTUNE_ISOLATION"),
                       tune::environment_error);
}

TEST_CASE("a configuration has at least a millisecond and at most a year") {
  const bare_environment bare;
  CHECK(tune::resolve_trial_time({}) == 10s);
  CHECK(tune::resolve_trial_time({.floor = 0ms}) == 1ms);
  CHECK(tune::resolve_trial_time({.floor = std::chrono::milliseconds::max()}) ==
        std::chrono::hours(24 * 365));
  const scoped_environment given("LIBTUNE_TRIAL_TIME", "3");
  CHECK(tune::resolve_trial_time({}) == 3s);
  const scoped_environment longest("LIBTUNE_TRIAL_TIME", "18446744073709551615");
  CHECK(tune::resolve_trial_time({}) == std::chrono::hours(24 * 365));
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
  for (const auto mode : {tune::tuning_mode::tune, tune::tuning_mode::cached,
                          tune::tuning_mode::defaults, tune::tuning_mode::force}) {
    const scoped_environment word("LIBTUNE_MODE", tune::tuning_mode_name(mode));
    CHECK(tune::resolve_settings({}).mode == mode);
  }
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

}  // namespace settings_test::of_options
