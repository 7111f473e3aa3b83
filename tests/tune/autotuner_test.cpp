// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tune/autotuner.hpp"

#include <SQLiteCpp/SQLiteCpp.h>
#include <algorithm>
#include <atomic>
#include <chrono>
#include <doctest/doctest.h>
#include <fcntl.h>
#include <filesystem>
#include <limits>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "libtune/base/fields.hpp"
#include "libtune/store/database/connection.hpp"
#include "libtune/testing/fixtures.hpp"
#include "libtune/testing/run_tests.hpp"
#include "libtune/testing/temporary_directory.hpp"
#include "libtune/tune/autotuner_core.hpp"
#include "libtune/tune/error.hpp"
#include "tests/store/lock_keeper.hpp"
#include "tests/tune/application.hpp"

namespace autotuner_test {

using sample::application;
using sample::counted_application;
using sample::counted_autotuner;
using sample::fastest;
using sample::scale_key;
using sample::test_default;
using tune::testing::scoped_environment;

/// Remembers how the lookups went, and counts the searches that followed.
struct lookup_recorder final : tune::observer {
  void looked_up(const tune::lookup_event& event) override { events.push_back(event); }
  void search_started(const tune::search_started_event&) override { ++searches; }
  std::vector<tune::lookup_event> events;
  int searches = 0;
};

TEST_CASE_FIXTURE(counted_application, "the first call tunes, the second finds the result") {
  CHECK(counted.autotune(context) == fastest);
  CHECK(counted.searches == 1);
  CHECK(counted.autotune(context) == fastest);
  CHECK(counted.searches == 1);
}

TEST_CASE_FIXTURE(application, "another process, with an autotuner of its own, finds the result") {
  counted_autotuner().autotune(context);
  const counted_autotuner counted;
  CHECK(counted.autotune(sample::make_device().device().create_context()) == fastest);
  CHECK(counted.searches == 0);
}

TEST_CASE_FIXTURE(counted_application,
                  "another key, device, driver or version is tuned on its own") {
  counted.autotune(context);
  counted.autotune(context, {.size = 65});
  CHECK(counted.searches == 2);
  counted.autotune(sample::make_device("another device").device().create_context());
  CHECK(counted.searches == 3);
  counted.autotune(sample::make_device("fake device", "1.1").device().create_context());
  CHECK(counted.searches == 4);
  counted_autotuner newer("sample.scale", 1);
  newer.autotune(context);
  CHECK(newer.searches == 1);
}

TEST_CASE_FIXTURE(counted_application,
                  "a nearest match is used where that is allowed, and says what differs") {
  counted.autotune(sample::make_device("fake device", "1.0").device().create_context());
  const auto lookups = std::make_shared<lookup_recorder>();
  tune::tuning_options options;
  options.observers = {lookups};
  SUBCASE("by the environment") {
    const scoped_environment nearest("LIBTUNE_MATCH", "nearest");
    const auto context = sample::make_device("fake device", "2.0").device().create_context();
    CHECK(counted.autotune(context, {}, options) == fastest);
  }
  SUBCASE("by the options") {
    options.match = tune::match_mode::nearest;
    const auto context = sample::make_device("fake device", "2.0").device().create_context();
    CHECK(counted.autotune(context, {}, options) == fastest);
  }
  CHECK(counted.calls == 2);  // the second time only as far as its search, to learn the space
  REQUIRE(lookups->events.size() == 1);
  CHECK(lookups->events[0].grade == tune::lookup_grade::nearest);
  CHECK(lookups->events[0].relaxed == std::vector<std::string>{"device_version"});
  CHECK(lookups->events[0].database == path);
}

TEST_CASE_FIXTURE(counted_application, "mode cached never tunes") {
  {
    const scoped_environment cached("LIBTUNE_MODE", "cached");
    CHECK_THROWS_WITH_AS(counted.autotune(context), doctest::Contains("sample.scale version 0"),
                         tune::not_tuned_error);
    CHECK(counted.searches == 0);
    CHECK_FALSE(std::filesystem::exists(path));
  }
  counted.autotune(context);
  const scoped_environment cached("LIBTUNE_MODE", "cached");
  CHECK(counted.autotune(context) == fastest);
}

TEST_CASE_FIXTURE(counted_application,
                  "mode default uses the test default on a miss, and does not store it") {
  const tune::tuning_options defaults{.mode = tune::tuning_mode::defaults};
  CHECK(counted.autotune(context, {}, defaults) == test_default);
  CHECK(counted.searches == 0);
  CHECK(counted.autotune(context) == fastest);
  CHECK(counted.autotune(context, {}, defaults) == fastest);
}

TEST_CASE_FIXTURE(counted_application, "mode force always tunes, and stores") {
  const tune::tuning_options force{.mode = tune::tuning_mode::force};
  counted.autotune(context, {}, force);
  counted.autotune(context, {}, force);
  CHECK(counted.searches == 2);
  counted.autotune(context);
  CHECK(counted.searches == 2);
}

TEST_CASE_FIXTURE(
    counted_application,
    "options attached to a context hold for all its handles, and the environment wins") {
  const auto same_context = context.create_command_queue().context();
  tune::set_tuning_options(same_context, {.mode = tune::tuning_mode::cached});
  CHECK_THROWS_AS(counted.autotune(context), tune::not_tuned_error);
  const scoped_environment mode("LIBTUNE_MODE", "tune");
  CHECK(counted.autotune(context) == fastest);
}

TEST_CASE_FIXTURE(counted_application, "a variable that cannot be read is an error that names it") {
  const scoped_environment mode("LIBTUNE_MODE", "quick");
  CHECK_THROWS_WITH_AS(counted.autotune(context), doctest::Contains("LIBTUNE_MODE is 'quick'"),
                       tune::environment_error);
}

TEST_CASE_FIXTURE(counted_application, "threads that ask for one key at one time tune it once") {
  std::vector<sample::scale_tuning> results(16);
  {
    std::vector<std::jthread> threads;
    for (auto& result : results) {
      threads.emplace_back([&] { result = counted.autotune(context); });
    }
  }
  CHECK(counted.searches == 1);
  for (const auto& result : results) CHECK(result == fastest);
}

TEST_CASE_FIXTURE(counted_application,
                  "a database that cannot be used costs nothing but the memory") {
  tune::tuning_options options{.given_by = tune::option_source::command};
  SUBCASE("because a folder has its name") { options.database = folder.path().string(); }
  SUBCASE("because its folder cannot be made") { options.database = "/dev/null/x/tuning.db"; }
  SUBCASE("because there is nowhere to keep one") { options.database = ""; }
  CHECK(counted.autotune(context, {}, options) == fastest);
  CHECK(counted.searches == 1);
}

TEST_CASE_FIXTURE(
    counted_application,
    "where LIBTUNE_MODE asks for tuning, nothing is searched for that cannot be stored") {
  std::filesystem::create_directory(folder.path() / "open");
  std::filesystem::permissions(folder.path() / "open", std::filesystem::perms::all);
  for (const std::string& path :
       {folder.path().string(), (folder / "open/tuning.db").string(), std::string("/dev/null/x")}) {
    CAPTURE(path);
    const scoped_environment database("LIBTUNE_DB", path.c_str());
    for (const char* mode : {"tune", "resume", "force"}) {
      const scoped_environment asked("LIBTUNE_MODE", mode);
      CHECK_THROWS_AS(counted.autotune(context), tune::database_error);
    }
    CHECK(counted.searches == 0);
  }
  const scoped_environment asked("LIBTUNE_MODE", "tune");
  CHECK(counted.autotune(context) == fastest);
}

TEST_CASE_FIXTURE(application,
                  "changed fields without a raised version tune, and never return a foreign row") {
  counted_autotuner("sample.drift").autotune(context);
  int searches = 0;
  const tune::autotuner<sample::scale_tuning, sample::scale_key> changed{
      {.name = "sample.drift", .version = 0},
      [&](tune::tuning_session&, const sample::scale_tuning&) {
        ++searches;
        return scale_key{.size = 5};
      }};
  CHECK(changed(context).size == 5);
  CHECK(searches == 1);
}

TEST_CASE_FIXTURE(application, "a function that searches nothing is stored too") {
  int calls = 0;
  const tune::autotuner<scale_key, sample::scale_tuning> constant{
      {.name = "sample.constant"}, [&](tune::tuning_session&, const scale_key&) {
        ++calls;
        return sample::scale_tuning{.wgs = 3, .rows = 3};
      }};
  CHECK(constant(context).wgs == 3);
  CHECK(constant(context).wgs == 3);
  CHECK(calls == 1);
}

TEST_CASE_FIXTURE(counted_application,
                  "what the function throws reaches the caller, and the next call tries again") {
  const auto fake = sample::make_device();
  const auto context = fake.device().create_context();
  fake.fail_when(tune::testing::fake_call::compile, [](const auto&) { return true; });
  CHECK_THROWS_AS(counted.autotune(context), tune::tuning_failed_error);
  fake.clear_failures();
  CHECK(counted.autotune(context) == fastest);
  CHECK(counted.searches == 2);
}

TEST_CASE_FIXTURE(
    application, "a function that asks for its own result is told so instead of waiting for ever") {
  const tune::autotuner<scale_key, sample::scale_tuning>* self = nullptr;
  const tune::autotuner<scale_key, sample::scale_tuning> recursive{
      {.name = "sample.recursive"}, [&](tune::tuning_session& session, const scale_key& key) {
        return (*self)(session.context(), key);
      }};
  self = &recursive;
  CHECK_THROWS_WITH_AS(recursive(context), doctest::Contains("its own result"),
                       tune::argument_error);
}

TEST_CASE("under the test main the test default is returned and no database is touched") {
  tune::testing::temporary_directory folder;
  const std::string path = (folder / "tuning.db").string();
  const scoped_environment database("LIBTUNE_DB", path.c_str());
  counted_autotuner counted;
  const auto context = sample::make_device().device().create_context();
  CHECK(counted.autotune(context) == test_default);
  CHECK(counted.searches == 0);
  CHECK_FALSE(std::filesystem::exists(path));
}

TEST_CASE_FIXTURE(application,
                  "what another process stored first is used by all, unless the mode is force") {
  const tune::autotuner<scale_key, sample::scale_tuning> overtaken{
      {.name = "sample.overtaken"}, [&](tune::tuning_session& session, const scale_key&) {
        tune::tuning_database(path).store_first(sample::scale_function("sample.overtaken"),
                                                sample::key_on(session.context().device()),
                                                tune::to_values(fastest), 1);
        return sample::scale_tuning{.wgs = 7, .rows = 7};
      }};
  CHECK(overtaken(context) == fastest);
  const tune::tuning_options force{.mode = tune::tuning_mode::force};
  CHECK(overtaken(context, {}, force).wgs == 7);
  CHECK(overtaken(context).wgs == 7);
}

TEST_CASE_FIXTURE(counted_application,
                  "no transaction is open while a configuration is compiled or timed") {
  const auto fake = sample::make_device();
  std::atomic<int> faults{0};
  std::atomic<int> looks{0};
  // As another process would: without waiting.
  const auto look = [&] {
    ++looks;
    try {
      SQLite::Database(path, SQLite::OPEN_READWRITE).exec("BEGIN EXCLUSIVE; ROLLBACK");
    } catch (const SQLite::Exception&) {
      ++faults;
    }
    if (tune::detail::database_use::is_active()) ++faults;
  };
  fake.add_kernel("scale", 2, [&](tune::testing::fake_launch&) { look(); });
  fake.fail_when(tune::testing::fake_call::compile, [&](const auto&) {
    look();
    return false;
  });
  CHECK(counted.autotune(fake.device().create_context()) == fastest);
  CHECK(looks > 12);
  CHECK(faults == 0);
}

TEST_CASE_FIXTURE(
    counted_application,
    "who waits in vain for another process uses the nearest result, else the test default") {
  const auto seen = std::make_shared<lookup_recorder>();
  const tune::tuning_options impatient{.wait = std::chrono::milliseconds(1), .observers = {seen}};
  SUBCASE("nothing is near") {
    const tune::testing::lock_keeper other(tune::testing::all_keys_of(path));
    CHECK(counted.autotune(context, {}, impatient) == test_default);
  }
  SUBCASE("another driver's result is near") {
    counted.autotune(sample::make_device("fake device", "0.9").device().create_context());
    const tune::testing::lock_keeper other(tune::testing::all_keys_of(path));
    CHECK(counted.autotune(context, {}, impatient) == fastest);
  }
  CHECK(seen->searches == 0);
  CHECK(counted.autotune(context, {}, {.observers = {seen}}) == fastest);
  CHECK(seen->searches == 1);
}

TEST_CASE_FIXTURE(counted_application, "the mode force waits for nobody") {
  const tune::testing::lock_keeper other(tune::testing::all_keys_of(path));
  const tune::tuning_options force{.mode = tune::tuning_mode::force};
  CHECK(counted.autotune(sample::make_device().device().create_context(), {}, force) == fastest);
}

TEST_CASE_FIXTURE(application, "a function may construct what another one tunes") {
  const counted_autotuner inner("sample.inner");
  const tune::autotuner<scale_key, sample::scale_tuning> outer{
      {.name = "sample.outer"}, [&](tune::tuning_session& session, const scale_key& key) {
        return inner.autotune(session.context(), key);
      }};
  CHECK(outer(context) == fastest);
  CHECK(inner.searches == 1);
}

}  // namespace autotuner_test

namespace autotuner_test::of_force_autotune {

TEST_CASE("a test that forces it tunes for real each time, and touches no database" *
          tune::testing::force_autotune()) {
  tune::testing::temporary_directory folder;
  const std::string path = (folder / "tuning.db").string();
  const tune::testing::scoped_environment database("LIBTUNE_DB", path.c_str());
  sample::counted_autotuner counted;
  const auto context = sample::make_device().device().create_context();
  CHECK(counted.autotune(context) == sample::fastest);
  CHECK(counted.autotune(context) == sample::fastest);
  CHECK(counted.searches == 2);
  CHECK_FALSE(std::filesystem::exists(path));
}

}  // namespace autotuner_test::of_force_autotune

namespace sample {

struct twins_key {
  int n = 0;
  int N = 0;
};

}  // namespace sample

LIBTUNE_FIELDS(sample::twins_key, n, N)

namespace {

template <class Key, class Tuning>
void make_autotuner(const std::string& name, int version = 0) {
  const tune::autotuner<Key, Tuning> made(
      {.name = name, .version = version, .test = {}},
      [](tune::tuning_session&, const Key&) -> Tuning { return {}; });
}

std::ptrdiff_t count_registered(const std::string& name) {
  const auto all = tune::registered_autotuners();
  return std::count_if(all.begin(), all.end(), [&](const tune::autotuner_core* item) {
    return item->identity().name == name;
  });
}

}  // namespace

TEST_CASE("an autotuner is registered for as long as it lives") {
  CHECK(count_registered("sample.registered") == 0);
  {
    const sample::counted_autotuner first("sample.registered");
    const sample::counted_autotuner newer("sample.registered", 1);
    CHECK(count_registered("sample.registered") == 2);
  }
  CHECK(count_registered("sample.registered") == 0);
}

TEST_CASE(
    "names that no database could keep are refused when the autotuner is made, in tests too") {
  using sample::scale_key;
  using sample::scale_tuning;
  using sample::twins_key;
  const tune::testing::test_mode_guard mode(tune::testing::test_mode::defaults);
  CHECK_THROWS_WITH_AS((make_autotuner<twins_key, scale_tuning>("sample.twins")),
                       doctest::Contains("'sample.twins' has two fields named 'N'"),
                       tune::argument_error);
  CHECK_THROWS_WITH_AS((make_autotuner<scale_key, twins_key>("sample.twins")),
                       doctest::Contains("'sample.twins' has two fields named 'N'"),
                       tune::argument_error);
  for (const char* name : {"", "a b", "1a", "libtune_a"}) {
    CAPTURE(name);
    CHECK_THROWS_WITH_AS((make_autotuner<scale_key, scale_tuning>(name)),
                         doctest::Contains("cannot name an autotune function"),
                         tune::argument_error);
  }
  CHECK_THROWS_AS((make_autotuner<scale_key, scale_tuning>("sample.negative", -1)),
                  tune::argument_error);
  CHECK(count_registered("sample.twins") == 0);
}

TEST_CASE("two functions of one name and version are an error when one is called") {
  const tune::testing::test_mode_guard mode(tune::testing::test_mode::forced);
  sample::counted_autotuner one("sample.twice");
  const auto context = sample::make_device().device().create_context();
  {
    const sample::counted_autotuner other("sample.twice");
    CHECK_THROWS_WITH_AS(one.autotune(context), doctest::Contains("'sample.twice' with version 0"),
                         tune::argument_error);
  }
  CHECK(one.autotune(context) == sample::fastest);
}
