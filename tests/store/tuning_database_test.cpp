// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/store/database/tuning_database.hpp"

#include <SQLiteCpp/SQLiteCpp.h>
#include <algorithm>
#include <atomic>
#include <chrono>
#include <dlfcn.h>
#include <doctest/doctest.h>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <sqlite3.h>
#include <string>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include "libtune/extra/maintenance/database_reader.hpp"
#include "libtune/extra/maintenance/merge.hpp"
#include "libtune/extra/maintenance/prune.hpp"
#include "libtune/store/cache/binary_cache.hpp"
#include "libtune/store/database/identity_column.hpp"
#include "libtune/store/files/named_lock.hpp"
#include "libtune/testing/fixtures.hpp"
#include "libtune/testing/temporary_directory.hpp"
#include "tests/store/fault_vfs.hpp"
#include "tests/store/lock_keeper.hpp"
#include "tests/store/samples.hpp"
#include "tests/store/temporary_folder.hpp"

namespace tuning_database_test {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using namespace tune::testing;
using namespace tune;
using strings = std::vector<std::string>;

SQLite::Database look_into(const tuning_database& database) {
  return SQLite::Database(database.path(), SQLite::OPEN_READWRITE);
}

std::string query(const tuning_database& database, const std::string& sql) {
  return look_into(database).execAndGet(sql).getString();
}

/// A database that is not there yet, in a folder of its own.
struct own_database {
  temporary_folder folder;
  std::string path = folder.file("tuning.db");
  tuning_database database{path};
};

TEST_CASE_FIXTURE(own_database,
                  "a result is found again, also after the database was opened anew") {
  database.store(sample_function(), sample_key(), sample_tuning(128), 1500);
  CHECK(database.find(sample_function(), sample_key())->values == sample_tuning(128));
  database = tuning_database(path);
  const auto found = database.find(sample_function(), sample_key());
  REQUIRE(found);
  CHECK(found->values == sample_tuning(128));
  CHECK(found->grade == match_grade::exact);
  CHECK(found->device == sample_device());
  CHECK(found->relaxed.empty());
  CHECK(found->score_ns == 1500);
}

TEST_CASE_FIXTURE(own_database, "storing again replaces the result, which may have no score") {
  database.store(sample_function("f"), sample_key(), sample_tuning(128), std::nullopt);
  const auto found = database.find(sample_function("f"), sample_key());
  REQUIRE(found);
  CHECK(found->values == sample_tuning(128));
  CHECK_FALSE(found->score_ns);
  CHECK(query(database, "SELECT score_ns IS NULL FROM f__0") == "1");
  database.store(sample_function("f"), sample_key(), sample_tuning(64), 1200);
  CHECK(database.find(sample_function("f"), sample_key())->values == sample_tuning(64));
  CHECK(query(database, "SELECT count(*) FROM f__0") == "1");
}

TEST_CASE_FIXTURE(own_database,
                  "of two that tuned the same key, the second is told what the first has stored") {
  tuning_database second(path);
  const auto kept = database.store_first(sample_function(), sample_key(), sample_tuning(1), 10);
  CHECK(kept.values == sample_tuning(1));
  CHECK(kept.score_ns == 10);
  const auto adopted = second.store_first(sample_function(), sample_key(), sample_tuning(2), 5);
  CHECK(adopted.values == sample_tuning(1));
  CHECK(adopted.score_ns == 10);
  CHECK(adopted.grade == tune::match_grade::exact);
  CHECK(second.find(sample_function(), sample_key())->values == sample_tuning(1));
  CHECK(second.store_first(sample_function(), sample_key(65), sample_tuning(3), 5).values ==
        sample_tuning(3));
  second.store(sample_function(), sample_key(), sample_tuning(4), 5);
  CHECK(database.find(sample_function(), sample_key())->values == sample_tuning(4));
}

TEST_CASE("a miss creates nothing") {
  const temporary_folder folder;
  const std::string path = folder.file("deeper/tuning.db");
  tuning_database database(path);
  CHECK_FALSE(database.find(sample_function(), sample_key(), match_mode::nearest));
  CHECK_FALSE(database.latest_search(sample_function(), sample_key()));
  CHECK(database.trials(sample_function(), sample_key()).empty());
  CHECK(fs::is_empty(folder.path()));

  // The same in a database that lacks only the table.
  database.store(sample_function("a"), sample_key(), sample_tuning(1), 1);
  const std::string tables = query(database, "SELECT group_concat(name) FROM sqlite_schema");
  CHECK_FALSE(database.find(sample_function("b"), sample_key(), match_mode::nearest));
  CHECK_FALSE(database.find(sample_function("a", 1), sample_key()));
  CHECK(query(database, "SELECT group_concat(name) FROM sqlite_schema") == tables);
}

TEST_CASE_FIXTURE(own_database,
                  "an empty file is a miss, and becomes a database with the first result") {
  std::ofstream(path).flush();
  CHECK_FALSE(database.find(sample_function(), sample_key()));
  CHECK(fs::file_size(path) == 0);
  database.store(sample_function(), sample_key(), sample_tuning(1), 1);
  CHECK(database.find(sample_function(), sample_key()));
}

TEST_CASE_FIXTURE(own_database,
                  "a person finds a table of the function's name with a column for each field") {
  database.store(sample_function(), sample_key(), sample_tuning(128), 1500);
  SQLite::Database opened = look_into(database);
  SQLite::Statement select(opened, "SELECT * FROM \"multiply_template.autotune__0\"");
  REQUIRE(select.executeStep());
  strings names;
  strings values;
  for (int i = 0; i < select.getColumnCount(); ++i) {
    names.emplace_back(select.getColumnName(i));
    values.push_back(select.getColumn(i).getString());
  }
  strings expected{"arg_rows", "arg_type"};
  for (const auto& column : tune::identity_columns()) expected.emplace_back(column.name);
  for (const char* name : {"value_wgs", "score_ns", "tuned_at", "checksum"}) {
    expected.emplace_back(name);
  }
  CHECK(names == expected);
  CHECK(values.back().size() == 16);
  values.pop_back();
  CHECK(values.back().size() == 20);
  values.pop_back();
  // What is not known of the device is empty or zero.
  std::erase(values, "");
  std::erase(values, "0");
  CHECK(values == strings{"64", "float32", "GPU One", "Some Platform", "535.104", "128", "1500.0"});
  CHECK(query(database, "SELECT name || ' ' || version FROM libtune_function") ==
        "multiply_template.autotune 0");
  CHECK(query(database, "SELECT columns FROM libtune_function") ==
        "arg_rows int32\narg_type dtype\nvalue_wgs int32\n");
}

TEST_CASE_FIXTURE(own_database, "hostile strings are data, whichever field they are in") {
  function_identity function{.name = "f",
                             .key_fields = {{"text", value_type::string}},
                             .value_fields = {{"text", value_type::string}}};
  database.store(function, {{{"text", std::string("first")}}, sample_device()},
                 {{"text", std::string("first")}}, 1);
  const std::string schema = query(database, "SELECT group_concat(sql, ';') FROM sqlite_schema");
  const std::vector<std::string> hostile{"'; DROP TABLE f__0; --",
                                         "\"; DROP TABLE f__0; --",
                                         "]; DROP TABLE f__0",
                                         "`",
                                         "?1 $a :b @c",
                                         std::string("\0; DROP TABLE f__0", 19),
                                         "\xff\xfe\xfd",
                                         "%s%n{}",
                                         std::string(1 << 20, '\'')};
  for (const std::string& text : hostile) {
    const record_key key{{{"text", text}}, {text, text, text}};
    database.store(function, key, {{"text", text}}, 1);
    const auto found = database.find(function, key);
    REQUIRE(found);
    CHECK(found->values == std::vector<named_value>{{"text", text}});
    CHECK(found->device == key.device);
  }
  CHECK(query(database, "SELECT group_concat(sql, ';') FROM sqlite_schema") == schema);
  CHECK(query(database, "SELECT count(*) FROM f__0") == std::to_string(hostile.size() + 1));
}

TEST_CASE_FIXTURE(
    own_database,
    "an exact search takes no other device's result, a nearest one says whose it took") {
  const device_identity other_name{"GPU Two", "Some Platform", "535.104"};
  const device_identity other_platform{"GPU One", "Other Platform", "535.104"};
  const device_identity other_version{"GPU One", "Some Platform", "12"};
  const auto check = [&](const device_identity& device, std::int64_t wgs, const strings& relaxed) {
    database.store(sample_function(), sample_key(64, device), sample_tuning(wgs), 1);
    CHECK_FALSE(database.find(sample_function(), sample_key()));
    const auto found = database.find(sample_function(), sample_key(), match_mode::nearest);
    REQUIRE(found);
    CHECK(found->device == device);
    CHECK(found->values == sample_tuning(wgs));
    CHECK(found->grade == match_grade::nearest);
    CHECK(found->relaxed == relaxed);
  };
  CHECK_FALSE(database.find(sample_function(), sample_key(), match_mode::nearest));
  check(other_name, 1, {"device_name"});
  check(other_platform, 2, {"device_platform"});
  check(other_version, 3, {"device_version"});
  // The arguments are never relaxed.
  CHECK_FALSE(database.find(sample_function(), sample_key(65), match_mode::nearest));

  database.store(sample_function(), sample_key(), sample_tuning(4), 1);
  const auto found = database.find(sample_function(), sample_key(), match_mode::nearest);
  CHECK(found->grade == match_grade::exact);
  CHECK(found->values == sample_tuning(4));
  CHECK(found->relaxed.empty());
}

TEST_CASE_FIXTURE(own_database,
                  "functions without key fields or without tuning fields have results too") {
  const function_identity function{.name = "bare"};
  const record_key key{{}, sample_device()};
  CHECK_FALSE(database.find(function, key));
  database.store(function, key, {}, 2);
  CHECK(database.find(function, key)->values.empty());
  CHECK(database.find(function, {{}, {"other", "", ""}}, match_mode::nearest)->score_ns == 2);
}

TEST_CASE("names that SQLite would take for something else are files") {
  const temporary_folder folder;
  for (const char* name :
       {":memory:", "file:x?mode=memory", "a%20b", "a?b#c", "a\nb", "gr\xc3\xbc\xc3\x9f", "'"}) {
    CAPTURE(name);
    tuning_database database(folder.file(name));
    database.store(sample_function(), sample_key(), sample_tuning(1), 1);
    CHECK(fs::file_size(folder.path() / name) > 0);
    CHECK(tuning_database(folder.file(name)).find(sample_function(), sample_key()));
  }
}

TEST_CASE_FIXTURE(own_database, "every trial of a search is kept as it is made") {
  const tune::search_id search = database.begin_search(sample_function(), sample_key());
  const tune::stored_trial slow{.configuration = sample_tuning(32),
                                .outcome = "measured",
                                .samples_ns = {10.5, 11},
                                .score_ns = 10.75};
  const tune::stored_trial refused{.configuration = sample_tuning(4096),
                                   .outcome = "over a device limit",
                                   .message = "1024 work items at most"};
  database.add_trial(search, slow);
  tuning_database other(folder.file("tuning.db"));
  CHECK(other.trials(sample_function(), sample_key()) == std::vector{slow});
  database.add_trial(search, refused);
  CHECK_FALSE(other.latest_search(sample_function(), sample_key())->finished_at);
  database.finish_search(search, "found");
  const auto found = other.latest_search(sample_function(), sample_key());
  REQUIRE(found);
  CHECK(found->trials == std::vector{slow, refused});
  CHECK(found->finished_at);
  CHECK(found->result == "found");
  // A search is no result.
  CHECK_FALSE(other.find(sample_function(), sample_key(), match_mode::nearest));
}

TEST_CASE("a relative path means the folder that was current when the object was made") {
  const temporary_folder folder;
  const fs::path before = fs::current_path();
  fs::current_path(folder.path());
  tuning_database database("tuning.db");
  fs::current_path(before);
  database.store(sample_function(), sample_key(), sample_tuning(1), 1);
  CHECK(fs::exists(folder.path() / "tuning.db"));
}

// A host program that does with our file what it likes, in the same process.

void store(tuning_database& database, std::int64_t rows) {
  database.store(sample_function(), sample_key(rows), sample_tuning(rows), 1);
}

/// Another copy of SQLite, with data of its own, as a host may have linked or loaded one.
class second_sqlite {
 public:
  explicit second_sqlite(const temporary_folder& folder) {
    Dl_info ours{};
    if (::dladdr(reinterpret_cast<void*>(&sqlite3_libversion), &ours) == 0) return;
    const std::string copy = folder.file("libsqlite3-copy.so");
    std::error_code failure;
    if (!std::filesystem::copy_file(ours.dli_fname, copy, failure)) return;
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    library_ = ::dlopen(copy.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
#endif
  }
  ~second_sqlite() {
    if (library_ != nullptr) ::dlclose(library_);
  }
  second_sqlite(const second_sqlite&) = delete;
  second_sqlite& operator=(const second_sqlite&) = delete;

  explicit operator bool() const noexcept {
    return library_ != nullptr && symbol<void*>("sqlite3_open") != nullptr;
  }

  /// Opens the file, runs a statement and closes the file again. @returns what went wrong first
  int run(const std::string& path, const char* statement) const {
    sqlite3* opened = nullptr;
    int result = symbol<decltype(&sqlite3_open)>("sqlite3_open")(path.c_str(), &opened);
    symbol<decltype(&sqlite3_busy_timeout)>("sqlite3_busy_timeout")(opened, 60'000);
    if (result == SQLITE_OK) {
      result = symbol<decltype(&sqlite3_exec)>("sqlite3_exec")(opened, statement, nullptr, nullptr,
                                                               nullptr);
    }
    symbol<decltype(&sqlite3_close)>("sqlite3_close")(opened);
    return result;
  }

 private:
  template <class Function>
  Function symbol(const char* name) const noexcept {
    return reinterpret_cast<Function>(::dlsym(library_, name));
  }

  void* library_ = nullptr;
};

/// Makes a database and has the lock of a key while a host does something with the file. Ends the
/// process where that fails: for a lock_keeper.
template <class Host>
std::unique_ptr<key_lock> keep_while(const std::string& path, Host host) {
  tuning_database database(path);
  store(database, 1);
  auto lock = std::make_unique<key_lock>(database.path(), "key");
  if (!lock->take(0ms) || !host(database)) ::_exit(1);
  return lock;
}

TEST_CASE_FIXTURE(own_database, "opening and closing our file drops none of our locks") {
  const lock_keeper other([&] {
    return keep_while(path, [&](tuning_database& ours) {
      for (int i = 0; i < 3; ++i) ::close(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
      store(ours, 2);
      return ours.find(sample_function(), sample_key(2)).has_value();
    });
  });
  CHECK_FALSE(key_lock(tuning_database(path).path(), "key").take(0ms));
}

TEST_CASE_FIXTURE(own_database,
                  "another copy of SQLite in the process uses our file between our calls") {
  const second_sqlite host(folder);
  if (!host) {
    MESSAGE("skipped: SQLite is linked statically, or the sanitizer forbids it");
    return;
  }
  const auto use = [&](tuning_database& ours) {
    bool works = true;
    for (std::int64_t i = 2; i < 10; ++i) {
      works &= host.run(path, "SELECT count(*) FROM libtune_function") == SQLITE_OK;
      store(ours, i);
      works &= host.run(path,
                        "CREATE TABLE IF NOT EXISTS of_the_host (x); "
                        "INSERT INTO of_the_host VALUES (1)") == SQLITE_OK;
      works &= ours.find(sample_function(), sample_key(i)).has_value();
    }
    return works;
  };
  const lock_keeper other([&] { return keep_while(path, use); });
  CHECK_FALSE(key_lock(tuning_database(path).path(), "key").take(0ms));
  SQLite::Database opened(path);
  CHECK(opened.execAndGet("PRAGMA integrity_check").getString() == "ok");
  CHECK(opened.execAndGet("SELECT count(*) FROM of_the_host").getInt() == 8);
}

constexpr int thread_count = 8;
constexpr std::int64_t rows_each = 12;
// Long enough that a slow disk is no failure.
constexpr tune::database_waits patient{.read = 60s, .write = 60s};

/// Each thread stores rows of its own, reads them back and keeps the trials of a search; all of
/// them meet on one more row. doctest's checks are for one thread, so faults are counted.
int faults_of_one_thread(tuning_database& database, int thread) {
  int faults = 0;
  const auto search = database.begin_search(sample_function(), sample_key(-1 - thread));
  for (std::int64_t i = 0; i < rows_each; ++i) {
    const std::int64_t own = thread * rows_each + i;
    database.store(sample_function(), sample_key(own), sample_tuning(own), 1);
    const auto found = database.find(sample_function(), sample_key(own), match_mode::nearest);
    if (!found || found->values != sample_tuning(own)) ++faults;

    database.store(sample_function(), sample_key(1'000'000), sample_tuning(own), 1);
    if (!database.find(sample_function(), sample_key(1'000'000))) ++faults;

    database.add_trial(search, {.configuration = sample_tuning(i), .outcome = "measured"});
  }
  database.finish_search(search, "found");
  return faults;
}

template <class DatabaseOf>
int faults_of_all_threads(DatabaseOf database_of) {
  std::atomic<int> faults{0};
  std::vector<std::thread> threads;
  for (int thread = 0; thread < thread_count; ++thread) {
    threads.emplace_back([&, thread] {
      try {
        faults += faults_of_one_thread(database_of(thread), thread);
      } catch (...) {
        ++faults;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  return faults;
}

void check_everything_is_there(const std::string& path) {
  tuning_database database(path);
  for (std::int64_t own = 0; own < thread_count * rows_each; ++own) {
    const auto found = database.find(sample_function(), sample_key(own));
    REQUIRE(found);
    CHECK(found->values == sample_tuning(own));
  }
  for (int thread = 0; thread < thread_count; ++thread) {
    const auto trials = database.trials(sample_function(), sample_key(-1 - thread));
    REQUIRE(trials.size() == rows_each);
    for (std::int64_t i = 0; i < rows_each; ++i) {
      CHECK(trials[static_cast<std::size_t>(i)].configuration == sample_tuning(i));
    }
  }
  SQLite::Database opened(path);
  CHECK(opened.execAndGet("PRAGMA integrity_check").getString() == "ok");
}

TEST_CASE("eight threads use one object, or one each of a new file") {
  const temporary_folder folder;
  tuning_database shared(folder.file("tuning.db"), patient);
  CHECK(faults_of_all_threads([&](int) -> tuning_database& { return shared; }) == 0);
  check_everything_is_there(shared.path());
  std::vector<tuning_database> own;
  for (int i = 0; i < thread_count; ++i) own.emplace_back(folder.file("deeper/own.db"), patient);
  CHECK(faults_of_all_threads([&](int thread) -> tuning_database& {
          return own[static_cast<std::size_t>(thread)];
        }) == 0);
  check_everything_is_there(own[0].path());
}

TEST_CASE("one object sees what another has stored") {
  const temporary_folder folder;
  tuning_database first(folder.file("tuning.db"), patient);
  tuning_database second(folder.file("tuning.db"), patient);
  CHECK_FALSE(second.find(sample_function(), sample_key()));
  first.store(sample_function(), sample_key(), sample_tuning(1), 1);
  CHECK(second.find(sample_function(), sample_key())->values == sample_tuning(1));
  second.store(sample_function(), sample_key(), sample_tuning(2), 1);
  CHECK(first.find(sample_function(), sample_key())->values == sample_tuning(2));
  first.store(sample_function("later"), sample_key(), sample_tuning(3), 1);
  CHECK(second.find(sample_function("later"), sample_key())->values == sample_tuning(3));
}

// Clocks that are ten years ahead or behind, and clocks that are set back. Dates are for people: no
// lookup, no rule of who comes first and no search depends on them, and nothing is lost.

constexpr std::chrono::hours year{24 * 365};
const std::vector<std::chrono::seconds> skews{-10 * year, 10 * year};

std::string date_of(const std::string& path, std::int64_t rows) {
  const SQLite::Database opened(path);
  SQLite::Statement select(opened,
                           "SELECT tuned_at FROM \"multiply_template.autotune__0\" "
                           "WHERE arg_rows = ?");
  select.bind(1, rows);
  return select.executeStep() ? select.getColumn(0).getString() : std::string();
}

std::string date_with(std::chrono::seconds skew) {
  fault_vfs vfs;
  vfs.skew_clock(skew);
  return SQLite::Database(":memory:").execAndGet("SELECT strftime('%Y-%m-%d', 'now')").getString();
}

/// Stores a result with a clock that is wrong.
void store_with(std::chrono::seconds skew, const std::string& path, std::int64_t rows,
                std::int64_t wgs) {
  fault_vfs vfs;
  vfs.skew_clock(skew);
  tuning_database(path).store(sample_function(), sample_key(rows), sample_tuning(wgs), 1);
}

TEST_CASE_FIXTURE(
    own_database,
    "results are found whatever the clocks of those who stored and look for them say") {
  std::int64_t rows = 0;
  for (const auto skew : skews) {
    ++rows;
    store_with(skew, path, rows, rows);
    CHECK(date_of(path, rows).starts_with(date_with(skew)));
  }
  for (const auto skew : skews) {
    fault_vfs vfs;
    vfs.skew_clock(skew);
    for (std::int64_t row = 1; row <= rows; ++row) {
      tuning_database late(path);
      CHECK(late.find(sample_function(), sample_key(row))->values == sample_tuning(row));
      const tune::device_identity other{"GPU One", "Some Platform", "1"};
      CHECK(late.find(sample_function(), sample_key(row, other), match_mode::nearest));
    }
  }
}

TEST_CASE("the first result stays unless it is replaced, whatever the dates") {
  for (const auto skew : skews) {
    const own_database own;
    store_with(-skew, own.path, 64, 1);
    fault_vfs vfs;
    vfs.skew_clock(skew);
    tuning_database late(own.path);
    const auto kept = late.store_first(sample_function(), sample_key(), sample_tuning(2), 0.5);
    CHECK(kept.values == sample_tuning(1));
    late.store(sample_function(), sample_key(), sample_tuning(3), 1);
    CHECK(late.find(sample_function(), sample_key())->values == sample_tuning(3));
  }
}

TEST_CASE_FIXTURE(
    own_database,
    "the latest search is the one that was begun last, not the one with the latest date") {
  for (const auto skew : {10 * year, -10 * year}) {
    fault_vfs vfs;
    vfs.skew_clock(skew);
    tuning_database begun(path);
    const auto search = begun.begin_search(sample_function(), sample_key());
    begun.add_trial(search, {.configuration = sample_tuning(skew > skew.zero() ? 1 : 2),
                             .outcome = "measured"});
    if (skew > skew.zero()) begun.finish_search(search, "found");
  }
  const auto left = database.unfinished_search(sample_function(), sample_key(), 0);
  REQUIRE(left);
  REQUIRE(left->trials.size() == 1);
  CHECK(left->trials[0].configuration == sample_tuning(2));
}

TEST_CASE_FIXTURE(own_database, "pruning by date takes what is dated before it and nothing else") {
  store_with(-10 * year, path, 1, 1);
  store_with(std::chrono::seconds(0), path, 2, 2);
  store_with(10 * year, path, 3, 3);
  const std::string a_year_ago = date_with(-year);
  CHECK(tune::prune_database(path, {.before = a_year_ago}).results == 1);
  CHECK_FALSE(database.find(sample_function(), sample_key(1)));
  CHECK(database.find(sample_function(), sample_key(2)));
  CHECK(database.find(sample_function(), sample_key(3)));
}

TEST_CASE("databases of clocks that disagree merge to the same in either order") {
  const temporary_folder folder;
  const std::string early = folder.file("early.db");
  const std::string late = folder.file("late.db");
  store_with(-10 * year, early, 64, 1);
  store_with(10 * year, late, 64, 2);
  store_with(10 * year, late, 65, 3);
  const auto merged = [&](const char* name, const strings& in_order) {
    const std::string into = folder.file(name);
    for (const std::string& from : in_order) {
      tune::merge_content(into, tune::database_reader(from).read_all());
    }
    CHECK(tuning_database(into).find(sample_function(), sample_key(65)));
    return canonical_text(tune::database_reader(into).read_all());
  };
  CHECK(merged("one.db", {early, late}) == merged("other.db", {late, early}));
}

// The doors of this room (libtune/base/seal.hpp): nothing of a file is touched.

const tune::function_identity fill{
    "fill", 0, {{"size", tune::value_type::int64}}, {{"wgs", tune::value_type::int64}}};
const tune::record_key key{{{"size", std::int64_t{64}}}, {"GPU One", "A Platform", "1.0"}};
const std::vector<tune::named_value> tuning{{"wgs", std::int64_t{128}}};

struct place {
  temporary_directory folder;
  tune::tuning_database database{folder / "tuning.db"};
  tune::database_reader reader{folder / "tuning.db"};
  tune::binary_cache cache{folder / "programs"};
  tune::binary_key program;

  std::vector<std::function<void()>> database_doors() {
    return {[this] { database.find(fill, key); },
            [this] { database.find_nearest(fill, key, 4); },
            [this] { database.store(fill, key, tuning, 1000.0); },
            [this] { database.store_first(fill, key, tuning, 1000.0); },
            [this] { database.begin_search(fill, key); },
            [this] { database.trials(fill, key); },
            [this] { reader.functions(); }};
  }
  std::vector<std::function<void()>> cache_doors() {
    const auto bytes = [] { return std::vector<std::byte>(16); };
    return {[this] { cache.load(program); }, [this, bytes] { cache.save(program, bytes()); },
            [this, bytes] {
              const tune::binary_cache::entry entry{program.digest(), bytes()};
              cache.save_all(std::span(&entry, 1));
            },
            [this] { cache.remove(program); }};
  }
};

void check_throws(const std::vector<std::function<void()>>& doors, sealed_action action) {
  const scoped_seal sealed;
  std::size_t stopped = 0;
  for (const auto& pass : doors) {
    try {
      pass();
    } catch (const tune::seal_broken_error& failure) {
      stopped += failure.action() == action ? 1 : 0;
    }
  }
  CHECK(stopped == doors.size());
}

void check_counts(const std::vector<std::function<void()>>& doors, sealed_action action) {
  for (const auto& pass : doors) {
    const scoped_seal sealed(seal_mode::counts);
    CHECK_NOTHROW(pass());
    CHECK(tune::seal_report().count(action) >= 1);
    CHECK(tune::seal_report().count(action) == tune::seal_report().total());
  }
}

TEST_CASE("a sealed thread reads and writes no tuning database and no cached program") {
  place p;
  check_throws(p.database_doors(), sealed_action::database);
  check_throws(p.cache_doors(), sealed_action::program_cache);
  CHECK(std::filesystem::is_empty(p.folder.path()));
  check_counts(p.database_doors(), sealed_action::database);
  check_counts(p.cache_doors(), sealed_action::program_cache);
  CHECK(p.database.find(fill, key)->values == tuning);
  const scoped_seal sealed;
  CHECK_THROWS_WITH_AS(p.database.find(fill, key),
                       doctest::Contains("look up 'fill' in the tuning database '"),
                       tune::seal_broken_error);
}

}  // namespace tuning_database_test
