// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
// Files with damage of every kind. Whatever is in a file: no crash, no hang, no wrong
// configuration.
#include <SQLiteCpp/SQLiteCpp.h>
#include <algorithm>
#include <doctest/doctest.h>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <unistd.h>

#include "libtune/base/error.hpp"
#include "libtune/store/database/tuning_database.hpp"
#include "tests/store/captured_errors.hpp"
#include "tests/store/repetitions.hpp"
#include "tests/store/samples.hpp"
#include "tests/store/temporary_folder.hpp"

namespace damage_test {

namespace fs = std::filesystem;
using tune::match_mode;
using tune::tuning_database;
using tune::testing::captured_errors;
using tune::testing::content_of;
using tune::testing::repetitions;
using tune::testing::sample_device;
using tune::testing::sample_function;
using tune::testing::sample_key;
using tune::testing::sample_tuning;
using tune::testing::temporary_folder;

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

TEST_CASE("no flipped bit is ever a wrong configuration") {
  captured_errors errors;
  const std::string sound = sound_database();
  std::mt19937 random(11);
  tally sum;
  const int flips = repetitions(250, 4000);
  for (int i = 0; i < flips; ++i) {
    std::string bytes = sound;
    const std::size_t bit = random() % (8 * bytes.size());
    bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ (1 << bit % 8));
    use_bytes(sum, bytes);
  }
  MESSAGE(flips << " flips: " << sum.wrong << " wrong, " << sum.escaped << " escaped, "
                << sum.refused << " refused, " << sum.found << " found");
  CHECK(sum.wrong == 0);
  CHECK(sum.escaped == 0);
  CHECK(sum.found > flips);
}

TEST_CASE("no overwritten stretch is ever a wrong configuration") {
  captured_errors errors;
  const std::string sound = sound_database();
  std::mt19937 random(12);
  tally sum;
  for (int i = 0; i < repetitions(60, 2000); ++i) {
    std::string bytes = sound;
    const std::size_t start = random() % bytes.size();
    const std::size_t end = std::min(bytes.size(), start + random() % 5000);
    for (std::size_t at = start; at < end; ++at) bytes[at] = static_cast<char>(random());
    use_bytes(sum, bytes);
  }
  CHECK(sum.wrong == 0);
  CHECK(sum.escaped == 0);
}

TEST_CASE("a file that was cut off anywhere is no wrong configuration") {
  captured_errors errors;
  const std::string sound = sound_database();
  tally sum;
  for (std::size_t page = 0; page <= sound.size(); page += 4096) {
    for (const std::size_t size : {page, page + 1, page + 50, page + 100, page + 4095}) {
      if (size < sound.size()) use_bytes(sum, sound.substr(0, size));
    }
  }
  CHECK(sum.wrong == 0);
  CHECK(sum.escaped == 0);
}

TEST_CASE("random bytes, with and without a database's header, are no configuration") {
  captured_errors errors;
  const std::string sound = sound_database();
  std::mt19937 random(13);
  tally sum;
  for (int i = 0; i < repetitions(40, 1000); ++i) {
    std::string bytes(random() % 20'000, '\0');
    for (char& c : bytes) c = static_cast<char>(random());
    use_bytes(sum, bytes);
    bytes.replace(0, std::min<std::size_t>(100, bytes.size()), sound, 0, 100);
    use_bytes(sum, bytes);
  }
  CHECK(sum.wrong == 0);
  CHECK(sum.escaped == 0);
}

TEST_CASE("a random journal beside the file does no harm") {
  captured_errors errors;
  const std::string sound = sound_database();
  std::mt19937 random(14);
  tally sum;
  for (int i = 0; i < repetitions(30, 500); ++i) {
    const temporary_folder folder;
    write_bytes(folder.file("tuning.db"), sound);
    std::string bytes(random() % 10'000, '\0');
    for (char& c : bytes) c = static_cast<char>(random());
    if (i % 2 == 0) bytes.insert(0, "\xd9\xd5\x05\xf9\x20\xa1\x63\xd7");  // of a journal
    write_bytes(folder.file("tuning.db-journal"), bytes);
    use(sum, folder.file("tuning.db"));
  }
  CHECK(sum.wrong == 0);
  CHECK(sum.escaped == 0);
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

}  // namespace damage_test
