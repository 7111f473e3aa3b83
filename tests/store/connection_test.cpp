// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/store/database/connection.hpp"

#include <SQLiteCpp/Exception.h>
#include <SQLiteCpp/SQLiteCpp.h>
#include <chrono>
#include <doctest/doctest.h>
#include <filesystem>
#include <fstream>
#include <set>
#include <sqlite3.h>
#include <string>
#include <thread>
#include <vector>

#include "libtune/base/error.hpp"
#include "libtune/base/sha256.hpp"
#include "libtune/store/database/database_failure.hpp"
#include "libtune/store/database/database_file.hpp"
#include "libtune/store/database/schema.hpp"
#include "tests/store/temporary_folder.hpp"

namespace connection_test {

using namespace std::chrono_literals;
using namespace tune::testing;
using namespace tune::detail;
using tune::database_error;

/// A new database with the fixed tables.
std::string create_database(const temporary_folder& folder) {
  const std::string path = folder.file("tuning.db");
  create_private_file(path);
  connection made(path, 10s, 10s);
  write_transaction transaction(made, 10s);
  transaction.commit();
  return path;
}

/// A new database with the fixed tables.
struct made_database {
  temporary_folder folder;
  std::string path = create_database(folder);
};

int setting(connection& source, const char* pragma) {
  return source.database().execAndGet("PRAGMA " + std::string(pragma)).getInt();
}

bool is_on(connection& source, int option) {
  int value = -1;
  REQUIRE(sqlite3_db_config(source.database().getHandle(), option, -1, &value) == SQLITE_OK);
  return value == 1;
}

TEST_CASE("a connection has the settings that the promises need") {
  const temporary_folder folder;
  connection opened(create_database(folder), 50ms, 50ms);
  CHECK(opened.database().execAndGet("PRAGMA journal_mode").getString() == "delete");
  CHECK(setting(opened, "synchronous") == 2);
  CHECK(opened.wait() == 50ms);
  CHECK(setting(opened, "foreign_keys") == 1);
  CHECK(setting(opened, "cell_size_check") == 1);
  CHECK(setting(opened, "trusted_schema") == 0);
  CHECK(setting(opened, "application_id") == application_id);
  CHECK(setting(opened, "user_version") == schema_version);
  CHECK(is_on(opened, SQLITE_DBCONFIG_DEFENSIVE));
  CHECK_FALSE(is_on(opened, SQLITE_DBCONFIG_ENABLE_TRIGGER));
  CHECK_FALSE(is_on(opened, SQLITE_DBCONFIG_ENABLE_VIEW));
  CHECK_FALSE(is_on(opened, SQLITE_DBCONFIG_DQS_DML));
}

TEST_CASE_FIXTURE(made_database, "a large transaction keeps no reader out before it commits") {
  connection writes(path, 1s, 1s);
  connection reads(path, 1ms, 1s);
  writes.database().exec("CREATE TABLE large (x BLOB)");
  write_transaction transaction(writes, 1s);
  writes.database().exec(
      "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 64) "
      "INSERT INTO large SELECT zeroblob(100000) FROM n");
  CHECK(reads.database().execAndGet("SELECT count(*) FROM large").getInt() == 0);
  transaction.commit();
  CHECK(reads.database().execAndGet("SELECT count(*) FROM large").getInt() == 64);
}

TEST_CASE("every table is strict") {
  const temporary_folder folder;
  connection opened(create_database(folder), 50ms, 50ms);
  CHECK(opened.database()
            .execAndGet("SELECT count(*) FROM pragma_table_list "
                        "WHERE strict = 0 AND schema = 'main' AND name NOT LIKE 'sqlite_%'")
            .getInt() == 0);
  CHECK(opened.database()
            .execAndGet("SELECT count(*) FROM pragma_table_list WHERE name LIKE 'libtune_%'")
            .getInt() == 4);
}

TEST_CASE("a new file is not ready until a transaction on it commits") {
  const temporary_folder folder;
  const std::string path = folder.file("tuning.db");
  create_private_file(path);
  connection opened(path, 1s, 1s);
  CHECK_FALSE(opened.is_ready());
  { const write_transaction abandoned(opened, 1s); }
  CHECK_FALSE(opened.is_ready());
  CHECK(setting(opened, "application_id") == 0);
  write_transaction(opened, 1s).commit();
  CHECK(opened.is_ready());
}

TEST_CASE_FIXTURE(made_database,
                  "a write takes its lock at once and waits no longer than it was told") {
  connection first(path, 1ms, 1s);
  connection second(path, 1ms, 1s);
  const write_transaction holder(first, 1s);
  CHECK_THROWS_AS(write_transaction(second, 1ms).commit(), SQLite::Exception);
  CHECK(second.wait() == 1ms);
  CHECK(second.database().execAndGet("SELECT count(*) FROM libtune_search").getInt() == 0);
}

TEST_CASE("the wait for a write ends with it") {
  const temporary_folder folder;
  connection opened(create_database(folder), 7ms, 1s);
  {
    const write_transaction transaction(opened, 900ms);
    CHECK(opened.wait() == 900ms);
  }
  CHECK(opened.wait() == 7ms);
}

TEST_CASE_FIXTURE(made_database,
                  "a read waits for a commit that ends in time, and not for one that does not") {
  connection reader(path, 1ms, 1s);
  SQLite::Database other(path, SQLite::OPEN_READWRITE);
  const auto read = [&] {
    return reader.database().execAndGet("SELECT count(*) FROM libtune_search").getInt();
  };
  other.exec("BEGIN EXCLUSIVE");
  CHECK_THROWS_AS(read(), SQLite::Exception);
  std::thread committing([&] {
    std::this_thread::sleep_for(20ms);
    other.exec("COMMIT");
  });
  {
    const scoped_wait patient(reader, 60s);
    CHECK(read() == 0);
  }
  committing.join();
}

TEST_CASE("another application's database is refused and not touched") {
  const temporary_folder folder;
  for (const char* sql :
       {"PRAGMA application_id = 77; CREATE TABLE t (a)", "CREATE TABLE t (a)",
        "PRAGMA journal_mode = WAL; CREATE TABLE t (a)", "PRAGMA user_version = 4"}) {
    const std::string path = folder.file("other.db");
    SQLite::Database(path, SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE).exec(sql);
    const std::string before = content_of(path);
    CHECK_THROWS_WITH_AS(connection(path, 1s, 1s), doctest::Contains("another application"),
                         database_error);
    CHECK(content_of(path) == before);
    std::filesystem::remove(path);
  }
}

TEST_CASE_FIXTURE(made_database, "a database of a newer libtune is read, and never written") {
  SQLite::Database(path, SQLite::OPEN_READWRITE).exec("PRAGMA user_version = 4");
  const std::string before = content_of(path);
  connection opened(path, 1s, 1s);
  CHECK(opened.is_ready());
  CHECK_THROWS_WITH_AS(write_transaction(opened, 1s), doctest::Contains("version 4"),
                       database_error);
  CHECK(content_of(path) == before);
}

TEST_CASE_FIXTURE(
    made_database,
    "a database that became a newer libtune's while it was open is no longer written") {
  connection opened(path, 1s, 1s);
  REQUIRE(opened.is_ready());
  SQLite::Database(path, SQLite::OPEN_READWRITE).exec("PRAGMA user_version = 4");
  CHECK_THROWS_AS(write_transaction(opened, 1s), database_error);
}

TEST_CASE("a database of a newer libtune that this one cannot read is refused") {
  for (const char* change : {"UPDATE libtune_meta SET value = '4'", "DELETE FROM libtune_meta",
                             "DROP TABLE libtune_meta", "UPDATE libtune_meta SET checksum = x''"}) {
    const temporary_folder folder;
    const std::string path = create_database(folder);
    SQLite::Database(path, SQLite::OPEN_READWRITE)
        .exec("PRAGMA user_version = 4; " + std::string(change));
    CHECK_THROWS_WITH_AS(connection(path, 1s, 1s), doctest::Contains("version 4"), database_error);
  }
}

TEST_CASE("a database of a development version is refused, told what to do with, not touched") {
  // Before 0.1.0 there were a version 1 without libtune_meta, a version 2 and a version 3.
  for (const char* change : {"DROP TABLE libtune_meta", "DROP TABLE libtune_trial",
                             "PRAGMA user_version = 2; UPDATE libtune_meta SET value = '2'",
                             "PRAGMA user_version = 3; UPDATE libtune_meta SET value = '3'"}) {
    const temporary_folder folder;
    const std::string path = create_database(folder);
    SQLite::Database(path, SQLite::OPEN_READWRITE).exec(change);
    const std::string before = content_of(path);
    for (const auto access :
         {tune::database_access::read_write, tune::database_access::read_only}) {
      CHECK_THROWS_WITH_AS(connection(path, 1s, 1s, access),
                           doctest::Contains("rename or remove the file"), database_error);
    }
    CHECK(content_of(path) == before);
  }
}

TEST_CASE("a path that is too long for SQLite is refused, and the error says so") {
  const temporary_folder folder;
  const std::string inner = folder.file(std::string(200, 'x') + '/' + std::string(200, 'x'));
  std::filesystem::create_directories(inner);
  const std::string path = inner + '/' + std::string(200, 'y');
  std::ofstream(path) << "";
  CHECK_THROWS_WITH_AS(connection(path, 1s, 1s), doctest::Contains("shorter path"), database_error);
}

TEST_CASE_FIXTURE(made_database,
                  "a database that was switched to a write-ahead log is switched back") {
  SQLite::Database(path, SQLite::OPEN_READWRITE).exec("PRAGMA journal_mode = WAL");
  connection opened(path, 1s, 1s);
  CHECK(opened.database().execAndGet("PRAGMA journal_mode").getString() == "delete");
}

TEST_CASE("a file that is no database, a folder, a symbolic link and nothing are refused") {
  const temporary_folder folder;
  const std::string garbage = folder.file("garbage");
  std::ofstream(garbage) << std::string(5000, 'x');
  CHECK_THROWS_AS(connection(garbage, 1s, 1s), SQLite::Exception);
  CHECK(content_of(garbage) == std::string(5000, 'x'));

  std::filesystem::create_directory(folder.path() / "inner");
  CHECK_THROWS_AS(connection(folder.file("inner"), 1s, 1s), SQLite::Exception);
  CHECK_THROWS_AS(connection(folder.file("none"), 1s, 1s), SQLite::Exception);

  std::filesystem::create_symlink(create_database(folder), folder.file("link"));
  CHECK_THROWS_AS(connection(folder.file("link"), 1s, 1s), SQLite::Exception);
}

TEST_CASE("a misspelt column is an error, not a string") {
  const temporary_folder folder;
  connection opened(create_database(folder), 1s, 1s);
  CHECK_THROWS_AS(opened.database().exec("SELECT \"value_x\" FROM libtune_search"),
                  SQLite::Exception);
}

TEST_CASE_FIXTURE(made_database, "a statement's run ends with its scope, and its lock with it") {
  connection reader(path, 1ms, 1s);
  connection writer(path, 1ms, 1s);
  SQLite::Statement select(reader.database(), "SELECT name FROM sqlite_schema");
  const auto write = [&] {
    write_transaction transaction(writer, 1ms);
    writer.database().exec("PRAGMA user_version = 2");
    transaction.commit();
  };
  {
    const statement_run run(select);
    REQUIRE(select.executeStep());
    CHECK_THROWS_AS(write(), SQLite::Exception);
  }
  CHECK_NOTHROW(write());
}

TEST_CASE("a thread uses a database while it has a transaction or runs a statement") {
  const temporary_folder folder;
  const std::string path = folder.file("tuning.db");
  create_private_file(path);
  connection opened(path, 60s, 60s);
  CHECK_FALSE(database_use::is_active());
  {
    write_transaction transaction(opened, 60s);
    CHECK(database_use::is_active());
    bool elsewhere = true;
    std::jthread([&] { elsewhere = database_use::is_active(); }).join();
    CHECK_FALSE(elsewhere);
    transaction.commit();
  }
  CHECK_FALSE(database_use::is_active());
  SQLite::Statement statement(opened.database(), "SELECT 1");
  {
    const statement_run run(statement);
    CHECK(database_use::is_active());
  }
  CHECK_FALSE(database_use::is_active());
}

TEST_CASE("the text names the path, the attempt, the reason and the remedy") {
  const SQLite::Exception failure("disk is full", SQLITE_FULL);
  CHECK(std::string(database_failure("/a/b.db", "store it", failure).what()) ==
        "tuning database '/a/b.db': could not store it: disk is full; free some space, or name "
        "another file with LIBTUNE_DB");
}

TEST_CASE("what to do depends on what SQLite says") {
  std::set<std::string> texts;
  for (const int code :
       {SQLITE_BUSY, SQLITE_CORRUPT, SQLITE_FULL, SQLITE_READONLY, SQLITE_MISMATCH, SQLITE_IOERR}) {
    texts.insert(database_failure("p", "a", SQLite::Exception("same", code)).what());
  }
  CHECK(texts.size() == 6);
}

TEST_CASE("an extended code means what its primary code does") {
  const auto text = [](int code) {
    return std::string(database_failure("p", "a", SQLite::Exception("same", code)).what());
  };
  CHECK(text(SQLITE_READONLY_DBMOVED) == text(SQLITE_READONLY));
  CHECK(is_busy(SQLite::Exception("x", SQLITE_BUSY)));
  CHECK(is_busy(SQLite::Exception("x", SQLITE_BUSY_RECOVERY)));
  CHECK_FALSE(is_busy(SQLite::Exception("x", SQLITE_IOERR)));
  CHECK_FALSE(is_busy(SQLite::Exception("without a code")));
}

SQLite::Database in_memory() {
  SQLite::Database database(":memory:", SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
  register_row_checksum(database);
  return database;
}

std::string hex_of(SQLite::Database& database, const std::string& expression) {
  return database.execAndGet("SELECT hex(" + expression + ")").getString();
}

TEST_CASE("the checksum is the beginning of the SHA-256 of the canonical text") {
  SQLite::Database database = in_memory();
  const std::string text = "t12:t(a,b,c,d,e);n;i-7;f0x1.8p+0;t3:x;y;b2:\x01\x02;";
  const auto whole = sha256(std::as_bytes(std::span(text)));
  std::string expected = to_hex(std::span(whole).first(16));
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

}  // namespace connection_test
