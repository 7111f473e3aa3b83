// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/store/database/tuning_layers.hpp"

#include <SQLiteCpp/SQLiteCpp.h>
#include <chrono>
#include <doctest/doctest.h>
#include <filesystem>
#include <fstream>
#include <memory>
#include <set>
#include <sys/stat.h>

#include "libtune/base/error.hpp"
#include "tests/store/captured_errors.hpp"
#include "tests/store/samples.hpp"
#include "tests/store/temporary_folder.hpp"

namespace tuning_layers_test {

namespace fs = std::filesystem;
using tune::database_access;
using tune::tuning_database;
using tune::tuning_layers;
using tune::testing::captured_errors;
using tune::testing::sample_device;
using tune::testing::sample_function;
using tune::testing::sample_key;
using tune::testing::sample_tuning;
using tune::testing::temporary_folder;

const tune::device_identity other_driver{"GPU One", "Some Platform", "999"};

void store(const std::string& path, std::int64_t wgs,
           const tune::device_identity& device = sample_device(), std::int64_t rows = 64) {
  tuning_database(path).store(sample_function(), sample_key(rows, device), sample_tuning(wgs), 1);
}

std::shared_ptr<tuning_database> user(const std::string& path) {
  return std::make_shared<tuning_database>(path);
}

std::shared_ptr<tuning_database> immutable(const std::string& path) {
  return std::make_shared<tuning_database>(path, tune::database_waits{},
                                           database_access::immutable);
}

/// A user's database and two of the system, with a memory that has nothing yet.
struct three_layers {
  three_layers() { tune::record_memory::shared().forget_all(); }

  tuning_layers open() const { return {user(top), {immutable(middle), immutable(bottom)}}; }

  temporary_folder folder;
  std::string top = folder.file("user.db");
  std::string middle = folder.file("system one.db");
  std::string bottom = folder.file("system?two#%41.db");
};

std::set<std::string> files_in(const fs::path& folder) {
  std::set<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) names.insert(entry.path().filename());
  return names;
}

std::int64_t wgs_of(const std::optional<tune::record>& found) {
  return found ? std::get<std::int64_t>(found->values.at(0).value) : -1;
}

TEST_CASE("the first exact match wins, the user's database first, then the system's in order") {
  const three_layers layers;
  store(layers.middle, 32, other_driver);
  store(layers.bottom, 16);
  CHECK(wgs_of(layers.open().find(sample_function(), sample_key())) == 16);
  tune::record_memory::shared().forget_all();
  store(layers.middle, 8);
  const auto found = layers.open().find(sample_function(), sample_key());
  CHECK(wgs_of(found) == 8);
  CHECK(found->database == layers.middle);
  CHECK(found->grade == tune::match_grade::exact);
  store(layers.top, 4);
  CHECK(wgs_of(layers.open().find(sample_function(), sample_key())) == 4);
}

TEST_CASE("nearest matches are ranked over all databases, the upper one first for one device") {
  const three_layers layers;
  const tune::device_identity other_platform{"GPU One", "Other", "535.104"};
  store(layers.top, 1, {"Other", "Other", "1"});
  store(layers.middle, 2, other_platform);
  store(layers.bottom, 3, other_platform);
  store(layers.bottom, 4, other_driver);
  const auto found = layers.open().find_nearest(sample_function(), sample_key());
  REQUIRE(found.size() == 3);
  CHECK(wgs_of(found[0]) == 4);
  CHECK(found[0].step == tune::match_step::software);
  CHECK(found[0].database == layers.bottom);
  CHECK(wgs_of(found[1]) == 2);
  CHECK(found[1].step == tune::match_step::platform);
  CHECK(wgs_of(found[2]) == 1);
  for (const auto& one : found) CHECK(one.grade == tune::match_grade::nearest);
  CHECK(layers.open().find_nearest(sample_function(), sample_key(), 1).size() == 1);
}

TEST_CASE("priors are looked for apart from results, and are never found") {
  const three_layers layers;
  tune::device_identity prior = sample_device();
  prior.capabilities.api = tune::prior_api;
  store(layers.top, 1, prior);
  store(layers.middle, 2, other_driver);
  const tuning_layers open = layers.open();
  const auto results = open.find_nearest(sample_function(), sample_key());
  REQUIRE(results.size() == 1);
  CHECK(wgs_of(results[0]) == 2);
  const auto priors =
      open.find_nearest(sample_function(), sample_key(), 16, tune::nearest_kind::priors);
  REQUIRE(priors.size() == 1);
  CHECK(wgs_of(priors[0]) == 1);
  CHECK_FALSE(open.find(sample_function(), sample_key()));
  tune::tuning_database top(layers.top);
  CHECK_FALSE(top.find(sample_function(), sample_key(), tune::match_mode::nearest));
}

TEST_CASE("a system database is not written, locked or joined by other files") {
  const three_layers layers;
  store(layers.bottom, 16);
  fs::remove(layers.bottom + "-lock");  // of the writer
  fs::permissions(layers.bottom, fs::perms(0444));
  const auto before = fs::last_write_time(layers.bottom);
  // A writer that waits for its commit keeps readers out, but none that looks at no lock.
  const auto open = layers.open();
  CHECK(wgs_of(open.find(sample_function(), sample_key())) == 16);
  CHECK(open.find_nearest(sample_function(), sample_key(64, other_driver)).size() == 1);
  CHECK(fs::last_write_time(layers.bottom) == before);
  CHECK(files_in(layers.folder.path()) == std::set<std::string>{"system?two#%41.db"});
  CHECK_THROWS_AS(
      immutable(layers.bottom)->store(sample_function(), sample_key(65), sample_tuning(1), 1),
      tune::database_error);
  CHECK_THROWS_AS(immutable(layers.bottom)->begin_search(sample_function(), sample_key()),
                  tune::database_error);
}

TEST_CASE("a system database may be reached by a symbolic link, as a package may install it") {
  const three_layers layers;
  store(layers.bottom, 16);
  fs::create_symlink(layers.bottom, layers.middle);
  const tuning_layers open(nullptr, {immutable(layers.middle)});
  CHECK(wgs_of(open.find(sample_function(), sample_key())) == 16);
}

TEST_CASE("a missing or bad system database costs one warning and is passed over") {
  const three_layers layers;
  store(layers.bottom, 16);
  SUBCASE("missing") {}
  SUBCASE("no database") { std::ofstream(layers.middle) << std::string(5000, 'x'); }
  SUBCASE("a folder") { fs::create_directory(layers.middle); }
  SUBCASE("a pipe") { REQUIRE(::mkfifo(layers.middle.c_str(), 0600) == 0); }
  captured_errors errors;
  const auto open = layers.open();
  CHECK(wgs_of(open.find(sample_function(), sample_key())) == 16);
  CHECK(errors.count("system one.db") == 1);
  CHECK_FALSE(open.find(sample_function(), sample_key(65)));
  CHECK(open.find_nearest(sample_function(), sample_key()).size() == 1);
  CHECK(errors.count("system one.db") == 1);
}

TEST_CASE("what has been found is found again without the disk") {
  const three_layers layers;
  store(layers.top, 4);
  const auto open = layers.open();
  CHECK(wgs_of(open.find(sample_function(), sample_key())) == 4);
  fs::remove(layers.top);
  // Another object, so that no file is open any more.
  CHECK(wgs_of(layers.open().find(sample_function(), sample_key())) == 4);
  CHECK_FALSE(fs::exists(layers.top));
}

TEST_CASE("other databases have a memory of their own") {
  const three_layers layers;
  store(layers.top, 4);
  store(layers.bottom, 16);
  const tuning_layers only_system(nullptr, {immutable(layers.bottom)});
  CHECK(wgs_of(layers.open().find(sample_function(), sample_key())) == 4);
  CHECK(wgs_of(only_system.find(sample_function(), sample_key())) == 16);
  CHECK(wgs_of(layers.open().find(sample_function(), sample_key())) == 4);
}

TEST_CASE("what this process stores is found next, whichever object stored it") {
  const three_layers layers;
  store(layers.top, 4);
  const auto open = layers.open();
  CHECK(wgs_of(open.find(sample_function(), sample_key())) == 4);
  store(layers.top, 5);
  CHECK(wgs_of(open.find(sample_function(), sample_key())) == 5);
}

TEST_CASE("a miss is not remembered, because another process may store a result") {
  const three_layers layers;
  const auto open = layers.open();
  CHECK_FALSE(open.find(sample_function(), sample_key()));
  store(layers.bottom, 16);
  tune::record_memory::shared().forget_all();
  CHECK(wgs_of(layers.open().find(sample_function(), sample_key())) == 16);
}

TEST_CASE("a choice of a nearest match is remembered until something is stored, never as exact") {
  const three_layers layers;
  store(layers.top, 4, other_driver);
  const auto open = layers.open();
  const auto nearest = open.find_nearest(sample_function(), sample_key());
  REQUIRE(nearest.size() == 1);
  CHECK_FALSE(open.chosen_nearest(sample_function(), sample_key()));
  open.choose_nearest(sample_function(), sample_key(), nearest[0],
                      tune::record_memory::shared().generation());
  CHECK(open.chosen_nearest(sample_function(), sample_key())->grade == tune::match_grade::nearest);
  CHECK_FALSE(open.find(sample_function(), sample_key()));
  store(layers.top, 5);
  CHECK_FALSE(open.chosen_nearest(sample_function(), sample_key()));
}

TEST_CASE("the trials behind a record are read from its database") {
  const three_layers layers;
  tuning_database database(layers.bottom);
  database.store(sample_function(), sample_key(), sample_tuning(16), 1);
  const auto search = database.begin_search(sample_function(), sample_key());
  database.add_trial(search, {.configuration = sample_tuning(16), .outcome = "measured"});
  const auto open = layers.open();
  const auto found = open.find(sample_function(), sample_key());
  REQUIRE(found);
  CHECK(open.trials(sample_function(), sample_key().arguments, *found).size() == 1);
}

TEST_CASE("a name that can never be a table's is an error, not a warning") {
  const three_layers layers;
  CHECK_THROWS_AS(layers.open().find(sample_function("no; spaces"), sample_key()),
                  tune::argument_error);
}

TEST_CASE("a database that others hold has no miss: one below it may help, for the time being") {
  using namespace std::chrono_literals;
  const temporary_folder folder;
  tune::record_memory::shared().forget_all();
  tuning_database(folder.file("upper")).store(sample_function(), sample_key(), sample_tuning(1), 1);
  tuning_database(folder.file("lower")).store(sample_function(), sample_key(), sample_tuning(2), 1);
  const auto open = [&](const char* name, database_access access) {
    return std::make_shared<tuning_database>(folder.file(name), tune::database_waits{}, access);
  };
  const tune::tuning_layers one(open("upper", database_access::read_write), {});
  const tune::tuning_layers two(open("upper", database_access::read_write),
                                {open("lower", database_access::read_only)});
  {
    SQLite::Database other(folder.file("upper"), SQLite::OPEN_READWRITE);
    const SQLite::Transaction holder(other, SQLite::TransactionBehavior::EXCLUSIVE);
    CHECK_THROWS_AS(one.find(sample_function(), sample_key(), 1ms), tune::database_busy_error);
    CHECK(two.find(sample_function(), sample_key(), 1ms)->values == sample_tuning(2));
    CHECK_THROWS_AS(two.find(sample_function(), sample_key(65), 1ms), tune::database_busy_error);
  }
  CHECK(two.find(sample_function(), sample_key(), 1ms)->values == sample_tuning(1));
}

TEST_CASE("what could not be stored is found again, until a database has a result") {
  const three_layers layers;
  const tuning_layers opened = layers.open();
  opened.remember(sample_function(), sample_key(), sample_tuning(4));
  CHECK(wgs_of(opened.find(sample_function(), sample_key())) == 4);
  CHECK(wgs_of(opened.find(sample_function(), sample_key(65))) == -1);
  CHECK(wgs_of(layers.open().find(sample_function(), sample_key())) == 4);
  store(layers.bottom, 8);
  CHECK(wgs_of(layers.open().find(sample_function(), sample_key())) == 8);
}

}  // namespace tuning_layers_test
