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
#include <string>
#include <sys/stat.h>
#include <utility>
#include <vector>

#include "libtune/base/error.hpp"
#include "libtune/base/json.hpp"
#include "libtune/store/database/tuning_lock.hpp"
#include "tests/store/captured_errors.hpp"
#include "tests/store/samples.hpp"
#include "tests/store/temporary_folder.hpp"

namespace tuning_layers_test {

namespace fs = std::filesystem;
using namespace tune::testing;
using namespace tune;

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

TEST_CASE_FIXTURE(
    three_layers,
    "the first exact match wins, the user's database first, then the system's in order") {
  store(middle, 32, other_driver);
  store(bottom, 16);
  CHECK(wgs_of(open().find(sample_function(), sample_key())) == 16);
  tune::record_memory::shared().forget_all();
  store(middle, 8);
  const auto found = open().find(sample_function(), sample_key());
  CHECK(wgs_of(found) == 8);
  CHECK(found->database == middle);
  CHECK(found->grade == tune::match_grade::exact);
  store(top, 4);
  CHECK(wgs_of(open().find(sample_function(), sample_key())) == 4);
}

TEST_CASE_FIXTURE(
    three_layers,
    "nearest matches are ranked over all databases, the upper one first for one device") {
  const tune::device_identity other_platform{"GPU One", "Other", "535.104"};
  store(top, 1, {"Other", "Other", "1"});
  store(middle, 2, other_platform);
  store(bottom, 3, other_platform);
  store(bottom, 4, other_driver);
  const auto found = open().find_nearest(sample_function(), sample_key());
  REQUIRE(found.size() == 3);
  CHECK(wgs_of(found[0]) == 4);
  CHECK(found[0].step == tune::match_step::software);
  CHECK(found[0].database == bottom);
  CHECK(wgs_of(found[1]) == 2);
  CHECK(found[1].step == tune::match_step::platform);
  CHECK(wgs_of(found[2]) == 1);
  for (const auto& one : found) CHECK(one.grade == tune::match_grade::nearest);
  CHECK(open().find_nearest(sample_function(), sample_key(), 1).size() == 1);
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

TEST_CASE_FIXTURE(
    three_layers,
    "a system database may be reached by a symbolic link, as a package may install it") {
  store(bottom, 16);
  fs::create_symlink(bottom, middle);
  const tuning_layers open(nullptr, {immutable(middle)});
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

TEST_CASE_FIXTURE(three_layers, "other databases have a memory of their own") {
  store(top, 4);
  store(bottom, 16);
  const tuning_layers only_system(nullptr, {immutable(bottom)});
  CHECK(wgs_of(open().find(sample_function(), sample_key())) == 4);
  CHECK(wgs_of(only_system.find(sample_function(), sample_key())) == 16);
  CHECK(wgs_of(open().find(sample_function(), sample_key())) == 4);
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

TEST_CASE_FIXTURE(three_layers, "a name that can never be a table's is an error, not a warning") {
  CHECK_THROWS_AS(open().find(sample_function("no; spaces"), sample_key()), tune::argument_error);
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

TEST_CASE_FIXTURE(three_layers,
                  "what could not be stored is found again, until a database has a result") {
  const tuning_layers opened = open();
  opened.remember(sample_function(), sample_key(), sample_tuning(4));
  CHECK(wgs_of(opened.find(sample_function(), sample_key())) == 4);
  CHECK(wgs_of(opened.find(sample_function(), sample_key(65))) == -1);
  CHECK(wgs_of(open().find(sample_function(), sample_key())) == 4);
  store(bottom, 8);
  CHECK(wgs_of(open().find(sample_function(), sample_key())) == 8);
}

void remember(record_memory& memory, const std::string& scope, const tune::record_key& key,
              std::int64_t wgs) {
  record found;
  found.values = sample_tuning(wgs);
  memory.remember(scope, sample_function(), key, found, memory.generation());
}

TEST_CASE("what was found is found again, in its scope and for its key alone") {
  record_memory memory;
  remember(memory, "a.db", sample_key(), 8);
  remember(memory, "b.db", sample_key(), 16);
  CHECK(memory.find("a.db", sample_function(), sample_key())->values == sample_tuning(8));
  CHECK(memory.find("b.db", sample_function(), sample_key())->values == sample_tuning(16));
  CHECK_FALSE(memory.find("c.db", sample_function(), sample_key()));
  CHECK_FALSE(memory.find("a.db", sample_function(), sample_key(65)));
  CHECK_FALSE(memory.find("a.db", sample_function("f", 1), sample_key()));
  tune::device_identity other = sample_device();
  other.performance.clock_mhz = 1;
  CHECK_FALSE(memory.find("a.db", sample_function(), sample_key(64, other)));
}

TEST_CASE("changed fields of a function are not answered from memory") {
  record_memory memory;
  remember(memory, "a.db", sample_key(), 8);
  auto changed = sample_function();
  changed.value_fields.push_back({"rows", tune::value_type::int32});
  CHECK_FALSE(memory.find("a.db", changed, sample_key()));
}

TEST_CASE("forgetting takes all scopes and devices of the same arguments, and nothing else") {
  record_memory memory;
  remember(memory, "a.db", sample_key(), 8);
  remember(memory, "b.db", sample_key(64, {"other", "p", "v"}), 8);
  remember(memory, "a.db", sample_key(65), 8);
  memory.forget(sample_function(), sample_key().arguments);
  CHECK_FALSE(memory.find("a.db", sample_function(), sample_key()));
  CHECK_FALSE(memory.find("b.db", sample_function(), sample_key(64, {"other", "p", "v"})));
  CHECK(memory.find("a.db", sample_function(), sample_key(65)));
  memory.forget_all();
  CHECK_FALSE(memory.find("a.db", sample_function(), sample_key(65)));
}

TEST_CASE("what was read before something was stored is not remembered after it") {
  record_memory memory;
  const auto before = memory.generation();
  memory.forget(sample_function(), sample_key().arguments);
  memory.remember("a.db", sample_function(), sample_key(), {}, before);
  CHECK_FALSE(memory.find("a.db", sample_function(), sample_key()));
}

TEST_CASE("it does not grow without end") {
  record_memory memory(2);
  for (std::int64_t rows = 1; rows <= 3; ++rows) remember(memory, "a.db", sample_key(rows), 8);
  CHECK_FALSE(memory.find("a.db", sample_function(), sample_key(1)));
  CHECK(memory.find("a.db", sample_function(), sample_key(3)));
}

locked_result result(std::int64_t rows, std::int64_t wgs,
                     tune::device_identity device = sample_device()) {
  return {.arguments = sample_key(rows).arguments,
          .values = sample_tuning(wgs),
          .device = std::move(device),
          .score_ns = 1500,
          .tuned_at = "2024-01-31T12:00:00Z",
          .programs = {"00ff"},
          .library_version = "1.2.3"};
}

tuning_lock sample_lock() {
  return tuning_lock({{sample_function("b"), {result(64, 4), result(32, 2)}},
                      {sample_function("a", 3), {result(64, 8)}}});
}

std::string absence(const tune::function_identity& function, const tune::record_key& key) {
  const tuning_lock lock = sample_lock();
  REQUIRE(lock.find(function, key) == nullptr);
  return lock.absence(function, key);
}

TEST_CASE("a lock written and read again is the same, whatever the order of its results") {
  const tuning_lock lock = sample_lock();
  const std::string text = lock.to_json();
  CHECK(tuning_lock::from_json(text).to_json() == text);
  CHECK(tuning_lock({{sample_function("a", 3), {result(64, 8)}},
                     {sample_function("b"), {result(32, 2), result(64, 4)}}})
            .to_json() == text);
  CHECK(tuning_lock::from_json(tuning_lock().to_json()).size() == 0);
}

TEST_CASE("a lock finds a result by its function, version, key and whole device") {
  const tuning_lock lock = tuning_lock::from_json(sample_lock().to_json());
  CHECK(lock.size() == 3);
  const locked_result* found = lock.find(sample_function("b"), sample_key(32));
  REQUIRE(found != nullptr);
  CHECK(found->values == sample_tuning(2));
  CHECK(found->score_ns == 1500);
  CHECK(found->tuned_at == "2024-01-31T12:00:00Z");
  CHECK(found->programs == std::vector<std::string>{"00ff"});
  CHECK(found->library_version == "1.2.3");
}

TEST_CASE("what a lock does not have is said in words") {
  CHECK(absence(sample_function("c"), sample_key()) == "it has nothing of c");
  CHECK(absence(sample_function("a", 2), sample_key()) == "it has version 3 of a, not version 2");
  CHECK(absence(sample_function("b"), sample_key(65)) == "it has this function, but not this key");
  auto other = sample_device();
  other.driver_version = "535.105";
  CHECK(absence(sample_function("b"), sample_key(64, other)) ==
        "it has this key for device 'GPU One', which differs in device_version");
  auto changed = sample_function("b");
  changed.value_fields.push_back({"unroll", tune::value_type::int32});
  CHECK(absence(changed, sample_key()) ==
        "the key or the tuning of b version 0 has other fields than when it was locked");
}

TEST_CASE("two results for one key and device are refused") {
  CHECK_THROWS_WITH_AS(tuning_lock({{sample_function("b"), {result(64, 4), result(64, 2)}}}),
                       doctest::Contains("two results of b version 0 for rows=64"),
                       tune::argument_error);
  CHECK_THROWS_WITH_AS(tuning_lock({{sample_function("b"), {}}, {sample_function("b"), {}}}),
                       doctest::Contains("b version 0 twice"), tune::argument_error);
}

TEST_CASE("a document that is no lock is refused, and the fault is named") {
  using nlohmann::json;
  const json good = tune::detail::parse_json<json>(sample_lock().to_json());
  const auto refused = [](const json& document, const char* reason) {
    CHECK_THROWS_WITH_AS(tuning_lock::from_json(document.dump()), doctest::Contains(reason),
                         tune::argument_error);
  };
  CHECK_THROWS_AS(tuning_lock::from_json("{"), tune::argument_error);
  CHECK_THROWS_AS(tuning_lock::from_json(""), tune::argument_error);
  refused(json::array(), "format");
  json other = good;
  other["format"] = "libtune tuning results";
  refused(other, "'format' is another");
  other = good;
  other["format_version"] = 2;
  refused(other, "'format_version' is not 1");
  other = good;
  other["functions"][0]["results"][0]["values"].erase("wgs");
  refused(other, "no 'wgs'");
  other = good;
  other["functions"][0]["results"][0].erase("device");
  refused(other, "no 'device'");
  other = good;
  other["functions"][0]["name"] = "no name";
  refused(other, "no name");
}

}  // namespace tuning_layers_test
