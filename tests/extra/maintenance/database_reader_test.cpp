// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/maintenance/database_reader.hpp"

#include <SQLiteCpp/SQLiteCpp.h>
#include <algorithm>
#include <chrono>
#include <doctest/doctest.h>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sqlite3.h>
#include <string>
#include <thread>
#include <vector>

#include "libtune/base/error.hpp"
#include "libtune/extra/maintenance/content_rows.hpp"
#include "libtune/extra/maintenance/merge.hpp"
#include "libtune/extra/maintenance/raw_table.hpp"
#include "libtune/extra/maintenance/written_rows.hpp"
#include "libtune/store/database/connection.hpp"
#include "libtune/store/database/tuning_database.hpp"
#include "tests/store/random_content.hpp"
#include "tests/store/samples.hpp"
#include "tests/store/temporary_folder.hpp"

namespace database_reader_test {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using namespace tune::testing;
using namespace tune::detail;
using namespace tune;
using names = std::vector<std::string>;

TEST_CASE("where there is no database nothing is read, and nothing is made") {
  const temporary_folder folder;
  database_reader reader(folder.file("none/tuning.db"));
  CHECK_FALSE(reader.has_tables());
  CHECK(reader.functions().empty());
  CHECK(reader.read_all().functions.empty());
  CHECK(reader.read(sample_function()).results.empty());
  CHECK(fs::is_empty(folder.path()));
  CHECK_THROWS_AS(database_reader("folder/"), tune::argument_error);
}

TEST_CASE("an empty file has no tables") {
  const temporary_folder folder;
  std::ofstream(folder.file("tuning.db")) << "";
  fs::permissions(folder.file("tuning.db"), fs::perms(0600));
  CHECK_FALSE(database_reader(folder.file("tuning.db")).has_tables());
}

TEST_CASE("functions are counted with their results, searches, trials and devices") {
  const temporary_folder folder;
  tuning_database database(folder.file("tuning.db"));
  const tune::device_identity other{"GPU Two", "Some Platform", "1"};
  database.store(sample_function(), sample_key(1), sample_tuning(1), 1);
  database.store(sample_function(), sample_key(2), sample_tuning(1), 1);
  database.store(sample_function(), sample_key(2, other), sample_tuning(1), 1);
  const auto search = database.begin_search(sample_function(), sample_key(1));
  for (int i = 0; i < 4; ++i) database.add_trial(search, {.outcome = "skipped"});
  database.store(sample_function("z"), sample_key(), sample_tuning(1), 1);

  database_reader reader(folder.file("tuning.db"));
  CHECK(reader.has_tables());
  const auto functions = reader.functions();
  REQUIRE(functions.size() == 2);
  CHECK(functions[0].function == sample_function());
  CHECK(functions[0].results == 3);
  CHECK(functions[0].searches == 1);
  CHECK(functions[0].trials == 4);
  CHECK(functions[0].devices.size() == 2);
  CHECK(functions[1].trials == 0);
}

TEST_CASE("all of it is every function, each as it is alone") {
  const temporary_folder folder;
  merge_content(folder.file("tuning.db"), random_content(3).next());
  database_reader reader(folder.file("tuning.db"));
  const auto all = reader.read_all();
  REQUIRE_FALSE(all.functions.empty());
  for (const auto& function : all.functions) {
    const auto alone = reader.read(function.function);
    CHECK(canonical_text(tune::database_content{{alone}}) ==
          canonical_text(tune::database_content{{function}}));
    tune::function_content parts{.function = function.function};
    reader.for_each_result(function.function, {},
                           [&](const auto& one) { parts.results.push_back(one); });
    for (const std::int64_t number : reader.find_searches(function.function)) {
      CHECK(reader.read_search(number, false).value().trials.empty());
      parts.searches.push_back(reader.read_search(number).value());
    }
    CHECK(canonical_text(tune::database_content{{parts}}) ==
          canonical_text(tune::database_content{{function}}));
  }
  CHECK(reader.damaged() == 0);
}

TEST_CASE("results and searches are chosen by key, device and space") {
  const temporary_folder folder;
  tuning_database database(folder.file("tuning.db"));
  auto other = sample_key(2);
  other.device.name = "GPU Two";
  for (const auto& key : {sample_key(1), sample_key(2), other}) {
    database.store(sample_function(), key, sample_tuning(1), 1);
    database.finish_search(database.begin_search(sample_function(), key), "found");
    database.begin_search(sample_function(), key);
  }
  database_reader reader(folder.file("tuning.db"));
  const auto results = [&](const tune::row_choice& rows) {
    std::size_t count = 0;
    reader.for_each_result(sample_function(), rows, [&](const auto&) { ++count; });
    return count;
  };
  const tune::row_choice key{.arguments = sample_key(2).arguments};
  CHECK(results({}) == 3);
  CHECK(results(key) == 2);
  CHECK(results({.device_name = "GPU Two"}) == 1);
  CHECK(results({.arguments = sample_key(1).arguments, .device_name = "GPU Two"}) == 0);
  CHECK(reader.any_result(sample_function(), {.device_name = "GPU Two"})->device() == other.device);
  CHECK_FALSE(reader.any_result(sample_function(), {.device_name = "GPU Three"}));
  using numbers = std::vector<std::int64_t>;
  CHECK(reader.find_searches(sample_function(), key) == numbers{3, 4, 5, 6});
  CHECK(reader.find_searches(sample_function(), {.device_name = "GPU Two"}) == numbers{5, 6});
  CHECK(reader.find_searches(sample_function(), {.space = "another"}).empty());
  // The unfinished ones are the latest of their keys.
  auto open = reader.find_open_searches(sample_function());
  std::ranges::sort(open);
  CHECK(open == numbers{2, 4, 6});
  CHECK_FALSE(reader.read_search(7));
}

TEST_CASE("a row may be changed while its reader looks at it") {
  const temporary_folder folder;
  const std::string path = folder.file("tuning.db");
  tuning_database database(path);
  for (int i = 0; i < 100; ++i)
    database.store(sample_function(), sample_key(i), sample_tuning(1), 1);
  database_reader reader(path);
  reader.for_each_result(sample_function(), {}, [&](const tune::result_content& one) {
    database.store(sample_function(), {one.arguments, one.device()}, sample_tuning(2), 1);
  });
  std::size_t changed = 0;
  reader.for_each_result(sample_function(), {}, [&](const tune::result_content& one) {
    changed += one.values == sample_tuning(2) ? 1 : 0;
  });
  CHECK(changed == 100);
}

TEST_CASE("for reading alone nothing is written, and others may go on writing") {
  const temporary_folder folder;
  tuning_database database(folder.file("tuning.db"));
  database.store(sample_function(), sample_key(1), sample_tuning(1), 1);
  database_reader reader(folder.file("tuning.db"), database_access::read_only);
  CHECK(reader.functions().at(0).results == 1);
  database.store(sample_function(), sample_key(2), sample_tuning(1), 1);
  CHECK(reader.functions().at(0).results == 2);
}

TEST_CASE("a file that is no database is an error that names it") {
  const temporary_folder folder;
  std::ofstream(folder.file("tuning.db")) << std::string(5000, 'x');
  fs::permissions(folder.file("tuning.db"), fs::perms(0600));
  database_reader reader(folder.file("tuning.db"));
  CHECK_THROWS_WITH_AS(reader.read_all(), doctest::Contains("tuning.db"), tune::database_error);
  CHECK_THROWS_AS(reader.has_tables(), tune::database_error);
}

constexpr const char* own_table =
    "CREATE TABLE t (b TEXT NOT NULL, a INTEGER NOT NULL, c INTEGER NOT NULL DEFAULT 7, "
    "d TEXT NOT NULL DEFAULT (hex(randomblob(4))), e REAL, f BLOB, "
    "checksum BLOB NOT NULL DEFAULT x'', PRIMARY KEY (a, b)) STRICT, WITHOUT ROWID";

/// A database with a table of ours beside one of a function.
struct open_database {
  open_database() {
    tune::tuning_database(path).store(sample_function("f"), sample_key(), sample_tuning(1), 1);
    opened = std::make_unique<connection>(path, 1s, 1s);
    opened->database().exec(own_table);
  }

  temporary_folder folder;
  std::string path = folder.file("tuning.db");
  std::unique_ptr<connection> opened;
};

std::vector<column_value> column(raw_table& table, const std::string& name) {
  std::vector<column_value> values;
  table.read({}, [&](SQLite::Statement& row) {
    values.push_back(read_column(row.getColumn(name.c_str())));
  });
  return values;
}

TEST_CASE_FIXTURE(open_database, "columns, key and defaults are known from the file alone") {
  const raw_table table(*opened, "t");
  CHECK(table.name() == "t");
  CHECK(table.columns() == names{"b", "a", "c", "d", "e", "f"});
  CHECK(table.key() == names{"a", "b"});
  CHECK(table.has("f"));
  CHECK_FALSE(table.has("checksum"));
  CHECK(table.default_of("c") == column_value(std::int64_t{7}));
  CHECK(table.default_of("d") == column_value(std::string()));  // an expression is not evaluated
  CHECK(table.default_of("e") == column_value());
}

TEST_CASE_FIXTURE(open_database, "a table that is not there is an error, whatever its name") {
  for (const char* name : {"none", "", "t\" UNION", "t; DROP TABLE t"}) {
    CHECK_THROWS_AS(raw_table(*opened, name), SQLite::Exception);
  }
  CHECK(raw_table(*opened, "t").count() == 0);
}

TEST_CASE_FIXTURE(open_database,
                  "every kind of value comes back as it was, in the order of the key") {
  raw_table table(*opened, "t");
  const std::string text("a\0'\"", 4);
  const std::vector<std::byte> bytes{std::byte{0}, std::byte{255}};
  table.write({bind_column("a", std::int64_t{2}), bind_column("b", text), bind_column("e", 0.1),
               bind_column("f", bytes)});
  table.write({bind_column("a", std::int64_t{1}), bind_column("b", std::string()),
               bind_column("f", std::vector<std::byte>())});
  CHECK(column(table, "a") == std::vector<column_value>{std::int64_t{1}, std::int64_t{2}});
  CHECK(column(table, "b") == std::vector<column_value>{std::string(), text});
  CHECK(column(table, "c") == std::vector<column_value>{std::int64_t{7}, std::int64_t{7}});
  CHECK(column(table, "e") == std::vector<column_value>{std::monostate(), 0.1});
  CHECK(column(table, "f") == std::vector<column_value>{std::vector<std::byte>(), bytes});
  CHECK(table.count() == 2);
}

TEST_CASE_FIXTURE(open_database, "a row whose checksum is wrong is counted and not visited") {
  raw_table table(*opened, "t");
  for (std::int64_t a = 0; a < 3; ++a) {
    table.write({bind_column("a", a), bind_column("b", std::string("x"))});
  }
  opened->database().exec("UPDATE t SET c = 8 WHERE a = 1");
  int visited = 0;
  CHECK(table.read({}, [&](SQLite::Statement&) { ++visited; }) == 1);
  CHECK(visited == 2);
  CHECK(table.count() == 3);
}

TEST_CASE("a row takes another's place only if it is told to") {
  const open_database database;
  raw_table table(*database.opened, "t");
  const auto row = [](std::int64_t c) {
    return std::vector{bind_column("a", std::int64_t{1}), bind_column("b", std::string("x")),
                       bind_column("c", c)};
  };
  table.write(row(1));
  CHECK_THROWS_AS(table.write(row(2)), SQLite::Exception);
  CHECK(column(table, "c") == std::vector<column_value>{std::int64_t{1}});
  table.write(row(2), true);
  CHECK(column(table, "c") == std::vector<column_value>{std::int64_t{2}});
}

TEST_CASE_FIXTURE(open_database, "a column that the table lacks is refused by name") {
  raw_table table(*opened, "t");
  CHECK_THROWS_WITH_AS(table.write({bind_column("later", std::int64_t{1})}),
                       doctest::Contains("'later'"), tune::argument_error);
}

/// True if nobody can begin to read, because a writer waits for those that read already.
bool keeps_readers_out(SQLite::Database& database) {
  try {
    database.execAndGet("SELECT count(*) FROM libtune_meta");
    return false;
  } catch (const SQLite::Exception&) {
    return true;
  }
}

TEST_CASE_FIXTURE(
    open_database,
    "others commit while rows are read, and the reading goes on behind the last row") {
  const auto add = [&](connection& to, std::int64_t a, const std::string& b) {
    raw_table(to, "t").write({bind_column("a", a), bind_column("b", b)});
  };
  for (const char* b : {"x", "y", "z"}) add(*opened, 1, b);
  raw_table table(*opened, "t");
  SQLite::Database other(path, SQLite::OPEN_READWRITE);
  connection writes(path, 60s, 60s);
  std::jthread writer;
  const auto let_one_wait = [&] {
    if (writer.joinable()) return;
    writer = std::jthread([&] { add(writes, 2, "x"); });
    while (!keeps_readers_out(other)) std::this_thread::yield();
    std::this_thread::sleep_for(20ms);  // longer than others are kept waiting
  };
  std::vector<column_value> read;
  SUBCASE("whole rows") {
    table.read({}, [&](SQLite::Statement& row) {
      read.push_back(read_column(row.getColumn("b")));
      let_one_wait();
    });
  }
  SUBCASE("some columns of them") {
    table.scan({"c", "b"}, {}, [&](SQLite::Statement& row) {
      read.push_back(read_column(row.getColumn(1)));
      let_one_wait();
    });
  }
  CHECK(read == std::vector<column_value>{std::string("x"), std::string("y"), std::string("z"),
                                          std::string("x")});
}

TEST_CASE_FIXTURE(
    open_database,
    "rows of a value are read behind the last one, too, and nobody commits in a transaction") {
  raw_table table(*opened, "t");
  for (std::int64_t a = 0; a < 2; ++a) {
    for (const char* b : {"x", "y"})
      table.write({bind_column("a", a), bind_column("b", std::string(b))});
  }
  std::vector<column_value> read;
  const auto visit = [&](SQLite::Statement& row) {
    read.push_back(read_column(row.getColumn("b")));
    std::this_thread::sleep_for(5ms);
  };
  table.read({bind_column("a", std::int64_t{1})}, visit);
  CHECK(read == std::vector<column_value>{std::string("x"), std::string("y")});
  table.read({bind_column("c", std::int64_t{7})}, visit);
  CHECK(read.size() == 6);
  const SQLite::Transaction one_state(opened->database());
  table.read({}, [&](SQLite::Statement& row) {
    visit(row);
    CHECK(sqlite3_get_autocommit(opened->database().getHandle()) == 0);
  });
  CHECK(read.size() == 10);
}

constexpr const char* function_table = "f__0";

/// Two results and a search with two trials.
struct filled_database {
  filled_database() {
    tune::tuning_database database(path);
    database.store(sample_function("f"), sample_key(64), sample_tuning(1), 1500);
    database.store(sample_function("f"), sample_key(65), sample_tuning(2), std::nullopt);
    const auto search = database.begin_search(sample_function("f"), sample_key(64));
    for (const std::int64_t wgs : {1, 2}) {
      database.add_trial(search, {.configuration = sample_tuning(wgs), .outcome = "measured"});
    }
    opened = std::make_unique<connection>(path, 1s, 1s);
  }

  function_content read() {
    database_reader reader(path);
    const function_content content = reader.read(sample_function("f"));
    damaged = reader.damaged();
    return content;
  }
  void change(const std::string& sql) { opened->database().exec(sql); }

  temporary_folder folder;
  std::string path = folder.file("tuning.db");
  std::unique_ptr<connection> opened;
  std::size_t damaged = 0;
};

TEST_CASE("results are read with their fields apart from their other columns") {
  filled_database database;
  const function_content content = database.read();
  REQUIRE(content.results.size() == 2);
  CHECK(content.results[0].arguments == sample_key(64).arguments);
  CHECK(content.results[0].values == sample_tuning(1));
  CHECK(content.results[0].device().name == sample_device().name);
  CHECK(content.results[0].score_ns() == 1500);
  CHECK_FALSE(content.results[1].score_ns());
  for (const char* name : {"arg_rows", "value_wgs", "checksum"}) {
    CHECK_FALSE(content.results[0].columns.contains(name));
  }
  CHECK(database.damaged == 0);
}

TEST_CASE("damaged rows are left out and counted, wherever they are") {
  filled_database database;
  database.change("UPDATE f__0 SET value_wgs = 9 WHERE arg_rows = 65");
  CHECK(database.read().results.size() == 1);
  CHECK(database.damaged == 1);
  database.change("UPDATE libtune_trial SET configuration = '{}' WHERE position = 0");
  CHECK(database.read().searches[0].trials.size() == 1);
  CHECK(database.damaged == 2);
  database.change("UPDATE libtune_search SET result = 'found'");
  CHECK(database.read().searches.empty());
  CHECK(database.damaged == 2);
}

TEST_CASE("a result takes the place of the one with its key; a search never does") {
  filled_database database;
  function_content content = database.read();
  content.results[0].values = sample_tuning(8);
  raw_table results(*database.opened, function_table);
  write_result(results, content.results[0]);
  search_tables tables(*database.opened);
  write_search(*database.opened, tables, sample_function("f"), content.searches[0]);
  const function_content now = database.read();
  CHECK(now.results.size() == 2);
  CHECK(now.results[0].values == sample_tuning(8));
  REQUIRE(now.searches.size() == 2);
  CHECK(canonical_text(now.searches[0]) == canonical_text(now.searches[1]));
}

void store(const std::string& path, const function_identity& function) {
  tune::tuning_database(path).store(function, sample_key(), sample_tuning(1), 1);
}

std::vector<function_identity> functions_of(const std::string& path, std::size_t damaged = 0) {
  database_reader reader(path);
  std::vector<function_identity> found;
  for (const auto& each : reader.functions()) found.push_back(each.function);
  CHECK(reader.damaged() == damaged);
  return found;
}

TEST_CASE("functions come by name and version, with their fields in order") {
  const temporary_folder folder;
  const std::string path = folder.file("tuning.db");
  const std::vector<function_identity> stored{sample_function("a.b", 2), sample_function("a.b", 10),
                                              sample_function("z", 0)};
  for (const std::size_t i : {2, 1, 0}) store(path, stored[i]);
  CHECK(functions_of(path) == stored);
}

TEST_CASE("optional fields and every type are known again") {
  const temporary_folder folder;
  const std::string path = folder.file("tuning.db");
  const function_identity function{
      .name = "f",
      .version = 1,
      .key_fields = {{"z", value_type::uint64, true}, {"a", value_type::enumeration}},
      .value_fields = {{"x", value_type::float64, true}}};
  tune::tuning_database(path).store(
      function,
      {.arguments = {{"z", tune::value()}, {"a", std::string("e")}}, .device = sample_device()},
      {{"x", 0.5}}, 1);
  CHECK(functions_of(path) == std::vector{function});
}

TEST_CASE("a function whose table is gone, or is another, is left out and counted") {
  for (const char* change :
       {"DROP TABLE f__0", "ALTER TABLE f__0 RENAME COLUMN value_wgs TO value_other",
        "UPDATE libtune_function SET columns = 'arg_rows nonsense'",
        "UPDATE libtune_function SET version = 1"}) {
    CAPTURE(change);
    const temporary_folder folder;
    const std::string path = folder.file("tuning.db");
    store(path, sample_function("f"));
    store(path, sample_function("g"));
    std::string sql = change;
    if (sql.starts_with("UPDATE")) sql += " WHERE name = 'f'";
    SQLite::Database(path, SQLite::OPEN_READWRITE).exec(sql);
    const bool gone = sql.starts_with("DROP");
    if (gone) {
      connection opened(path, 1s, 1s);
      std::size_t damaged = 0;
      CHECK_THROWS_AS(read_functions(opened, damaged), SQLite::Exception);
    } else {
      CHECK(functions_of(path, 1) == std::vector{sample_function("g")});
    }
  }
}

}  // namespace database_reader_test
