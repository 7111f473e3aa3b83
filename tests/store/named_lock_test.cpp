// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/store/files/named_lock.hpp"

#include <array>
#include <chrono>
#include <csignal>
#include <doctest/doctest.h>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

#include "libtune/testing/fixtures.hpp"
#include "tests/store/lock_keeper.hpp"
#include "tests/store/samples.hpp"
#include "tests/store/temporary_folder.hpp"

namespace named_lock_test {

using namespace std::chrono_literals;
using tune::device_lock;
using tune::key_lock;
using tune::named_lock;
using tune::testing::in_child;
using tune::testing::lock_keeper;
using tune::testing::scoped_environment;
using tune::testing::temporary_folder;

namespace fs = std::filesystem;

/// A lock that is taken at once. Ends the process if another has it: for a lock_keeper.
template <class Lock, class... Arguments>
std::unique_ptr<Lock> taken(const Arguments&... arguments) {
  auto lock = std::make_unique<Lock>(arguments...);
  if (!lock->take(0ms)) ::_exit(1);
  return lock;
}

/// The locks of both kinds in a folder: of several keys, or of several devices.
struct locks {
  template <class Use>
  auto with(const std::string& name, Use use) const {
    if (of_devices) {
      device_lock lock(name, {folder.path().string()});
      return use(static_cast<named_lock&>(lock));
    }
    key_lock lock(folder.file("deeper/tuning.db"), name);
    return use(static_cast<named_lock&>(lock));
  }
  bool is_free(const std::string& name) const {
    return with(name, [](named_lock& lock) { return lock.take(0ms); });
  }
  /// For a lock_keeper or a child.
  std::shared_ptr<void> keep(const std::string& name) const {
    if (of_devices) return taken<device_lock>(name, std::vector{folder.path().string()});
    return taken<key_lock>(folder.file("deeper/tuning.db"), name);
  }

  temporary_folder folder;
  bool of_devices = false;
};

/// Makes a test case run for both kinds.
void choose_kind(locks& all) {
  SUBCASE("of keys") { all.of_devices = false; }
  SUBCASE("of devices") { all.of_devices = true; }
}

TEST_CASE("one process has a lock until it gives it back, others are free") {
  locks all;
  choose_kind(all);
  {
    const lock_keeper other([&] {
      all.keep("given back");
      return all.keep("one");
    });
    CHECK_FALSE(all.is_free("one"));
    CHECK(all.is_free("given back"));
    CHECK(all.is_free("another"));
  }
  CHECK(all.is_free("one"));  // the other process was killed
}

TEST_CASE("a child that lives on keeps nothing that its parent had when it was killed") {
  locks all;
  choose_kind(all);
  std::array<int, 2> pipe{};
  REQUIRE(::pipe(pipe.data()) == 0);
  CHECK(in_child([&] {
          const auto kept = all.keep("one");
          if (::fork() == 0) {
            ::close(pipe[1]);
            char ignored = 0;
            ::_exit(static_cast<int>(::read(pipe[0], &ignored, 1)));  // until the test closes it
          }
          return ::kill(::getpid(), SIGKILL);
        }) == -1);
  CHECK(all.is_free("one"));
  ::close(pipe[0]);
  ::close(pipe[1]);
}

TEST_CASE("a child that ends a lock of its parent leaves it alone") {
  locks all;
  choose_kind(all);
  const lock_keeper other([&] {
    auto lock = all.keep("one");
    if (::fork() == 0) {
      lock.reset();
      ::_exit(0);
    }
    ::wait(nullptr);
    return lock;
  });
  CHECK_FALSE(all.is_free("one"));
}

TEST_CASE("a process that waits can tell for which other, and looks meanwhile") {
  locks all;
  choose_kind(all);
  const lock_keeper other([&] { return all.keep("one"); });
  int looks = 0;
  all.with("one", [&](named_lock& lock) {
    CHECK(lock.holder() == std::nullopt);
    CHECK_FALSE(lock.take(20ms, [&](std::chrono::nanoseconds waited) {
      ++looks;
      CHECK(waited < 20ms);
      CHECK(lock.holder() == other.id());
    }));
  });
  CHECK(looks > 0);
}

TEST_CASE("within a process a key's lock is shared, as long as one has it") {
  const temporary_folder folder;
  const std::string database = folder.file("tuning.db");
  const lock_keeper other([&] {
    auto first = taken<key_lock>(database, "key");
    auto second = taken<key_lock>(database, "key");
    first.reset();
    for (int i = 0; i < 3; ++i) taken<key_lock>(database, std::to_string(i));
    return second;
  });
  CHECK_FALSE(key_lock(database, "key").take(0ms));
  CHECK(key_lock(database, "0").take(0ms));
}

TEST_CASE("within a process one has a device's lock") {
  const temporary_folder folder;
  const std::vector<std::string> folders{folder.path().string()};
  device_lock first("device", folders);
  REQUIRE(first.take(0ms));
  CHECK(first.take(0ms));  // it has it
  CHECK_FALSE(device_lock("device", folders).take(3ms));
  CHECK(device_lock("another", folders).take(0ms));
}

TEST_CASE("however many keys there are, no two share a lock, and one empty file stays") {
  const temporary_folder folder;
  const std::string database = folder.file("tuning.db");
  constexpr int keys = 400;
  const lock_keeper other([&] {
    std::vector<std::unique_ptr<key_lock>> kept;
    for (int i = 0; i < keys; ++i) kept.push_back(taken<key_lock>(database, std::to_string(i)));
    return kept;
  });
  CHECK_FALSE(key_lock(database, "17").take(0ms));
  for (int i = keys; i < 2 * keys; ++i) CHECK(key_lock(database, std::to_string(i)).take(0ms));
  CHECK(key_lock(folder.file("another.db"), "17").take(0ms));
  CHECK(std::distance(fs::directory_iterator(database + ".locks"), {}) == 1);
  struct stat status {};
  REQUIRE(::stat((database + ".locks/keys").c_str(), &status) == 0);
  CHECK(status.st_size == 0);
  CHECK((status.st_mode & 0077) == 0);
  CHECK_FALSE(fs::exists(database));
}

TEST_CASE("a file that somebody removes by hand is made anew") {
  const temporary_folder folder;
  const std::string database = folder.file("tuning.db");
  key_lock before(database, "key");
  REQUIRE(before.take(0ms));
  device_lock first("device", {folder.path().string()});
  auto second = std::make_unique<device_lock>("device", std::vector{folder.path().string()});
  REQUIRE(second->take(0ms));
  CHECK_FALSE(first.take(0ms));

  fs::remove_all(database + ".locks");
  fs::remove(folder.file(device_lock::file_name("device")));
  second.reset();
  CHECK(first.take(60s));
  CHECK(fs::exists(folder.file(device_lock::file_name("device"))));
  {
    const lock_keeper other([&] { return taken<key_lock>(database, "key"); });
    CHECK_FALSE(key_lock(database, "key").take(0ms));
  }
  CHECK(key_lock(database, "key").take(60s));
}

TEST_CASE("where the database's folder has no room for locks, the user's folders do") {
  const temporary_folder folder;
  std::ofstream(folder.file("a file")) << "not a folder";
  const std::string database = folder.file("a file/tuning.db");
  const char* cache = "cache";
  const char* expected = nullptr;
  std::optional<scoped_environment> runtime;
  SUBCASE("the one for the time of a login") {
    runtime.emplace("XDG_RUNTIME_DIR", folder.file("runtime").c_str());
    expected = "runtime/libtune/locks";
  }
  SUBCASE("else the one for what can be made again") {
    runtime.emplace("XDG_RUNTIME_DIR", "not absolute");
    expected = "cache/libtune/locks";
  }
  SUBCASE("and where there is none, nobody is kept out") {
    runtime.emplace("XDG_RUNTIME_DIR", nullptr);
    cache = "a file";
  }
  const scoped_environment cache_home("XDG_CACHE_HOME", folder.file(cache).c_str());
  const lock_keeper other([&] { return taken<key_lock>(database, "key"); });
  key_lock lock(database, "key");
  CHECK(lock.take(0ms) == (expected == nullptr));
  CHECK(lock.folder() == (expected == nullptr ? "" : folder.file(expected)));
  CHECK(device_lock("device", {}).take(0ms));
  CHECK(device_lock("device", {"/nowhere at all"}).take(0ms));
}

TEST_CASE("users share the file of a device, whatever mask the first of them had") {
  const temporary_folder folder;
  fs::permissions(folder.path(), fs::perms::all | fs::perms::sticky_bit);
  const std::vector<std::string> folders{folder.path().string()};
  const std::string path = folder.file(device_lock::file_name("device"));
  {
    const lock_keeper first([&] {
      ::umask(0077);
      return taken<device_lock>("device", folders);
    });
    CHECK(fs::status(path).permissions() == fs::perms{0666});
    CHECK(fs::is_empty(path));
    const tune::testing::without_privileges another_user;
    CHECK_FALSE(device_lock("device", folders).take(0ms));
  }
  const tune::testing::without_privileges another_user;
  CHECK(device_lock("device", folders).take(0ms));
}

TEST_CASE("anything else in the place of a device's file is left alone") {
  const temporary_folder shared;
  const temporary_folder second;
  const std::string path = shared.file(device_lock::file_name("device"));
  SUBCASE("a symbolic link") { fs::create_symlink(second.file("victim"), path); }
  SUBCASE("a pipe") { REQUIRE(::mkfifo(path.c_str(), 0666) == 0); }
  SUBCASE("a folder") { fs::create_directory(path); }
  device_lock lock("device", {shared.path().string(), second.path().string()});
  REQUIRE(lock.take(0ms));
  CHECK_FALSE(fs::exists(second.file("victim")));
  CHECK_FALSE(device_lock("device", {second.path().string()}).take(0ms));
}

}  // namespace named_lock_test
