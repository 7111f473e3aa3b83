// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
// In the mode "cached" no database is written: neither through SQLite, which an observer between it
// and its files sees, nor beside it, which the folder shows. There, keys that were missed are noted
// in a file of their own; with LIBTUNE_MISSED=off nothing at all is written.
#include <doctest/doctest.h>
#include <filesystem>
#include <map>
#include <string>

#include "libtune/store/database/missed_keys.hpp"
#include "libtune/store/database/tuning_layers.hpp"
#include "libtune/testing/fixtures.hpp"
#include "libtune/testing/temporary_directory.hpp"
#include "libtune/tune/databases.hpp"
#include "libtune/tune/error.hpp"
#include "tests/store/fault_vfs.hpp"
#include "tests/tune/scale.hpp"

namespace cached_mode_test {

namespace fs = std::filesystem;
using sample::counted_autotuner;
using sample::fastest;
using tune::testing::fault_vfs;
using tune::testing::scoped_environment;
using tune::testing::test_mode;
using tune::testing::test_mode_guard;

struct application {
  test_mode_guard mode{test_mode::off};
  tune::testing::temporary_directory folder;
  scoped_environment database{"LIBTUNE_DB", (folder / "tuning.db").c_str()};
  scoped_environment system{"LIBTUNE_SYSTEM_DB", nullptr};
  std::string missed = folder / "tuning.db-missed";
};

/// Everything below a folder with the time of its last change.
std::map<std::string, fs::file_time_type> contents(const fs::path& folder) {
  std::map<std::string, fs::file_time_type> all{{"", fs::last_write_time(folder)}};
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    all[entry.path()] = entry.last_write_time();
  }
  return all;
}

// The observer comes and goes while no database is open.
void close_databases() {
  tune::open_layers("", {});
  tune::record_memory::shared().forget_all();
}

// Looks for what is there and what is not, in every way of matching, and lets nothing be written.
void check_cached(const application& app) {
  counted_autotuner counted;
  const auto context = sample::make_device("fake device").device().create_context();
  const auto other = sample::make_device("fake device", "2.0").device().create_context();
  close_databases();
  {
    // The observer sees writes where there are some.
    const fault_vfs observer;
    REQUIRE(counted.autotune(context) == fastest);
    close_databases();
    CHECK(observer.changes() > 0);
    CHECK(observer.writable_opens() > 0);
  }
  fs::remove(app.missed);  // by that search
  const auto before = contents(app.folder.path());
  const scoped_environment cached("LIBTUNE_MODE", "cached");
  for (const char* match : {"exact", "nearest", "verify"}) {
    CAPTURE(match);
    const scoped_environment matching("LIBTUNE_MATCH", match);
    const fault_vfs observer;
    CHECK(counted.autotune(context) == fastest);
    if (std::string(match) == "exact") {
      CHECK_THROWS_AS(counted.autotune(other), tune::not_tuned_error);
    } else {
      CHECK(counted.autotune(other) == fastest);
    }
    CHECK_THROWS_AS(counted.autotune(context, {.size = 1}), tune::not_tuned_error);
    close_databases();
    CHECK(observer.changes() == 0);
    CHECK(observer.writable_opens() == 0);
  }
  auto after = contents(app.folder.path());
  // A new file is a change of the folder, too.
  if (after.erase(app.missed) > 0) after[""] = before.at("");
  CHECK(after == before);
}

TEST_CASE("mode cached asks SQLite for no write, and opens and makes no file to write") {
  const application app;
  const scoped_environment off("LIBTUNE_MISSED", "off");
  check_cached(app);
  CHECK_FALSE(fs::exists(app.missed));
}

TEST_CASE("nor does it where keys are noted, in the one file that is for them") {
  const application app;
  check_cached(app);
  CHECK(fs::exists(app.missed));
}

TEST_CASE("mode cached makes no database where there is none") {
  const application app;
  const scoped_environment off("LIBTUNE_MISSED", "off");
  counted_autotuner counted;
  const auto context = sample::make_device("fake device").device().create_context();
  const scoped_environment cached("LIBTUNE_MODE", "cached");
  CHECK_THROWS_AS(counted.autotune(context), tune::not_tuned_error);
  CHECK(fs::is_empty(app.folder.path()));
  CHECK(counted.searches == 0);
}

}  // namespace cached_mode_test

namespace cached_mode_test::of_missed_keys {

namespace fs = std::filesystem;
using sample::counted_autotuner;
using tune::testing::scoped_environment;
using tune::testing::test_mode;
using tune::testing::test_mode_guard;

struct application {
  test_mode_guard mode{test_mode::off};
  tune::testing::temporary_directory folder;
  std::string database = folder / "tuning.db";
  scoped_environment named{"LIBTUNE_DB", database.c_str()};
  scoped_environment system{"LIBTUNE_SYSTEM_DB", nullptr};
  scoped_environment missed_file{"LIBTUNE_MISSED", nullptr};
  tune::missed_keys keys{database + "-missed"};
  counted_autotuner counted;
  tune::context context = sample::make_device().device().create_context();

  std::size_t missed() const { return keys.read().keys.size(); }
  std::size_t still_missed() const {
    return still_missing(keys.read().keys, *tune::open_layers(database, {})).size();
  }
};

TEST_CASE("in the modes cached and default a miss is noted with all that tuning it takes") {
  const application app;
  const scoped_environment cached("LIBTUNE_MODE", "cached");
  CHECK_THROWS_AS(app.counted.autotune(app.context), tune::not_tuned_error);
  const scoped_environment defaults("LIBTUNE_MODE", "default");
  CHECK(app.counted.autotune(app.context, {.size = 5}) == sample::scale_tuning{16, 4});
  const auto found = app.keys.read();
  CHECK(found.unreadable == 0);
  REQUIRE(found.keys.size() == 2);
  CHECK(found.keys[0].function.name == "sample.scale");
  CHECK(found.keys[0].function.key_fields == tune::describe_fields<sample::scale_key>());
  CHECK(tune::from_values<sample::scale_key>(found.keys[1].key.arguments).size == 5);
  CHECK(found.keys[0].key.device == app.context.device().info().identity);
  CHECK_FALSE(fs::exists(app.database));
  CHECK(app.counted.searches == 0);
}

TEST_CASE("a key that is tuned later is missing no more") {
  const application app;
  {
    const scoped_environment cached("LIBTUNE_MODE", "cached");
    CHECK_THROWS_AS(app.counted.autotune(app.context), tune::not_tuned_error);
  }
  CHECK(app.still_missed() == 1);
  app.counted.autotune(app.context);
  CHECK(app.still_missed() == 0);
  CHECK(app.missed() == 1);
}

TEST_CASE("in the mode tune a key is missing until it is tuned, also if the search fails") {
  const application app;
  app.counted.autotune(app.context);
  CHECK(app.still_missed() == 0);
  const tune::autotuner<sample::scale_key, sample::scale_tuning> failing{
      {.name = "sample.failing"},
      [](tune::tuning_session&, const sample::scale_key&) -> sample::scale_tuning {
        throw tune::error("this cannot be tuned");
      }};
  CHECK_THROWS_AS(failing(app.context), tune::error);
  CHECK(app.still_missed() == 1);
}

TEST_CASE("what is found, or not looked for, is not noted") {
  const application app;
  {
    const scoped_environment force("LIBTUNE_MODE", "force");
    app.counted.autotune(app.context);
  }
  CHECK_FALSE(fs::exists(app.keys.path()));
  for (const char* mode : {"cached", "default", "tune"}) {
    const scoped_environment found("LIBTUNE_MODE", mode);
    CHECK(app.counted.autotune(app.context) == sample::fastest);
  }
  const test_mode_guard testing{test_mode::defaults};
  app.counted.autotune(app.context, {.size = 7});
  CHECK_FALSE(fs::exists(app.keys.path()));
}

TEST_CASE("LIBTUNE_MISSED names another file, or none") {
  const application app;
  const scoped_environment cached("LIBTUNE_MODE", "cached");
  {
    const scoped_environment off("LIBTUNE_MISSED", "off");
    CHECK_THROWS_AS(app.counted.autotune(app.context), tune::not_tuned_error);
    CHECK(fs::is_empty(app.folder.path()));
  }
  const std::string other = app.folder / "elsewhere/keys";
  const scoped_environment elsewhere("LIBTUNE_MISSED", other.c_str());
  CHECK_THROWS_AS(app.counted.autotune(app.context), tune::not_tuned_error);
  CHECK(app.missed() == 0);
  CHECK(tune::missed_keys(other).read().keys.size() == 1);
}

}  // namespace cached_mode_test::of_missed_keys
