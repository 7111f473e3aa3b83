// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include <SQLiteCpp/SQLiteCpp.h>
#include <algorithm>
#include <doctest/doctest.h>
#include <filesystem>
#include <fstream>
#include <limits>
#include <random>
#include <string>
#include <unistd.h>
#include <vector>

#include "libtune/base/error.hpp"
#include "libtune/store/database/function_identity.hpp"
#include "libtune/store/database/tuning_database.hpp"
#include "tests/store/captured_errors.hpp"
#include "tests/store/repetitions.hpp"
#include "tests/store/samples.hpp"
#include "tests/store/temporary_folder.hpp"

namespace tuning_database_failure_test {

namespace fs = std::filesystem;
using namespace tune::testing;
using namespace tune;

SQLite::Database look_into(const tuning_database& database) {
  return SQLite::Database(database.path(), SQLite::OPEN_READWRITE);
}

/// A database that is not there yet, in a folder of its own.
struct own_database {
  temporary_folder folder;
  tuning_database database{folder.file("tuning.db")};
};

TEST_CASE("what can never be stored is refused before anything is created") {
  const temporary_folder folder;
  tuning_database database(folder.file("deeper/tuning.db"));
  function_identity function{.name = "f", .key_fields = {{"scale", value_type::float64}}};
  const record_key nan{{{"scale", std::numeric_limits<double>::quiet_NaN()}}, sample_device()};
  CHECK_THROWS_WITH_AS(database.store(function, nan, {}, 1), doctest::Contains("'scale'"),
                       argument_error);
  CHECK_THROWS_AS(database.find(function, nan), argument_error);
  CHECK_THROWS_AS(database.begin_search(function, nan), argument_error);
  CHECK_THROWS_AS(database.store(sample_function(), sample_key(), {{"wgs", true}}, 1),
                  tune::type_error);
  CHECK_THROWS_AS(database.store(sample_function("a b"), sample_key(), sample_tuning(1), 1),
                  argument_error);
  CHECK_THROWS_AS(database.find(sample_function("sqlite_a"), sample_key()), argument_error);
  function = sample_function();
  function.value_fields = {{"a", value_type::boolean}, {"A", value_type::boolean}};
  CHECK_THROWS_AS(database.store(function, sample_key(), {{"a", true}, {"A", true}}, 1),
                  argument_error);
  CHECK(fs::is_empty(folder.path()));
}

TEST_CASE_FIXTURE(own_database,
                  "fields that changed without a new version are an error on every way in") {
  database.store(sample_function(), sample_key(), sample_tuning(1), 1);
  function_identity changed = sample_function();
  changed.value_fields = {{"wgs", value_type::int32}, {"rows", value_type::int32}};
  const std::vector<named_value> tuning{{"wgs", std::int64_t{1}}, {"rows", std::int64_t{1}}};
  tuning_database anew(folder.file("tuning.db"));
  for (tuning_database* opened : {&database, &anew}) {
    CHECK_THROWS_WITH_AS(opened->find(changed, sample_key()),
                         doctest::Contains("value_rows is new"), tune::schema_drift_error);
    CHECK_THROWS_AS(opened->find(changed, sample_key(), match_mode::nearest),
                    tune::schema_drift_error);
    CHECK_THROWS_AS(opened->store(changed, sample_key(), tuning, 1), tune::schema_drift_error);
    CHECK_THROWS_AS(opened->begin_search(changed, sample_key()), tune::schema_drift_error);
    CHECK_THROWS_AS(opened->latest_search(changed, sample_key()), tune::schema_drift_error);
    CHECK(opened->find(sample_function(), sample_key()));
  }
  changed.version = 1;
  CHECK_FALSE(database.find(changed, sample_key()));
  database.store(changed, sample_key(), tuning, 1);
  CHECK(database.find(changed, sample_key())->values == tuning);
  CHECK(database.find(sample_function(), sample_key())->values == sample_tuning(1));
}

TEST_CASE_FIXTURE(own_database, "functions whose names differ only in case do not share results") {
  database.store(sample_function("Scale"), sample_key(), sample_tuning(1), 1);
  CHECK_THROWS_WITH_AS(database.find(sample_function("scale"), sample_key()),
                       doctest::Contains("only in case"), database_error);
  CHECK_THROWS_WITH_AS(database.store(sample_function("SCALE"), sample_key(), sample_tuning(2), 1),
                       doctest::Contains("'Scale'"), database_error);
  CHECK(database.find(sample_function("Scale"), sample_key())->values == sample_tuning(1));
}

TEST_CASE("a place that cannot be written is an error that names it") {
  const temporary_folder folder;
  std::ofstream(folder.file("file")) << "text";
  tuning_database database(folder.file("file/tuning.db"));
  CHECK_FALSE(database.find(sample_function(), sample_key()));
  CHECK_THROWS_WITH_AS(database.store(sample_function(), sample_key(), sample_tuning(1), 1),
                       doctest::Contains("file/tuning.db"), database_error);
  CHECK_THROWS_WITH_AS(database.begin_search(sample_function(), sample_key()),
                       doctest::Contains("LIBTUNE_DB"), database_error);
}

TEST_CASE("a database that may only be read is read") {
  const without_privileges ordinary;
  const temporary_folder folder;
  const std::string path = folder.file("tuning.db");
  tuning_database(path).store(sample_function(), sample_key(), sample_tuning(7), 1);
  fs::permissions(path, fs::perms(0444));
  fs::permissions(folder.path(), fs::perms(0555));
  tuning_database database(path);
  CHECK(database.find(sample_function(), sample_key())->values == sample_tuning(7));
  CHECK_THROWS_WITH_AS(database.store(sample_function(), sample_key(), sample_tuning(8), 1),
                       doctest::Contains("writable"), database_error);
  CHECK(database.find(sample_function(), sample_key())->values == sample_tuning(7));
  fs::permissions(folder.path(), fs::perms(0755));
}

TEST_CASE("a file that is no database is an error, and stays as it is") {
  const temporary_folder folder;
  const std::string path = folder.file("tuning.db");
  std::ofstream(path) << std::string(5000, 'x');
  tuning_database database(path);
  CHECK_THROWS_WITH_AS(database.find(sample_function(), sample_key()),
                       doctest::Contains("move it away"), database_error);
  CHECK_THROWS_WITH_AS(database.store(sample_function(), sample_key(), sample_tuning(1), 1),
                       doctest::Contains(path.c_str()), database_error);
  CHECK(fs::file_size(path) == 5000);
}

TEST_CASE_FIXTURE(
    own_database,
    "a row that was changed behind our back is no result, is told once and is replaced") {
  captured_errors errors;
  for (const char* change :
       {"value_wgs = 1000", "score_ns = 2", "device_version = '535.105'", "arg_rows = 65",
        "tuned_at = ''", "checksum = x''", "checksum = randomblob(16)"}) {
    CAPTURE(change);
    database.store(sample_function("f"), sample_key(), sample_tuning(1), 1);
    REQUIRE(database.find(sample_function("f"), sample_key(), match_mode::nearest));
    look_into(database).exec("UPDATE f__0 SET " + std::string(change));
    CHECK_FALSE(database.find(sample_function("f"), sample_key(), match_mode::nearest));
    CHECK_FALSE(database.find(sample_function("f"), sample_key(65), match_mode::nearest));
    database.store(sample_function("f"), sample_key(), sample_tuning(2), 1);
    CHECK(database.find(sample_function("f"), sample_key())->values == sample_tuning(2));
    look_into(database).exec("DELETE FROM f__0");
  }
  CHECK(errors.count("'f__0' is damaged") == 1);
}

TEST_CASE_FIXTURE(own_database, "a damaged row does not stand in the way of the next nearest") {
  const tune::device_identity close{"GPU One", "Some Platform", "535.105"};
  const tune::device_identity far{"GPU Two", "Some Platform", "1"};
  database.store(sample_function("f"), sample_key(64, close), sample_tuning(1), 1);
  database.store(sample_function("f"), sample_key(64, far), sample_tuning(2), 1);
  look_into(database).exec("UPDATE f__0 SET value_wgs = 3 WHERE device_name = 'GPU One'");
  CHECK(database.find(sample_function("f"), sample_key(), match_mode::nearest)->device == far);
}

TEST_CASE("damage to what a database says of a function costs its results no more than a warning") {
  const temporary_folder folder;
  const std::string path = folder.file("tuning.db");
  tuning_database(path).store(sample_function("f"), sample_key(), sample_tuning(1), 1);
  tuning_database database(path);
  look_into(database).exec("UPDATE libtune_function SET columns = 'arg_rows int64'");
  captured_errors errors;
  CHECK_FALSE(database.find(sample_function("f"), sample_key()));
  CHECK(errors.count("'libtune_function' is damaged") == 1);
  database.store(sample_function("f"), sample_key(65), sample_tuning(2), 1);
  CHECK(database.find(sample_function("f"), sample_key())->values == sample_tuning(1));
  CHECK(database.find(sample_function("f"), sample_key(65))->values == sample_tuning(2));
}

TEST_CASE_FIXTURE(own_database, "a table that was removed is an error, not a crash") {
  database.store(sample_function("f"), sample_key(), sample_tuning(1), 1);
  look_into(database).exec("DROP TABLE f__0");
  CHECK_THROWS_AS(database.find(sample_function("f"), sample_key()), database_error);
}

TEST_CASE("a database that others hold is an error, and never has no result") {
  const temporary_folder folder;
  using namespace std::chrono_literals;
  tuning_database database(folder.file("tuning.db"), {.read = 1ms, .write = 1ms});
  database.store(sample_function(), sample_key(), sample_tuning(1), 1);
  {
    SQLite::Database other = look_into(database);
    SQLite::Transaction holder(other, SQLite::TransactionBehavior::EXCLUSIVE);
    CHECK_THROWS_AS(database.find(sample_function(), sample_key()), tune::database_busy_error);
    CHECK_THROWS_AS(database.find_nearest(sample_function(), sample_key(), 1),
                    tune::database_busy_error);
    tuning_database anew(folder.file("tuning.db"), {.read = 1ms, .write = 1ms});
    CHECK_THROWS_AS(anew.find(sample_function(), sample_key()), tune::database_busy_error);
    CHECK_THROWS_WITH_AS(database.store(sample_function(), sample_key(), sample_tuning(2), 1),
                         doctest::Contains("another process"), database_error);
    CHECK_THROWS_AS(database.latest_search(sample_function(), sample_key()), database_error);
  }
  CHECK(database.find(sample_function(), sample_key())->values == sample_tuning(1));
  database.store(sample_function(), sample_key(), sample_tuning(2), 1);
}

TEST_CASE_FIXTURE(own_database, "a trial of an unknown search is an error that says so") {
  CHECK_THROWS_WITH_AS(database.add_trial(tune::search_id{7}, {.outcome = "skipped"}),
                       doctest::Contains("search 7"), database_error);
  CHECK_THROWS_WITH_AS(database.finish_search(tune::search_id{7}, "found"),
                       doctest::Contains("search 7"), database_error);
}

// Files with damage of every kind. Whatever is in a file: no crash, no hang, no wrong
// configuration.

constexpr std::int64_t row_count = 40;

/// Ends the process if one file takes longer than that.
class [[nodiscard]] watchdog {
 public:
  explicit watchdog(unsigned seconds) { ::alarm(seconds); }
  ~watchdog() { ::alarm(0); }
  watchdog(const watchdog&) = delete;
  watchdog& operator=(const watchdog&) = delete;
};

void write_bytes(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

/// A sound database with some rows, searches and trials.
std::string sound_database() {
  const temporary_folder folder;
  const std::string path = folder.file("tuning.db");
  {
    tuning_database database(path);
    for (std::int64_t row = 0; row < row_count; ++row) {
      database.store(sample_function("f"), sample_key(row), sample_tuning(1000 + row), 5);
    }
    const auto search = database.begin_search(sample_function("f"), sample_key(0));
    for (int i = 0; i < 5; ++i) {
      database.add_trial(search, {.configuration = sample_tuning(77), .outcome = "measured"});
    }
  }
  return content_of(path);
}

struct tally {
  int wrong = 0;  ///< values that nobody stored
  int found = 0;
  int refused = 0;  ///< calls that threw a database_error
  int escaped = 0;  ///< and anything else
};

template <class Call>
void attempt(tally& sum, Call call) {
  try {
    call();
  } catch (const tune::database_error&) {
    ++sum.refused;
  } catch (...) {
    ++sum.escaped;
  }
}

/// Uses a file as a program would, reading and writing.
void use(tally& sum, const std::string& path) {
  const watchdog bound(2);
  tuning_database database(path);
  for (std::int64_t row = 0; row < row_count; row += 3) {
    for (const match_mode mode : {match_mode::exact, match_mode::nearest}) {
      attempt(sum, [&] {
        const auto found = database.find(sample_function("f"), sample_key(row), mode);
        if (!found) return;
        ++sum.found;
        if (found->values != sample_tuning(1000 + row) || found->score_ns != 5) ++sum.wrong;
      });
    }
  }
  attempt(sum, [&] {
    for (const auto& trial : database.trials(sample_function("f"), sample_key(0))) {
      if (trial.configuration != sample_tuning(77)) ++sum.wrong;
    }
  });
  attempt(sum, [&] {
    database.store(sample_function("f"), sample_key(500), sample_tuning(1500), 5);
    const auto found = database.find(sample_function("f"), sample_key(500));
    if (found && found->values != sample_tuning(1500)) ++sum.wrong;
  });
}

void use_bytes(tally& sum, const std::string& bytes) {
  const temporary_folder folder;
  write_bytes(folder.file("tuning.db"), bytes);
  use(sum, folder.file("tuning.db"));
}

/// What comes of the uses of a file that was sound.
struct damaged_uses {
  captured_errors errors;
  std::string sound = sound_database();
  tally sum;

  void check_nothing_is_wrong() const {
    CHECK(sum.wrong == 0);
    CHECK(sum.escaped == 0);
  }
};

TEST_CASE_FIXTURE(damaged_uses, "no flipped bit is ever a wrong configuration") {
  std::mt19937 random(11);
  const int flips = repetitions(250, 4000);
  for (int i = 0; i < flips; ++i) {
    std::string bytes = sound;
    const std::size_t bit = random() % (8 * bytes.size());
    bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ (1 << bit % 8));
    use_bytes(sum, bytes);
  }
  MESSAGE(flips << " flips: " << sum.wrong << " wrong, " << sum.escaped << " escaped, "
                << sum.refused << " refused, " << sum.found << " found");
  check_nothing_is_wrong();
  CHECK(sum.found > flips);
}

TEST_CASE_FIXTURE(damaged_uses, "no overwritten stretch is ever a wrong configuration") {
  std::mt19937 random(12);
  for (int i = 0; i < repetitions(60, 2000); ++i) {
    std::string bytes = sound;
    const std::size_t start = random() % bytes.size();
    const std::size_t end = std::min(bytes.size(), start + random() % 5000);
    for (std::size_t at = start; at < end; ++at) bytes[at] = static_cast<char>(random());
    use_bytes(sum, bytes);
  }
  check_nothing_is_wrong();
}

TEST_CASE_FIXTURE(damaged_uses, "a file that was cut off anywhere is no wrong configuration") {
  for (std::size_t page = 0; page <= sound.size(); page += 4096) {
    for (const std::size_t size : {page, page + 1, page + 50, page + 100, page + 4095}) {
      if (size < sound.size()) use_bytes(sum, sound.substr(0, size));
    }
  }
  check_nothing_is_wrong();
}

TEST_CASE_FIXTURE(damaged_uses,
                  "random bytes, with and without a database's header, are no configuration") {
  std::mt19937 random(13);
  for (int i = 0; i < repetitions(40, 1000); ++i) {
    std::string bytes(random() % 20'000, '\0');
    for (char& c : bytes) c = static_cast<char>(random());
    use_bytes(sum, bytes);
    bytes.replace(0, std::min<std::size_t>(100, bytes.size()), sound, 0, 100);
    use_bytes(sum, bytes);
  }
  check_nothing_is_wrong();
}

TEST_CASE_FIXTURE(damaged_uses, "a random journal beside the file does no harm") {
  std::mt19937 random(14);
  for (int i = 0; i < repetitions(30, 500); ++i) {
    const temporary_folder folder;
    write_bytes(folder.file("tuning.db"), sound);
    std::string bytes(random() % 10'000, '\0');
    for (char& c : bytes) c = static_cast<char>(random());
    if (i % 2 == 0) bytes.insert(0, "\xd9\xd5\x05\xf9\x20\xa1\x63\xd7");  // of a journal
    write_bytes(folder.file("tuning.db-journal"), bytes);
    use(sum, folder.file("tuning.db"));
  }
  check_nothing_is_wrong();
}

TEST_CASE("a hostile database runs nothing and holds nobody up") {
  captured_errors errors;
  const temporary_folder folder;
  const auto hostile = [&](const std::string& sql) {
    const std::string path = folder.file("hostile.db");
    fs::remove(path);
    tuning_database(path).store(sample_function("f"), sample_key(), sample_tuning(1), 1);
    SQLite::Database(path, SQLite::OPEN_READWRITE).exec(sql);
    return path;
  };
  tally sum;
  for (const char* sql :
       {"CREATE TRIGGER t AFTER INSERT ON f__0 BEGIN UPDATE f__0 SET value_wgs = 7; END",
        "CREATE TRIGGER t BEFORE INSERT ON libtune_search BEGIN SELECT randomblob(1e9); END",
        "ALTER TABLE f__0 RENAME TO g; CREATE VIEW f__0 AS SELECT * FROM g",
        "DROP TABLE f__0; CREATE VIEW f__0 AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT "
        "i + 1 FROM n) SELECT i AS arg_rows FROM n",
        "DROP TABLE f__0; CREATE TABLE f__0 (arg_rows, arg_type, device_name, device_platform, "
        "device_version, score_ns, tuned_at, checksum, value_wgs AS (hex(zeroblob(1e8))))",
        "UPDATE libtune_function SET columns = printf('%.*c', 70000000, 'x')",
        "CREATE INDEX i ON f__0 (hex(zeroblob(arg_rows)))",
        "DROP TABLE libtune_function; CREATE VIEW libtune_function AS SELECT 'f__0' AS table_name, "
        "'f' AS name, 0 AS version, load_extension('/tmp/x') AS columns"}) {
    const std::string path = hostile(sql);
    const watchdog bound(10);
    tuning_database database(path);
    attempt(sum, [&] {
      const auto found = database.find(sample_function("f"), sample_key(), match_mode::nearest);
      if (found && found->values != sample_tuning(1)) ++sum.wrong;
    });
    attempt(sum, [&] {
      database.store(sample_function("f"), sample_key(2), sample_tuning(2), 1);
      const auto found = database.find(sample_function("f"), sample_key());
      if (found && found->values != sample_tuning(1)) ++sum.wrong;
    });
    attempt(sum, [&] { database.begin_search(sample_function("f"), sample_key()); });
  }
  CHECK(sum.wrong == 0);
  CHECK(sum.escaped == 0);
}

}  // namespace tuning_database_failure_test
