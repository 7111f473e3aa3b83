// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
// Places where no database can be kept: an autotuner finds what it finds elsewhere, keeps it for
// the rest of the process, and says once that it is not stored. Each case is a process of its own.
#include <SQLiteCpp/SQLiteCpp.h>
#include <doctest/doctest.h>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <sched.h>
#include <string>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libtune/testing/fixtures.hpp"
#include "libtune/testing/temporary_directory.hpp"
#include "tests/store/captured_errors.hpp"
#include "tests/store/child_process.hpp"
#include "tests/tune/application.hpp"

namespace unusable_places_test {

namespace fs = std::filesystem;
using tune::testing::captured_errors;
using tune::testing::in_child;
using tune::testing::temporary_directory;

constexpr ::uid_t nobody = 65'534;
constexpr ::uid_t unknown_user = 54'321;

// What a child can find wrong, and that there was nothing to find out.
constexpr int another_result = 1;
constexpr int another_number_of_searches = 2;
constexpr int another_number_of_warnings = 4;
constexpr int not_possible_here = 8;

/// Tunes twice, after the environment is without a place for a database, and counts the faults.
int tune_twice(int warnings) {
  captured_errors errors;
  const tune::testing::test_mode_guard mode(tune::testing::test_mode::off);
  sample::counted_autotuner counted;
  const auto context = sample::make_device().device().create_context();
  int faults = 0;
  for (int again = 0; again < 2; ++again) {
    if (counted.autotune(context) != sample::fastest) faults |= another_result;
  }
  if (counted.searches != 1) faults |= another_number_of_searches;
  if (errors.count("warning:") != warnings) faults |= another_number_of_warnings;
  if (faults != 0) std::cout << errors.text() << std::flush;
  return faults;
}

/// Runs prepare() and then tune_twice in a child, with no variable that names a place.
int tune_in_child(const std::function<bool()>& prepare, int warnings = 1) {
  return in_child([&] {
    for (const char* name : {"HOME", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR", "LIBTUNE_DB",
                             "LIBTUNE_SYSTEM_DB", "LIBTUNE_MODE", "LIBTUNE_LOG"}) {
      ::unsetenv(name);
    }
    ::setenv("LIBTUNE_CACHE", "off", 1);
    return prepare() ? tune_twice(warnings) : not_possible_here;
  });
}

bool set(const char* name, const std::string& value) {
  return ::setenv(name, value.c_str(), 1) == 0;
}

/// Gives up what a superuser may, for ever.
bool become(::uid_t user) { return ::geteuid() != 0 || ::setuid(user) == 0; }

TEST_CASE("without a home a result is found, kept in memory, and one warning says so") {
  CHECK(tune_in_child([] { return true; }) == 0);
  CHECK(tune_in_child([] { return set("HOME", "/"); }) == 0);
  CHECK(tune_in_child([] { return set("HOME", ""); }) == 0);
  CHECK(tune_in_child([] { return set("HOME", "relative"); }) == 0);
}

TEST_CASE("a home that may not be written, or is none, costs one warning") {
  const temporary_directory folder;
  fs::permissions(folder.path(), fs::perms(0755));
  std::ofstream(folder / "file") << "text";
  CHECK(tune_in_child([&] { return set("HOME", folder.path()) && become(nobody); }) ==
        (::geteuid() == 0 ? 0 : another_number_of_warnings));
  CHECK(tune_in_child([&] { return set("HOME", folder / "file"); }) == 0);
  CHECK(tune_in_child([&] { return set("HOME", "/proc/libtune-none"); }) == 0);
}

TEST_CASE("a user whom the system does not know, and who has no home, is a user like any other") {
  CHECK(tune_in_child([] { return become(unknown_user); }) == 0);
  const temporary_directory folder;
  fs::permissions(folder.path(), fs::perms(0755));
  fs::create_directory(folder.path() / "own");
  const int ended = tune_in_child(
      [&] {
        return ::chown((folder / "own").c_str(), unknown_user, unknown_user) == 0 &&
               become(unknown_user) && set("HOME", folder / "own");
      },
      0);
  CHECK((ended == 0 || ended == not_possible_here));
  CHECK(fs::exists(folder.path() / "own/.cache/libtune/tuning.db") == (ended == 0));
}

TEST_CASE("any mask keeps the result, the user's alone") {
  for (const ::mode_t mask : {0000U, 0777U}) {
    const temporary_directory folder;
    CHECK(tune_in_child(
              [&] {
                ::umask(mask);
                return set("HOME", folder.path());
              },
              0) == 0);
    const fs::path file = folder.path() / ".cache/libtune/tuning.db";
    CHECK(fs::status(file).permissions() == fs::perms(0600));
    CHECK(fs::status(file.parent_path()).permissions() == fs::perms(0700));
  }
}

TEST_CASE("a folder that others may write costs one warning, and nothing is put there") {
  const temporary_directory folder;
  fs::create_directory(folder.path() / "open");
  fs::permissions(folder.path() / "open", fs::perms(0777));
  CHECK(tune_in_child([&] { return set("LIBTUNE_DB", folder / "open/tuning.db"); }) == 0);
  CHECK_FALSE(fs::exists(folder.path() / "open/tuning.db"));
}

TEST_CASE("a file that is no database, another's, or not to be read or written costs one warning") {
  const temporary_directory folder;
  fs::permissions(folder.path(), fs::perms(0755));
  const std::string path = folder / "tuning.db";
  const auto tune_there = [&](::uid_t user) {
    return tune_in_child([&, user] { return set("LIBTUNE_DB", path) && become(user); });
  };
  std::ofstream(path) << "this is no database, but a text of more than a hundred bytes, which is "
                         "what SQLite reads of a file before it says so";
  CHECK(tune_there(::geteuid()) == 0);
  fs::remove(path);
  SQLite::Database(path, SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE)
      .exec("PRAGMA application_id = 42; CREATE TABLE bookmarks (url TEXT)");
  CHECK(tune_there(::geteuid()) == 0);
  // Both need a superuser, who is asked for nothing else.
  if (::geteuid() != 0) return;
  fs::permissions(path, fs::perms(0600));
  CHECK(tune_there(nobody) == 0);
  fs::remove(path);
  sample::store(path, sample::context_of("GPU"), {});
  fs::permissions(path, fs::perms(0644));
  CHECK(tune_there(nobody) == 0);
}

TEST_CASE("odd names are names") {
  for (const char* name :
       {"a b.db", "file:x.db?mode=memory", "#%41.db", "new\nline.db", "\xc3\xa9\xff.db",
        ":memory:", "-x.db", "tuning.db-journal", "~", "$HOME", "'; DROP TABLE t; --"}) {
    CAPTURE(name);
    const temporary_directory folder;
    CHECK(tune_in_child([&] { return set("LIBTUNE_DB", folder.path().string() + '/' + name); },
                        0) == 0);
    CHECK(fs::is_regular_file(folder.path() / name));
  }
}

TEST_CASE("a path may be as long as SQLite takes, and one that is longer costs one warning") {
  const temporary_directory folder;
  const auto path_of = [&](std::size_t length) {
    std::string path = folder.path().string();
    while (path.size() + 250 < length) path += '/' + std::string(200, 'x');
    return path + '/' + std::string(length - path.size() - 4, 'y') + ".db";
  };
  CHECK(tune_in_child([&] { return set("LIBTUNE_DB", path_of(500)); }, 0) == 0);
  CHECK(fs::exists(path_of(500)));
  CHECK(tune_in_child([&] { return set("LIBTUNE_DB", path_of(1'000)); }) == 0);
  CHECK(tune_in_child([&] { return set("LIBTUNE_DB", path_of(4'096)); }) == 0);
  CHECK(tune_in_child([&] { return set("LIBTUNE_DB", path_of(20'000)); }) == 0);
  const std::string name = folder / (std::string(300, 'z') + ".db");
  CHECK(tune_in_child([&] { return set("LIBTUNE_DB", name); }) == 0);
}

TEST_CASE("a file system that may only be read costs one warning") {
  const temporary_directory folder;
  const auto read_only = [&] {
    const bool apart = ::unshare(CLONE_NEWNS) == 0 || ::unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0;
    return apart && ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
           ::mount("none", folder.path().c_str(), "tmpfs", MS_RDONLY, "mode=0700") == 0 &&
           set("HOME", folder.path());
  };
  const int ended = tune_in_child(read_only);
  if (ended == not_possible_here) {
    MESSAGE("skipped: this process may not make a namespace of its own");
    return;
  }
  CHECK(ended == 0);
}

}  // namespace unusable_places_test
