// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
// In the mode "cached" no database is written: neither through SQLite, which an observer between it
// and its files sees, nor beside it, which the folder shows. There, keys that were missed are noted
// in a file of their own; with LIBTUNE_MISSED=off nothing at all is written.
#include <doctest/doctest.h>
#include <filesystem>
#include <map>
#include <string>

#include "libtune/store/database/record_memory.hpp"
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
