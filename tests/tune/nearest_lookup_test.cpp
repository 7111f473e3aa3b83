// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
// How an autotuner uses the results of other devices and of system databases.
#include <SQLiteCpp/SQLiteCpp.h>
#include <doctest/doctest.h>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "libtune/store/database/tuning_database.hpp"
#include "libtune/store/database/tuning_layers.hpp"
#include "libtune/testing/fixtures.hpp"
#include "libtune/testing/temporary_directory.hpp"
#include "libtune/tune/error.hpp"
#include "tests/tune/scale.hpp"

namespace nearest_lookup_test {

namespace fs = std::filesystem;
using sample::counted_autotuner;
using sample::fastest;
using sample::scale_tuning;
using sample::test_default;
using tune::match_mode;
using tune::tuning_mode;
using tune::testing::scoped_environment;
using tune::testing::test_mode;
using tune::testing::test_mode_guard;

struct application {
  test_mode_guard mode{test_mode::off};
  tune::testing::temporary_directory folder;
  std::string path = (folder / "tuning.db").string();
  scoped_environment database{"LIBTUNE_DB", path.c_str()};
  scoped_environment system{"LIBTUNE_SYSTEM_DB", nullptr};
  scoped_environment match{"LIBTUNE_MATCH", nullptr};
  scoped_environment no_mode{"LIBTUNE_MODE", nullptr};
};

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

tune::context context_of(const std::string& name, const std::string& driver = "1.0") {
  return sample::make_device(name, driver).device().create_context();
}

/// Stores a result as if a device had been tuned.
void store(const std::string& path, const tune::context& context, const scale_tuning& tuning,
           const counted_autotuner& counted) {
  static_cast<void>(counted);
  const tune::function_identity function{.name = "sample.scale",
                                         .version = 0,
                                         .key_fields = tune::describe_fields<sample::scale_key>(),
                                         .value_fields = tune::describe_fields<scale_tuning>()};
  tune::tuning_database(path).store(
      function, {tune::to_values(sample::scale_key{}), context.device().identity()},
      tune::to_values(tuning), 1000.0);
}

tune::tuning_options options_for(match_mode match, const std::shared_ptr<recorder>& heard,
                                 tuning_mode mode = tuning_mode::tune) {
  tune::tuning_options options{.match = match, .mode = mode};
  options.observers = {heard};
  return options;
}

std::int64_t count_rows(const std::string& path) {
  return SQLite::Database(path).execAndGet("SELECT count(*) FROM \"sample.scale__0\"").getInt64();
}

TEST_CASE("a nearest match that is not in the space is skipped for the next one") {
  const application app;
  counted_autotuner counted;
  const auto heard = std::make_shared<recorder>();
  store(app.path, context_of("fake device", "2.0"), {.wgs = 64, .rows = 1}, counted);
  store(app.path, context_of("another device"), {.wgs = 8, .rows = 2}, counted);
  const auto context = context_of("fake device");
  CHECK(counted.autotune(context, {}, options_for(match_mode::nearest, heard)) ==
        scale_tuning{.wgs = 8, .rows = 2});
  REQUIRE(heard->lookups.size() == 1);
  CHECK(heard->lookups[0].grade == tune::lookup_grade::nearest);
  CHECK(heard->lookups[0].step == tune::match_step::architecture);
  CHECK(heard->lookups[0].device.name == "another device");
  CHECK(heard->tried.empty());
}

/// Stores a prior: the configuration of another kernel that did the same work.
void store_prior(const std::string& path, const tune::context& context,
                 const scale_tuning& tuning) {
  tune::device_identity device = context.device().identity();
  device.capabilities = {.api = std::string(tune::prior_api)};
  const tune::function_identity function{.name = "sample.scale",
                                         .version = 0,
                                         .key_fields = tune::describe_fields<sample::scale_key>(),
                                         .value_fields = tune::describe_fields<scale_tuning>()};
  tune::tuning_database(path).store(function, {tune::to_values(sample::scale_key{}), device},
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

TEST_CASE("of a prior outside of the space the closest configuration is tried first") {
  const application app;
  counted_autotuner counted;
  const auto heard = std::make_shared<recorder>();
  const auto context = context_of("fake device");
  store_prior(app.path, context, {.wgs = 512, .rows = 2});
  CHECK(counted.autotune(context, {}, options_for(match_mode::exact, heard)) == fastest);
  CHECK(heard->tried.front() == scale_tuning{.wgs = 8, .rows = 2});
}

TEST_CASE("results of other devices are tried before priors") {
  const application app;
  counted_autotuner counted;
  const auto heard = std::make_shared<recorder>();
  const auto context = context_of("fake device");
  store_prior(app.path, context, {.wgs = 8, .rows = 2});
  store(app.path, context_of("another device"), {.wgs = 4, .rows = 2}, counted);
  CHECK(counted.autotune(context, {}, options_for(match_mode::exact, heard)) == fastest);
  CHECK(heard->tried.at(0) == scale_tuning{.wgs = 4, .rows = 2});
  CHECK(heard->tried.at(1) == scale_tuning{.wgs = 8, .rows = 2});
}

TEST_CASE("a nearest match that the device cannot run is skipped") {
  const application app;
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
  counted_autotuner other("sample.other");
  store(app.path, context_of("fake device"), {.wgs = 8, .rows = 1}, other);
  store(app.path, context_of("zzz"), {.wgs = 4, .rows = 2}, other);
  CHECK(autotune(context, {}, options_for(match_mode::nearest, heard, tuning_mode::cached)) ==
        scale_tuning{.wgs = 4, .rows = 2});
  CHECK(heard->tried.empty());
}

TEST_CASE("where no nearest match can be used the mode decides, and what is tuned is exact") {
  const application app;
  counted_autotuner counted;
  const auto heard = std::make_shared<recorder>();
  store(app.path, context_of("fake device", "2.0"), {.wgs = 64, .rows = 1}, counted);
  const auto context = context_of("fake device");
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

TEST_CASE("a nearest match is checked once, never stored, and gives way to a result of its own") {
  const application app;
  counted_autotuner counted;
  const auto heard = std::make_shared<recorder>();
  store(app.path, context_of("fake device", "2.0"), {.wgs = 8, .rows = 1}, counted);
  const auto context = context_of("fake device");
  const auto nearest = options_for(match_mode::nearest, heard);
  for (int i = 0; i < 3; ++i) CHECK(counted.autotune(context, {}, nearest).wgs == 8);
  CHECK(counted.calls == 1);  // the run that learned the space
  CHECK(count_rows(app.path) == 1);
  CHECK(counted.autotune(context) == fastest);
  CHECK(counted.autotune(context, {}, nearest) == fastest);
  CHECK(heard->lookups.back().grade == tune::lookup_grade::exact);
}

TEST_CASE("threads that want the same nearest match share its check") {
  const application app;
  counted_autotuner counted;
  const auto heard = std::make_shared<recorder>();
  store(app.path, context_of("fake device", "2.0"), {.wgs = 8, .rows = 1}, counted);
  const auto context = context_of("fake device");
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
  CHECK(count_rows(app.path) == 1);
}

TEST_CASE("a function that searches no space uses no result of another device") {
  const application app;
  const tune::autotuner<sample::scale_key, scale_tuning> constant{
      {.name = "sample.scale"}, [](tune::tuning_session&, const sample::scale_key&) {
        return scale_tuning{.wgs = 3, .rows = 3};
      }};
  counted_autotuner other("sample.other");
  store(app.path, context_of("fake device", "2.0"), {.wgs = 8, .rows = 1}, other);
  CHECK(constant(context_of("fake device"), {}, {.match = match_mode::nearest}).wgs == 3);
  CHECK(count_rows(app.path) == 2);
}

TEST_CASE("a function that asks for its own result while it is checked is told so") {
  const application app;
  const tune::autotuner<sample::scale_key, scale_tuning>* self = nullptr;
  const tune::autotuner<sample::scale_key, scale_tuning> recursive{
      {.name = "sample.scale"}, [&](tune::tuning_session& session, const sample::scale_key& key) {
        return (*self)(session.context(), key, {.match = match_mode::nearest});
      }};
  self = &recursive;
  counted_autotuner other("sample.other");
  store(app.path, context_of("fake device", "2.0"), {.wgs = 8, .rows = 1}, other);
  CHECK_THROWS_AS(recursive(context_of("fake device"), {}, {.match = match_mode::nearest}),
                  tune::argument_error);
}

TEST_CASE("verification measures a few configurations again and keeps the best as exact") {
  const application app;
  counted_autotuner counted;
  const auto heard = std::make_shared<recorder>();
  counted.autotune(context_of("fake device", "2.0"));
  const auto context = context_of("fake device");
  CHECK(counted.autotune(context, {}, options_for(match_mode::verify, heard)) == fastest);
  CHECK(heard->searches == std::vector<std::string>{"shortlist"});
  // The winner, then the best four others; the test default is not in this space.
  CHECK(heard->tried.size() == 5);
  CHECK(heard->tried.front() == fastest);
  REQUIRE(heard->lookups.size() == 1);
  CHECK(heard->lookups[0].grade == tune::lookup_grade::miss);
  CHECK(count_rows(app.path) == 2);
  CHECK(counted.autotune(context, {}, options_for(match_mode::exact, heard)) == fastest);
  CHECK(heard->lookups.back().grade == tune::lookup_grade::exact);
}

TEST_CASE("verification finds what is faster here among what was tried there") {
  const application app;
  counted_autotuner counted;
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

TEST_CASE("verification is a whole search where nothing of other devices can be used") {
  const application app;
  counted_autotuner counted;
  const auto heard = std::make_shared<recorder>();
  SUBCASE("because there is nothing") {}
  SUBCASE("because it is not in the space") {
    store(app.path, context_of("fake device", "2.0"), {.wgs = 64, .rows = 1}, counted);
  }
  CHECK(counted.autotune(context_of("fake device"), {}, options_for(match_mode::verify, heard)) ==
        fastest);
  CHECK(heard->searches == std::vector<std::string>{"exhaustive"});
}

TEST_CASE("verification is a whole search where nothing on the list works any more") {
  const application app;
  counted_autotuner counted;
  const auto heard = std::make_shared<recorder>();
  store(app.path, context_of("fake device", "2.0"), {.wgs = 2, .rows = 1}, counted);
  const auto fake = sample::make_device("fake device");
  fake.fail_when(tune::testing::fake_call::compile,
                 [](const auto& macros) { return macros.integer("wgs") == 2; });
  CHECK(counted.autotune(fake.device().create_context(), {},
                         options_for(match_mode::verify, heard)) ==
        scale_tuning{.wgs = 4, .rows = 1});
  CHECK(heard->searches == std::vector<std::string>{"shortlist", "exhaustive"});
}

TEST_CASE("with verification, modes that never tune use the nearest match as it is") {
  const application app;
  counted_autotuner counted;
  const auto heard = std::make_shared<recorder>();
  store(app.path, context_of("fake device", "2.0"), {.wgs = 8, .rows = 1}, counted);
  for (const auto mode : {tuning_mode::cached, tuning_mode::defaults}) {
    const auto options = options_for(match_mode::verify, heard, mode);
    CHECK(counted.autotune(context_of("fake device"), {}, options).wgs == 8);
  }
  CHECK(heard->searches.empty());
  CHECK(count_rows(app.path) == 1);
}

TEST_CASE("a system database answers where the user's has nothing") {
  const application app;
  counted_autotuner counted;
  const std::string system = (app.folder / "system.db").string();
  const auto context = context_of("fake device");
  store(system, context, {.wgs = 4, .rows = 1}, counted);
  tune::record_memory::shared().forget_all();
  const std::string paths = "/nowhere/at all.db:" + system + ":";
  SUBCASE("named by the environment") {
    const scoped_environment variable("LIBTUNE_SYSTEM_DB", paths.c_str());
    CHECK(counted.autotune(context).wgs == 4);
  }
  SUBCASE("named by the options") {
    CHECK(counted.autotune(context, {}, {.system_databases = {{system}}}).wgs == 4);
  }
  CHECK(counted.searches == 0);
  CHECK_FALSE(fs::exists(app.path));
  // Without it the result is not there, though this process has found it before.
  CHECK(counted.autotune(context) == fastest);
}

TEST_CASE("a change of LIBTUNE_DB is noticed, and so is the way back") {
  const application app;
  counted_autotuner counted;
  const auto context = context_of("fake device");
  CHECK(counted.autotune(context) == fastest);
  {
    const std::string other = (app.folder / "other.db").string();
    store(other, context, {.wgs = 4, .rows = 1}, counted);
    const scoped_environment database("LIBTUNE_DB", other.c_str());
    CHECK(counted.autotune(context).wgs == 4);
  }
  CHECK(counted.autotune(context) == fastest);
  CHECK(counted.searches == 1);
}

TEST_CASE("mode cached never writes") {
  const application app;
  counted_autotuner counted;
  const auto context = context_of("fake device");
  const auto other_driver = context_of("fake device", "2.0");
  counted.autotune(context);
  const auto before = fs::last_write_time(app.path);
  const auto bytes = fs::file_size(app.path);
  fs::permissions(app.path, fs::perms(0444));
  fs::permissions(app.folder.path(), fs::perms(0555));
  // A superuser may write all the same, so the times count as well.
  const scoped_environment cached("LIBTUNE_MODE", "cached");
  for (const char* match : {"exact", "nearest", "verify"}) {
    tune::record_memory::shared().forget_all();
    const scoped_environment matching("LIBTUNE_MATCH", match);
    CHECK(counted.autotune(context) == fastest);
    if (std::string(match) == "exact") {
      CHECK_THROWS_AS(counted.autotune(other_driver), tune::not_tuned_error);
    } else {
      CHECK(counted.autotune(other_driver) == fastest);
    }
  }
  fs::permissions(app.folder.path(), fs::perms(0755));
  CHECK(fs::last_write_time(app.path) == before);
  CHECK(fs::file_size(app.path) == bytes);
  std::size_t files = 0;
  for (const auto& entry : fs::directory_iterator(app.folder.path())) {
    if (entry.path().extension() == ".db") ++files;
    CHECK(entry.path().string().find("-journal") == std::string::npos);
  }
  CHECK(files == 1);
}

}  // namespace nearest_lookup_test
