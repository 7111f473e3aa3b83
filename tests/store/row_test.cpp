// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include <SQLiteCpp/SQLiteCpp.h>
#include <doctest/doctest.h>
#include <set>
#include <string>
#include <vector>

#include "libtune/base/sha256.hpp"
#include "libtune/store/database/schema.hpp"

namespace row_test {

using tune::detail::checksum_expression;
using tune::detail::column_term;
using tune::detail::row_layout;

SQLite::Database in_memory() {
  SQLite::Database database(":memory:", SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
  tune::detail::register_row_checksum(database);
  return database;
}

std::string hex_of(SQLite::Database& database, const std::string& expression) {
  return database.execAndGet("SELECT hex(" + expression + ")").getString();
}

TEST_CASE("the checksum is the beginning of the SHA-256 of the canonical text") {
  SQLite::Database database = in_memory();
  const std::string text = "t12:t(a,b,c,d,e);n;i-7;f0x1.8p+0;t3:x;y;b2:\x01\x02;";
  const auto whole = tune::detail::sha256(std::as_bytes(std::span(text)));
  std::string expected = tune::detail::to_hex(std::span(whole).first(16));
  for (char& c : expected) c = static_cast<char>(std::toupper(c));
  CHECK(hex_of(database, "libtune_checksum('t(a,b,c,d,e)', NULL, -7, 1.5, 'x;y', x'0102')") ==
        expected);
}

TEST_CASE("rows that differ in anything have different checksums") {
  SQLite::Database database = in_memory();
  std::set<std::string> seen;
  const std::vector<std::string> rows{"'t'",
                                      "'u'",
                                      "'t', NULL",
                                      "'t', 1",
                                      "'t', 1.0",
                                      "'t', '1'",
                                      "'t', x'31'",
                                      "'t', ''",
                                      "'t', x''",
                                      "'t', 'ab'",
                                      "'t', 'a', 'b'",
                                      "'t', 'a;t1:b'",
                                      "'t', 'a' || char(0)",
                                      "'t', 'a'",
                                      "'t', 'b', 'a'"};
  for (const std::string& row : rows) {
    CHECK(seen.insert(hex_of(database, "libtune_checksum(" + row + ")")).second);
  }
}

TEST_CASE("the order of the columns does not matter, their names and the table's do") {
  const std::vector<column_term> terms{{"a", "1"}, {"b", "2"}};
  const std::vector<column_term> turned{{"b", "2"}, {"a", "1"}};
  const std::vector<column_term> renamed{{"a", "1"}, {"c", "2"}};
  CHECK(checksum_expression("t", terms) == checksum_expression("t", turned));
  CHECK(checksum_expression("t", terms) != checksum_expression("t", renamed));
  CHECK(checksum_expression("t", terms) != checksum_expression("u", terms));
}

TEST_CASE("a row with more columns than a function has arguments is covered to the last") {
  SQLite::Database database = in_memory();
  row_layout layout{"t", {}};
  std::string declared;
  for (int i = 0; i < 250; ++i) {
    layout.columns.push_back("c" + std::to_string(i));
    declared += layout.columns.back() + " INTEGER, ";
  }
  database.exec("CREATE TABLE t (" + declared + "checksum BLOB)");
  SQLite::Statement insert(database, layout.insert("INSERT"));
  for (int i = 1; i <= 250; ++i) insert.bind(i, i);
  insert.exec();
  const std::string intact = "SELECT " + layout.intact() + " FROM t";
  CHECK(database.execAndGet(intact).getInt() == 1);
  for (const char* column : {"c0", "c99", "c120", "c249"}) {
    CAPTURE(column);
    database.exec("UPDATE t SET " + std::string(column) + " = 1 + " + column);
    CHECK(database.execAndGet(intact).getInt() == 0);
    database.exec("UPDATE t SET " + std::string(column) + " = " + column + " - 1");
    CHECK(database.execAndGet(intact).getInt() == 1);
  }
}

TEST_CASE("a row that is written and changed with expressions and parameters is intact") {
  SQLite::Database database = in_memory();
  database.exec("CREATE TABLE \"a\"\"b'\" (x INTEGER, y TEXT, z TEXT, checksum BLOB) STRICT");
  const row_layout layout{"a\"b'", {"x", "y", "z"}};
  SQLite::Statement insert(database, layout.insert("INSERT", {{"y", "strftime('%s', 'now')"}}));
  insert.bind(1, 5);
  insert.bind(3, "text");
  insert.exec();
  const auto row = [&](int column) {
    SQLite::Statement select(database, layout.select());
    select.executeStep();
    return select.getColumn(column).getString();
  };
  CHECK(row(2) == "text");
  CHECK(row(3) == "1");
  SQLite::Statement update(database, layout.update({{"z", "?1 || z"}}) + " WHERE x = 5");
  update.bind(1, "more ");
  update.exec();
  CHECK(row(2) == "more text");
  CHECK(row(3) == "1");
  database.exec("UPDATE \"a\"\"b'\" SET checksum = NULL");
  CHECK(row(3) == "0");
}

TEST_CASE("a database's own schema cannot call the function") {
  SQLite::Database database = in_memory();
  database.exec("CREATE VIEW v AS SELECT libtune_checksum('x')");
  CHECK_THROWS_AS(database.execAndGet("SELECT * FROM v"), SQLite::Exception);
}

}  // namespace row_test
