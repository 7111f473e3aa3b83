// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/maintenance/raw_table.hpp"

#include <SQLiteCpp/SQLiteCpp.h>
#include <chrono>
#include <doctest/doctest.h>
#include <sqlite3.h>
#include <string>
#include <thread>
#include <vector>

#include "libtune/base/error.hpp"
#include "libtune/store/database/connection.hpp"
#include "libtune/store/database/tuning_database.hpp"
#include "tests/store/samples.hpp"
#include "tests/store/temporary_folder.hpp"

namespace raw_table_test {

using namespace std::chrono_literals;
using tune::column_value;
using tune::detail::bind_column;
using tune::detail::connection;
using tune::detail::raw_table;
using tune::testing::sample_function;
using tune::testing::sample_key;
using tune::testing::sample_tuning;
using names = std::vector<std::string>;

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

  tune::testing::temporary_folder folder;
  std::string path = folder.file("tuning.db");
  std::unique_ptr<connection> opened;
};

std::vector<column_value> column(raw_table& table, const std::string& name) {
  std::vector<column_value> values;
  table.read({}, [&](SQLite::Statement& row) {
    values.push_back(tune::detail::read_column(row.getColumn(name.c_str())));
  });
  return values;
}

TEST_CASE("columns, key and defaults are known from the file alone") {
  const open_database database;
  const raw_table table(*database.opened, "t");
  CHECK(table.name() == "t");
  CHECK(table.columns() == names{"b", "a", "c", "d", "e", "f"});
  CHECK(table.key() == names{"a", "b"});
  CHECK(table.has("f"));
  CHECK_FALSE(table.has("checksum"));
  CHECK(table.default_of("c") == column_value(std::int64_t{7}));
  CHECK(table.default_of("d") == column_value(std::string()));  // an expression is not evaluated
  CHECK(table.default_of("e") == column_value());
}

TEST_CASE("a table that is not there is an error, whatever its name") {
  const open_database database;
  for (const char* name : {"none", "", "t\" UNION", "t; DROP TABLE t"}) {
    CHECK_THROWS_AS(raw_table(*database.opened, name), SQLite::Exception);
  }
  CHECK(raw_table(*database.opened, "t").count() == 0);
}

TEST_CASE("every kind of value comes back as it was, in the order of the key") {
  const open_database database;
  raw_table table(*database.opened, "t");
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

TEST_CASE("a row whose checksum is wrong is counted and not visited") {
  const open_database database;
  raw_table table(*database.opened, "t");
  for (std::int64_t a = 0; a < 3; ++a) {
    table.write({bind_column("a", a), bind_column("b", std::string("x"))});
  }
  database.opened->database().exec("UPDATE t SET c = 8 WHERE a = 1");
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

TEST_CASE("a column that the table lacks is refused by name") {
  const open_database database;
  raw_table table(*database.opened, "t");
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

TEST_CASE("others commit while rows are read, and the reading goes on behind the last row") {
  const open_database database;
  const auto add = [&](connection& to, std::int64_t a, const std::string& b) {
    raw_table(to, "t").write({bind_column("a", a), bind_column("b", b)});
  };
  for (const char* b : {"x", "y", "z"}) add(*database.opened, 1, b);
  raw_table table(*database.opened, "t");
  SQLite::Database other(database.path, SQLite::OPEN_READWRITE);
  connection writes(database.path, 60s, 60s);
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
      read.push_back(tune::detail::read_column(row.getColumn("b")));
      let_one_wait();
    });
  }
  SUBCASE("some columns of them") {
    table.scan({"c", "b"}, {}, [&](SQLite::Statement& row) {
      read.push_back(tune::detail::read_column(row.getColumn(1)));
      let_one_wait();
    });
  }
  CHECK(read == std::vector<column_value>{std::string("x"), std::string("y"), std::string("z"),
                                          std::string("x")});
}

TEST_CASE(
    "rows of a value are read behind the last one, too, and nobody commits in a transaction") {
  const open_database database;
  raw_table table(*database.opened, "t");
  for (std::int64_t a = 0; a < 2; ++a) {
    for (const char* b : {"x", "y"})
      table.write({bind_column("a", a), bind_column("b", std::string(b))});
  }
  std::vector<column_value> read;
  const auto visit = [&](SQLite::Statement& row) {
    read.push_back(tune::detail::read_column(row.getColumn("b")));
    std::this_thread::sleep_for(5ms);
  };
  table.read({bind_column("a", std::int64_t{1})}, visit);
  CHECK(read == std::vector<column_value>{std::string("x"), std::string("y")});
  table.read({bind_column("c", std::int64_t{7})}, visit);
  CHECK(read.size() == 6);
  const SQLite::Transaction one_state(database.opened->database());
  table.read({}, [&](SQLite::Statement& row) {
    visit(row);
    CHECK(sqlite3_get_autocommit(database.opened->database().getHandle()) == 0);
  });
  CHECK(read.size() == 10);
}

}  // namespace raw_table_test
