// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// A host program that does with our file what it likes, in the same process.
#include <SQLiteCpp/SQLiteCpp.h>
#include <dlfcn.h>
#include <doctest/doctest.h>
#include <fcntl.h>
#include <filesystem>
#include <memory>
#include <sqlite3.h>
#include <string>
#include <unistd.h>

#include "libtune/store/database/tuning_database.hpp"
#include "libtune/store/files/named_lock.hpp"
#include "tests/store/lock_keeper.hpp"
#include "tests/store/samples.hpp"
#include "tests/store/temporary_folder.hpp"

namespace tuning_database_host_test {

using namespace std::chrono_literals;
using tune::key_lock;
using tune::tuning_database;
using tune::testing::lock_keeper;
using tune::testing::sample_function;
using tune::testing::sample_key;
using tune::testing::sample_tuning;
using tune::testing::temporary_folder;

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

TEST_CASE("opening and closing our file drops none of our locks") {
  const temporary_folder folder;
  const std::string path = folder.file("tuning.db");
  const lock_keeper other([&] {
    return keep_while(path, [&](tuning_database& database) {
      for (int i = 0; i < 3; ++i) ::close(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
      store(database, 2);
      return database.find(sample_function(), sample_key(2)).has_value();
    });
  });
  CHECK_FALSE(key_lock(tuning_database(path).path(), "key").take(0ms));
}

TEST_CASE("another copy of SQLite in the process uses our file between our calls") {
  const temporary_folder folder;
  const second_sqlite host(folder);
  if (!host) {
    MESSAGE("skipped: SQLite is linked statically, or the sanitizer forbids it");
    return;
  }
  const std::string path = folder.file("tuning.db");
  const auto use = [&](tuning_database& database) {
    bool works = true;
    for (std::int64_t i = 2; i < 10; ++i) {
      works &= host.run(path, "SELECT count(*) FROM libtune_function") == SQLITE_OK;
      store(database, i);
      works &= host.run(path,
                        "CREATE TABLE IF NOT EXISTS of_the_host (x); "
                        "INSERT INTO of_the_host VALUES (1)") == SQLITE_OK;
      works &= database.find(sample_function(), sample_key(i)).has_value();
    }
    return works;
  };
  const lock_keeper other([&] { return keep_while(path, use); });
  CHECK_FALSE(key_lock(tuning_database(path).path(), "key").take(0ms));
  SQLite::Database opened(path);
  CHECK(opened.execAndGet("PRAGMA integrity_check").getString() == "ok");
  CHECK(opened.execAndGet("SELECT count(*) FROM of_the_host").getInt() == 8);
}

}  // namespace tuning_database_host_test
