// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/store/database/trial_log.hpp"

#include <SQLiteCpp/SQLiteCpp.h>
#include <chrono>
#include <cmath>
#include <doctest/doctest.h>
#include <limits>
#include <map>
#include <memory>

#include "libtune/store/database/connection.hpp"
#include "libtune/store/database/database_file.hpp"
#include "libtune/store/database/function_identity.hpp"
#include "libtune/store/database/function_table.hpp"
#include "libtune/store/database/identity_column.hpp"
#include "libtune/store/database/schema.hpp"
#include "libtune/store/database/search_notes.hpp"
#include "libtune/store/database/stored_trial.hpp"
#include "tests/store/samples.hpp"
#include "tests/store/temporary_folder.hpp"

namespace trial_log_test {

using namespace std::chrono_literals;
using namespace tune::testing;
using namespace tune::detail;
using namespace tune;

/// A database with the table of sample_function and an open write transaction.
struct open_log {
  open_log() {
    create_private_file(folder.file("tuning.db"));
    opened = std::make_unique<connection>(folder.file("tuning.db"), 1s, 1s);
    transaction = std::make_unique<write_transaction>(*opened, 1s);
    function_table::create(*opened, sample_function());
  }

  temporary_folder folder;
  std::unique_ptr<connection> opened;
  std::unique_ptr<write_transaction> transaction;
};

/// A search of sample_function() that has begun.
struct begun_search : open_log {
  SQLite::Database& database() const { return opened->database(); }
  void insert(const stored_trial& trial) const { insert_trial(*opened, search, trial); }
  std::vector<stored_trial> trials() const { return read_trials(*opened, search); }
  int count_of(const std::string& table) const {
    return database().execAndGet("SELECT count(*) FROM " + table).getInt();
  }

  search_id search = insert_search(*opened, sample_function(), sample_key());
};

std::vector<stored_trial> sample_trials() {
  return {
      {.configuration = {{"wgs", std::int64_t{64}},
                         {"bytes", std::numeric_limits<std::uint64_t>::max()},
                         {"one", std::uint64_t{1}},
                         {"scale", -0.0},
                         {"vector", true},
                         {"layout", std::string("row\0'major", 10)},
                         {"pad", tune::value()}},
       .outcome = "measured",
       .samples_ns = {1500.25, 0.1, 1e300},
       .score_ns = 1500.25,
       .preparation = 123456789012ns,
       .level = 1.0625,
       .score_lower_ns = 0.1,
       .score_upper_ns = 1e300,
       .metrics = {{"gflops", 0.1 + 0.2, "GFLOP/s"},
                   {"energy", std::numeric_limits<double>::quiet_NaN(), "J"},
                   {"registers", 64}}},
      {.configuration = {{"wgs", std::int64_t{65}}},
       .outcome = "compile failed",
       .message = "error: it's \"wrong\"; \xff"},
      {.outcome = "skipped"},
  };
}

TEST_CASE_FIXTURE(begun_search, "the trials of a search come back in order, exactly") {
  for (const stored_trial& trial : sample_trials()) insert(trial);
  const auto found = read_latest_search(*opened, sample_function(), sample_key());
  REQUIRE(found);
  CHECK(found->id == search);
  REQUIRE(found->trials.size() == 3);
  for (std::size_t i = 0; i < 3; ++i) {
    CAPTURE(i);
    CHECK(found->trials[i] == sample_trials()[i]);
  }
  CHECK(std::signbit(std::get<double>(found->trials[0].configuration[3].value)));
}

TEST_CASE("a trial takes the place of its own configuration, not of one that reads the same") {
  using std::string;
  // The texts of both are "a=1, b=2, b=3", or "a=none".
  const std::vector<std::vector<tune::named_value>> alike{
      {{"a", string("1, b=2")}, {"b", string("3")}},
      {{"a", string("1")}, {"b", string("2, b=3")}},
      {{"a", string("none")}},
      {{"a", tune::value()}}};
  open_log log;
  const search_id search = insert_search(*log.opened, sample_function(), sample_key());
  for (const auto& configuration : alike) {
    insert_trial(*log.opened, search, {.configuration = configuration, .outcome = "skipped"});
  }
  for (const std::size_t place : {0, 2, 3}) {
    replace_trial(
        *log.opened, search,
        {.configuration = alike[place], .outcome = "failed", .message = std::to_string(place)});
  }
  const auto trials = read_trials(*log.opened, search);
  REQUIRE(trials.size() == alike.size());
  for (std::size_t place = 0; place < alike.size(); ++place) {
    CHECK(trials[place].configuration == alike[place]);
    CHECK(trials[place].message == (place == 1 ? "" : std::to_string(place)));
  }
}

TEST_CASE("the latest search of a key is its own, of no other key, device or version") {
  open_log log;
  function_table::create(*log.opened, sample_function("multiply_template.autotune", 1));
  const auto latest = [&](const tune::record_key& key, int version = 0) {
    return read_latest_search(*log.opened, sample_function("multiply_template.autotune", version),
                              key);
  };
  CHECK_FALSE(latest(sample_key()));
  const search_id first = insert_search(*log.opened, sample_function(), sample_key());
  CHECK(latest(sample_key())->id == first);
  const search_id second = insert_search(*log.opened, sample_function(), sample_key());
  CHECK(second != first);
  insert_search(*log.opened, sample_function(), sample_key(65));
  insert_search(*log.opened, sample_function(), sample_key(64, {"GPU Two", "p", "1"}));
  insert_search(*log.opened, sample_function("multiply_template.autotune", 1), sample_key());
  CHECK(latest(sample_key())->id == second);
  CHECK(latest(sample_key(65))->id != second);
  CHECK_FALSE(latest(sample_key(66)));
  CHECK_FALSE(latest(sample_key(64, {"GPU One", "Some Platform", "536"})));
}

TEST_CASE_FIXTURE(begun_search, "a search is found again when members of the key change places") {
  tune::record_key key = sample_key();
  std::swap(key.arguments[0], key.arguments[1]);
  CHECK(read_latest_search(*opened, sample_function(), key)->id == search);
}

TEST_CASE_FIXTURE(begun_search, "removing a search removes its trials") {
  insert(sample_trials()[0]);
  database().exec("DELETE FROM libtune_search");
  CHECK(database().execAndGet("SELECT count(*) FROM libtune_trial").getInt() == 0);
}

TEST_CASE_FIXTURE(begun_search, "a database has a table of metrics from the first metric on") {
  insert(sample_trials()[1]);
  CHECK_FALSE(database().tableExists("libtune_metrics"));
  CHECK(trials().front().metrics.empty());
  insert(sample_trials()[0]);
  const auto read = trials();
  CHECK(read[0].metrics.empty());
  CHECK(read[1].metrics == sample_trials()[0].metrics);
  // The marks are those of before, so that older libtunes go on using the file.
  CHECK(read_marks(database(), "db") == schema_version);
}

TEST_CASE_FIXTURE(
    begun_search,
    "metrics go with their trial, also when a libtune without metrics replaces or removes it") {
  insert(sample_trials()[0]);
  REQUIRE(count_of("libtune_metrics") == 1);
  // This statement knows nothing of metrics.
  SQLite::Statement replace(database(), insert_trial_sql());
  replace.bind(1, static_cast<std::int64_t>(search));
  replace.bind(2, 0);
  bind_trial(replace, sample_trials()[1]);
  replace.exec();
  CHECK(count_of("libtune_metrics") == 0);
  insert(sample_trials()[0]);
  database().exec("DELETE FROM libtune_search");
  CHECK(count_of("libtune_metrics") == 0);
}

TEST_CASE_FIXTURE(begun_search, "the course of a search is noted beside it, and goes with it") {
  CHECK_FALSE(database().tableExists("libtune_course"));
  note_course(*opened, search, {.strategy = "model"});
  note_course(*opened, search, {.strategy = "random", .ending = "time"});
  CHECK(count_of("libtune_course") == 1);
  CHECK(count_of("libtune_course WHERE strategy = 'random' AND ending = 'time'") == 1);
  CHECK(read_marks(database(), "db") == schema_version);
  database().exec("DELETE FROM libtune_search");
  CHECK(count_of("libtune_course") == 0);
}

TEST_CASE_FIXTURE(begun_search, "the space of a search is noted beside it, and goes with it") {
  CHECK_FALSE(database().tableExists("libtune_space"));
  note_space(*opened, search, {.combinations = 1});
  note_space(*opened, search, {.combinations = 6});
  CHECK(count_of("libtune_space WHERE outline ->> '$.combinations' = 6") == 1);
  CHECK(read_marks(database(), "db") == schema_version);
  database().exec("DELETE FROM libtune_search");
  CHECK(count_of("libtune_space") == 0);
}

TEST_CASE("a space comes back as it was, and nothing comes from other texts") {
  const tune::stored_space space{
      .combinations = 12,
      .configurations = 7,
      .removals = {{"the tile fits", 5}, {"", 0}},
      .parameters = {{"wgs", {std::int64_t{32}, std::uint64_t{1} << 63}},
                     {"scale", {-0.5, std::numeric_limits<double>::infinity()}},
                     {"\xff", {std::string("\xff"), true, tune::value()}}}};
  const std::string text = space_to_json(space);
  CHECK(space_from_json(text) == space);
  CHECK(space_from_json(space_to_json({})) == tune::stored_space{});
  for (const char* other : {"", "null", "{}", "[[[[[[[[1]]]]]]]]", R"({"combinations":"many"})",
                            R"({"combinations":1e300,"configurations":1,"removals":[],
                                "parameters":[]})",
                            R"({"combinations":-1,"configurations":1,"removals":[],
                                "parameters":[]})",
                            R"({"combinations":1,"configurations":1,"removals":[],
                                "parameters":[["wgs",[[1]]]]})"}) {
    CAPTURE(other);
    CHECK_FALSE(space_from_json(other));
  }
}

TEST_CASE_FIXTURE(begun_search, "damaged metrics are left out, and the trial stays") {
  insert(sample_trials()[0]);
  database().exec("UPDATE libtune_metrics SET metrics = '[[\"gflops\", 1e9]]'");
  const auto read = trials();
  REQUIRE(read.size() == 1);
  CHECK(read[0].metrics.empty());
  CHECK(read[0].score_ns == sample_trials()[0].score_ns);
}

TEST_CASE("a text that is no list of metrics is none, whatever it nests") {
  for (const char* text :
       {"", "{}", "[1]", R"([["a"]])", R"([[1, 2]])", R"([["a", "b"]])", "[[["}) {
    CAPTURE(text);
    CHECK(metrics_from_json(text).empty());
  }
  CHECK(metrics_from_json(R"([["a",[[[1]]]],["b",2]])") == std::vector<tune::metric>{{"b", 2}});
  const std::string deep = std::string(200, '[') + std::string(200, ']');
  CHECK(metrics_from_json(R"([["b",2],)" + deep + "]").empty());
}

TEST_CASE_FIXTURE(begun_search, "a person can read which configuration took how long") {
  insert({.configuration = {{"wgs", std::int64_t{64}}, {"vector", true}},
          .outcome = "measured",
          .samples_ns = {2.0, 4.0},
          .score_ns = 3.0});
  SQLite::Statement select(database(),
                           "SELECT arguments, configuration, outcome, score_ns, "
                           "(SELECT sum(value) FROM json_each(samples_ns)) "
                           "FROM libtune_trial JOIN libtune_search ON id = search_id");
  REQUIRE(select.executeStep());
  CHECK(select.getColumn(0).getString() == "rows=64, type=float32");
  CHECK(select.getColumn(1).getString() == R"({"wgs":64,"vector":true})");
  CHECK(select.getColumn(2).getString() == "measured");
  CHECK(select.getColumn(3).getDouble() == 3.0);
  CHECK(select.getColumn(4).getDouble() == 6.0);
}

/// Writes a text in the place of another, with a right checksum.
void falsify(connection& database, const std::string& column, const std::string& text) {
  std::vector<std::string> columns;
  SQLite::Statement names(database.database(),
                          "SELECT name FROM pragma_table_info('libtune_trial') "
                          "WHERE name <> 'checksum'");
  while (names.executeStep()) columns.push_back(names.getColumn(0).getString());
  const row_layout layout{"libtune_trial", columns};
  SQLite::Statement update(database.database(), layout.update({{column, "?1"}}));
  update.bind(1, text);
  update.exec();
}

TEST_CASE("a text that is no list of samples or configuration is an error despite its checksum") {
  const std::map<std::string, std::vector<std::string>> texts{
      {"samples_ns", {"", "[1, ", "{}", "[\"1\"]", "[null]"}},
      {"configuration",
       {"", "[1]", "{\"wgs\":", R"({"wgs":[64]})", R"({"wgs":{"unsigned":-1}})",
        R"({"wgs":{"unsigned":1,"real":"nan"}})", R"({"wgs":{"real":"1.5"}})",
        R"({"wgs":{"text":"0g"}})", R"({"wgs":9223372036854775808})", R"({"wgs":{"x":{}}})",
        "{\"wgs\":" + std::string(100000, '[') + std::string(100000, ']') + "}"}}};
  open_log log;
  const search_id search = insert_search(*log.opened, sample_function(), sample_key());
  insert_trial(*log.opened, search, sample_trials()[0]);
  for (const auto& [column, all] : texts) {
    for (const std::string& text : all) {
      CAPTURE(text);
      falsify(*log.opened, column, text);
      CHECK_THROWS_AS(read_latest_search(*log.opened, sample_function(), sample_key()),
                      SQLite::Exception);
    }
    falsify(*log.opened, column, column == "samples_ns" ? "[]" : "{}");
    CHECK(read_latest_search(*log.opened, sample_function(), sample_key())->trials.size() == 1);
  }
}

TEST_CASE("a configuration that JSON has no words for comes back exactly") {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  for (const tune::value& v :
       {tune::value(std::uint64_t{64}), tune::value(infinity), tune::value(-infinity),
        tune::value(std::numeric_limits<std::int64_t>::min()), tune::value(5e-324),
        tune::value(std::string("nan")), tune::value(std::string("\xff\0", 2))}) {
    const auto text = configuration_to_json({{"v", v}});
    CAPTURE(text);
    CHECK(configuration_from_json(text).at(0).value == v);
  }
  const auto text = configuration_to_json({{"v", std::nan("")}});
  CHECK(text == R"({"v":{"real":"nan"}})");
  CHECK(std::isnan(std::get<double>(configuration_from_json(text).at(0).value)));
}

TEST_CASE("a trial is left out if any part of it is damaged") {
  for (const char* change :
       {"UPDATE libtune_trial SET score_ns = 1.5 WHERE position = 0",
        "UPDATE libtune_trial SET checksum = x'' WHERE position = 0",
        "UPDATE libtune_trial SET configuration = '{\"wgs\":1}' WHERE position = 0"}) {
    CAPTURE(change);
    open_log log;
    const search_id search = insert_search(*log.opened, sample_function(), sample_key());
    for (int i = 0; i < 2; ++i) insert_trial(*log.opened, search, sample_trials()[0]);
    log.opened->database().exec(change);
    const auto found = read_latest_search(*log.opened, sample_function(), sample_key());
    REQUIRE(found);
    CHECK(found->trials == std::vector{sample_trials()[0]});
  }
}

TEST_CASE("a damaged search counts as not there, and the one before it is the latest") {
  open_log log;
  const search_id first = insert_search(*log.opened, sample_function(), sample_key());
  const search_id second = insert_search(*log.opened, sample_function(), sample_key());
  log.opened->database().exec("UPDATE libtune_search SET result = 'x' WHERE id = " +
                              std::to_string(static_cast<std::int64_t>(second)));
  CHECK_FALSE(has_search(*log.opened, second));
  CHECK(read_latest_search(*log.opened, sample_function(), sample_key())->id == first);
}

struct opened_database {
  opened_database() {
    create_private_file(folder.file("tuning.db"));
    opened = std::make_unique<connection>(folder.file("tuning.db"), 1s, 1s);
  }

  std::unique_ptr<function_table> create(const function_identity& function) {
    write_transaction transaction(*opened, 1s);
    auto table = function_table::create(*opened, function);
    transaction.commit();
    return table;
  }

  temporary_folder folder;
  std::unique_ptr<connection> opened;
};

std::string drift_of(opened_database& database, const function_identity& function) {
  try {
    function_table::open(*database.opened, function);
  } catch (const tune::schema_drift_error& drift) {
    return drift.what();
  }
  return {};
}

TEST_CASE("a table made with other fields is refused, and each column is named") {
  opened_database database;
  const auto made = database.create(sample_function("f", 4));
  CHECK(drift_of(database, sample_function("f", 4)).empty());
  function_identity changed = sample_function("f", 4);
  changed.key_fields[0].type = value_type::int64;
  changed.key_fields[1].optional = true;
  changed.value_fields = {{"vector", value_type::boolean}};
  const std::string text = drift_of(database, changed);
  for (const char* part :
       {"arg_rows was int32 and is int64", "arg_type was dtype and is dtype optional",
        "value_wgs is gone", "value_vector is new", "'f', version 4", "raise the version"}) {
    CHECK_MESSAGE(text.find(part) != std::string::npos, part);
  }
  CHECK(text.find(database.folder.file("tuning.db")) != std::string::npos);
}

TEST_CASE("columns are described in the order of their names") {
  function_identity function = sample_function();
  function.key_fields = {{"type", value_type::element_type}, {"rows", value_type::uint64, true}};
  CHECK(describe_columns(function) ==
        "arg_rows uint64 optional\narg_type dtype\nvalue_wgs int32\n");
}

TEST_CASE_FIXTURE(opened_database,
                  "a table has columns for the fields, keyed by arguments and device") {
  function_identity function = sample_function("f.autotune", 3);
  function.key_fields[1].optional = true;
  function.value_fields.push_back({"pad", value_type::int32, true});
  const auto table = create(function);
  std::string declared;
  std::string key;
  for (const tune::identity_column& column : tune::identity_columns()) {
    declared += "  " + tune::identity_column_sql(column) + ",\n";
    key += ", \"" + std::string(column.name) + '"';
  }
  CHECK(opened->database()
            .execAndGet("SELECT sql FROM sqlite_schema WHERE name = 'f.autotune__3'")
            .getString() ==
        "CREATE TABLE \"f.autotune__3\" (\n"
        "  \"arg_rows\" INTEGER NOT NULL,\n"
        "  \"arg_type\" ANY NOT NULL,\n" +
            declared +
            "  \"value_wgs\" INTEGER NOT NULL,\n"
            "  \"value_pad\" INTEGER,\n"
            "  \"score_ns\" REAL CHECK (\"score_ns\" > 0 AND \"score_ns\" "
            "< 9e999),\n"
            "  \"tuned_at\" TEXT NOT NULL,\n"
            "  \"checksum\" BLOB NOT NULL,\n"
            "  PRIMARY KEY (\"arg_rows\", \"arg_type\"" +
            key +
            ")\n"
            ") STRICT, WITHOUT ROWID");
}

TEST_CASE_FIXTURE(opened_database, "members that changed places are no drift") {
  function_identity function = sample_function();
  const auto table = create(function);
  table->store(sample_key(), sample_tuning(32), 1);
  std::swap(function.key_fields[0], function.key_fields[1]);
  auto arguments = sample_key().arguments;
  std::swap(arguments[0], arguments[1]);
  const auto reopened = function_table::open(*opened, function);
  REQUIRE(reopened);
  CHECK(reopened->find(arguments, sample_device())->values == sample_tuning(32));
}

TEST_CASE_FIXTURE(opened_database,
                  "the latest results of a device are found, and damage among them is left out") {
  const auto table = create(sample_function());
  tune::device_identity other = sample_device();
  other.name = "GPU Two";
  {
    write_transaction transaction(*opened, 1s);
    for (const std::int64_t rows : {1, 2, 3, 4}) {
      table->store(sample_key(rows), sample_tuning(rows), 1);
      table->store(sample_key(rows, other), sample_tuning(9), 1);
    }
    transaction.commit();
  }
  CHECK(table->results_of(sample_device(), 10).size() == 4);
  CHECK(table->results_of(sample_device(), 2).size() == 2);
  opened->database().exec("UPDATE \"" + table_name(sample_function()) +
                          "\" SET value_wgs = 77 WHERE arg_rows = 2");
  const auto found = table->results_of(sample_device(), 10);
  CHECK(found.size() == 3);
  for (const tune::other_result& result : found) {
    CHECK(result.values.front().value == result.arguments.front().value);
  }
}

TEST_CASE_FIXTURE(
    opened_database,
    "a table too large to be looked through has no results of similar arguments, and no fault") {
  const auto table = create(sample_function());
  {
    write_transaction transaction(*opened, 1s);
    for (std::int64_t rows = 0; rows < 500; ++rows) {
      table->store(sample_key(rows), sample_tuning(rows), 1);
    }
    transaction.commit();
  }
  {
    const work_limit none(*opened, 0ms);
    CHECK(table->results_of(sample_device(), 10).empty());
  }
  CHECK(table->results_of(sample_device(), 10).size() == 10);
  // The table itself can be used as before.
  CHECK(table->find(sample_key(7).arguments, sample_device()));
}

}  // namespace trial_log_test
