// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include <SQLiteCpp/SQLiteCpp.h>
#include <atomic>
#include <doctest/doctest.h>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

#include "libtune/base/error.hpp"
#include "libtune/store/database/database_file.hpp"
#include "libtune/store/database/tuning_database.hpp"
#include "tests/store/captured_errors.hpp"
#include "tests/store/samples.hpp"
#include "tests/store/temporary_folder.hpp"

namespace quarantine_test {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using tune::tuning_database;
using tune::detail::set_aside_if_damaged;
using tune::testing::captured_errors;
using tune::testing::content_of;
using tune::testing::sample_function;
using tune::testing::sample_key;
using tune::testing::sample_tuning;
using tune::testing::temporary_folder;

/// A tuning database whose pages after the first are nonsense.
std::string create_damaged(const temporary_folder& folder) {
  const std::string path = folder.file("tuning.db");
  tuning_database(path).store(sample_function(), sample_key(), sample_tuning(1), 1);
  std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
  file.seekp(4096);
  file << std::string(fs::file_size(path) - 4096, 'x');
  return path;
}

std::vector<std::string> names_in(const temporary_folder& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder.path())) {
    names.push_back(entry.path().filename().string());
  }
  return names;
}

int count_aside(const temporary_folder& folder) {
  int count = 0;
  for (const std::string& name : names_in(folder)) {
    if (name.find(".damaged-") != std::string::npos) ++count;
  }
  return count;
}

TEST_CASE("a damaged database goes aside with its journals, under a name that tells when and who") {
  const temporary_folder folder;
  const std::string path = create_damaged(folder);
  const std::string before = content_of(path);
  std::ofstream(path + "-shm") << "shm";
  const auto aside = set_aside_if_damaged(path, 1s);
  REQUIRE(aside);
  CHECK(aside->starts_with(path + ".damaged-"));
  CHECK(aside->ends_with("Z-" + std::to_string(::getpid())));
  CHECK(content_of(*aside) == before);
  CHECK(content_of(*aside + "-shm") == "shm");
  CHECK_FALSE(fs::exists(path));
  CHECK_FALSE(fs::exists(path + "-shm"));
}

TEST_CASE("a sound database, another's, nonsense and nothing stay where they are") {
  const temporary_folder folder;
  const std::string path = folder.file("tuning.db");
  tuning_database(path).store(sample_function(), sample_key(), sample_tuning(1), 1);
  CHECK_FALSE(set_aside_if_damaged(path, 1s));
  CHECK(tuning_database(path).find(sample_function(), sample_key()));

  const std::string other = folder.file("other.db");
  SQLite::Database(other, SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE)
      .exec("PRAGMA application_id = 77; CREATE TABLE t (a); INSERT INTO t VALUES (1)");
  std::fstream(other, std::ios::binary | std::ios::in | std::ios::out).seekp(4096) << "xxxx";
  std::ofstream(folder.file("text")) << std::string(5000, 'x');
  std::ofstream(folder.file("short")) << "SQLite format 3";
  for (const char* name : {"other.db", "text", "short"}) {
    const std::string before = content_of(folder.file(name));
    CHECK_FALSE(set_aside_if_damaged(folder.file(name), 1s));
    CHECK_THROWS_AS(tuning_database(folder.file(name))
                        .store(sample_function(), sample_key(), sample_tuning(1), 1),
                    tune::database_error);
    CHECK(content_of(folder.file(name)) == before);
  }
  CHECK_FALSE(set_aside_if_damaged(folder.file("none"), 1s));
  CHECK_FALSE(fs::exists(folder.file("none")));
  CHECK(count_aside(folder) == 0);
}

TEST_CASE("a damaged database stays while others write to it") {
  const temporary_folder folder;
  const std::string path = create_damaged(folder);
  const tune::detail::database_lock writer(path, tune::detail::lock_kind::shared, 0ms);
  CHECK_FALSE(set_aside_if_damaged(path, 2ms));
  CHECK(fs::exists(path));
}

TEST_CASE("the next result after damage starts a new database, with one warning") {
  const temporary_folder folder;
  const std::string path = create_damaged(folder);
  captured_errors errors;
  tuning_database database(path);
  database.store(sample_function(), sample_key(), sample_tuning(2), 1);
  CHECK(database.find(sample_function(), sample_key())->values == sample_tuning(2));
  CHECK(count_aside(folder) == 1);
  CHECK(errors.count("warning") == 1);
  CHECK(errors.count("was moved to") == 1);
}

TEST_CASE("a lookup of damage changes nothing, and its error is the warning") {
  const temporary_folder folder;
  const std::string path = create_damaged(folder);
  const std::string before = content_of(path);
  captured_errors errors;
  tuning_database database(path);
  CHECK_THROWS_WITH_AS(database.find(sample_function(), sample_key()), doctest::Contains("damaged"),
                       tune::database_error);
  CHECK(content_of(path) == before);
  CHECK(count_aside(folder) == 0);
  database.store(sample_function(), sample_key(), sample_tuning(2), 1);
  CHECK(count_aside(folder) == 1);
  CHECK(errors.count("warning") == 0);
}

TEST_CASE("a database that others moved or removed is not written any more") {
  const temporary_folder folder;
  tuning_database database(folder.file("tuning.db"));
  database.store(sample_function(), sample_key(), sample_tuning(1), 1);
  fs::rename(database.path(), folder.file("moved.db"));
  const std::string before = content_of(folder.file("moved.db"));
  CHECK_FALSE(database.find(sample_function(), sample_key()));
  database.store(sample_function(), sample_key(2), sample_tuning(2), 1);
  CHECK(content_of(folder.file("moved.db")) == before);
  CHECK(database.find(sample_function(), sample_key(2)));
  CHECK_FALSE(database.find(sample_function(), sample_key()));
  fs::remove(database.path());
  database.store(sample_function(), sample_key(3), sample_tuning(3), 1);
  CHECK(tuning_database(database.path()).find(sample_function(), sample_key(3)));
}

TEST_CASE("sixteen writers meet on a damaged database: it goes aside once and nothing is lost") {
  const temporary_folder folder;
  const std::string path = create_damaged(folder);
  captured_errors errors;
  std::atomic<int> faults{0};
  std::vector<std::thread> threads;
  for (std::int64_t thread = 0; thread < 16; ++thread) {
    threads.emplace_back([&, thread] {
      try {
        tuning_database database(path, {.read = 60s, .write = 60s});
        for (std::int64_t i = 0; i < 5; ++i) {
          const std::int64_t row = 100 * thread + i;
          database.store(sample_function(), sample_key(row), sample_tuning(row), 1);
        }
      } catch (...) {
        ++faults;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(faults == 0);
  CHECK(count_aside(folder) == 1);
  tuning_database database(path);
  for (std::int64_t thread = 0; thread < 16; ++thread) {
    for (std::int64_t i = 0; i < 5; ++i) {
      const std::int64_t row = 100 * thread + i;
      const auto found = database.find(sample_function(), sample_key(row));
      CHECK((found && found->values == sample_tuning(row)));
    }
  }
  SQLite::Database opened(path);
  CHECK(opened.execAndGet("PRAGMA integrity_check").getString() == "ok");
}

}  // namespace quarantine_test
