// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/store/files/key_lock.hpp"

#include <array>
#include <chrono>
#include <csignal>
#include <doctest/doctest.h>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include "libtune/testing/fixtures.hpp"
#include "tests/store/child_process.hpp"
#include "tests/store/lock_keeper.hpp"
#include "tests/store/temporary_folder.hpp"

namespace key_lock_test {

using namespace std::chrono_literals;
using tune::key_lock;
using tune::testing::in_child;
using tune::testing::lock_keeper;
using tune::testing::scoped_environment;
using tune::testing::temporary_folder;

bool is_free_for_others(const std::string& database, const std::string& key) {
  return in_child([&] { return key_lock(database, key).take(0ms); }) == 1;
}

/// The names of the files that have been made in the folder of a database's locks.
std::set<std::string> files_in(const std::string& folder) {
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    names.insert(entry.path().filename().string());
  }
  return names;
}

TEST_CASE("one process has the right to a key, until it gives it back") {
  const temporary_folder folder;
  const std::string database = folder.file("deeper/tuning.db");
  {
    key_lock lock(database, "key");
    REQUIRE(lock.take(0ms));
    CHECK_FALSE(is_free_for_others(database, "key"));
    CHECK(is_free_for_others(folder.file("another.db"), "key"));
  }
  CHECK(is_free_for_others(database, "key"));
}

TEST_CASE("within a process it is shared, as long as one has it") {
  const temporary_folder folder;
  const std::string database = folder.file("tuning.db");
  std::optional<key_lock> first;
  first.emplace(database, "key");
  key_lock second(database, "key");
  REQUIRE(first->take(0ms));
  CHECK(second.take(0ms));
  first.reset();
  CHECK_FALSE(is_free_for_others(database, "key"));
}

TEST_CASE("a child does not have what its parent has") {
  const temporary_folder folder;
  const std::string database = folder.file("tuning.db");
  key_lock lock(database, "key");
  REQUIRE(lock.take(0ms));
  CHECK(in_child([&] { return key_lock(database, "key").take(5ms); }) == 0);
}

TEST_CASE("what a process had that was killed is free") {
  const temporary_folder folder;
  const std::string database = folder.file("tuning.db");
  CHECK(in_child([&] {
          key_lock lock(database, "key");
          if (lock.take(0ms)) ::kill(::getpid(), SIGKILL);
          return 0;
        }) == -1);
  CHECK(is_free_for_others(database, "key"));
}

TEST_CASE(
    "however many keys there are, no two share a lock, and the file is one, empty, and stays") {
  const temporary_folder folder;
  const std::string database = folder.file("tuning.db");
  constexpr int keys = 400;
  const lock_keeper other([&] {
    std::vector<std::unique_ptr<key_lock>> locks;
    for (int i = 0; i < keys; ++i) {
      locks.push_back(std::make_unique<key_lock>(database, std::to_string(i)));
      if (!locks.back()->take(0ms)) ::_exit(1);
    }
    return locks;
  });
  CHECK_FALSE(key_lock(database, "17").take(0ms));
  for (int i = keys; i < 2 * keys; ++i) CHECK(key_lock(database, std::to_string(i)).take(0ms));
  CHECK(files_in(database + ".locks") == std::set<std::string>{key_lock::file_name});
  struct stat status {};
  REQUIRE(::stat((database + ".locks/keys").c_str(), &status) == 0);
  CHECK(status.st_size == 0);
  CHECK((status.st_mode & 0077) == 0);
  CHECK_FALSE(std::filesystem::exists(database));
}

TEST_CASE("to take and give back one key's lock drops no other of the process") {
  const temporary_folder folder;
  const std::string database = folder.file("tuning.db");
  key_lock kept(database, "kept");
  REQUIRE(kept.take(0ms));
  for (int i = 0; i < 3; ++i) CHECK(key_lock(database, std::to_string(i)).take(0ms));
  CHECK_FALSE(is_free_for_others(database, "kept"));
  CHECK(is_free_for_others(database, "0"));
}

TEST_CASE("a child that lives on keeps nothing of what its parent had when it was killed") {
  const temporary_folder folder;
  const std::string database = folder.file("tuning.db");
  std::array<int, 2> pipe{};
  REQUIRE(::pipe(pipe.data()) == 0);
  const ::pid_t parent = tune::testing::fork_for_use();
  if (parent == 0) {
    key_lock lock(database, "key");
    if (!lock.take(0ms)) ::_exit(1);
    const ::pid_t child = ::fork();
    if (child == 0) {
      ::close(pipe[1]);
      char ignored = 0;
      ::_exit(static_cast<int>(::read(pipe[0], &ignored, 1)));  // until the test closes its end
    }
    ::kill(::getpid(), SIGKILL);
  }
  ::waitpid(parent, nullptr, 0);
  CHECK(key_lock(database, "key").take(0ms));
  ::close(pipe[0]);
  ::close(pipe[1]);
}

TEST_CASE("who waits can tell for which process, and is asked to look meanwhile") {
  const temporary_folder folder;
  const std::string database = folder.file("tuning.db");
  key_lock lock(database, "key");
  const lock_keeper other([&] {
    auto kept = std::make_unique<key_lock>(database, "key");
    if (!kept->take(0ms)) ::_exit(1);
    return kept;
  });
  int looks = 0;
  CHECK_FALSE(lock.take(20ms, [&](std::chrono::nanoseconds waited) {
    ++looks;
    CHECK(waited < 20ms);
    CHECK(lock.holder() == other.id());
  }));
  CHECK(looks > 0);
}

TEST_CASE("files that somebody removes by hand are made anew") {
  const temporary_folder folder;
  const std::string database = folder.file("tuning.db");
  key_lock before(database, "key");
  key_lock lost(database, "key");
  REQUIRE(before.take(0ms));
  std::filesystem::remove_all(database + ".locks");
  CHECK(in_child([&] { return key_lock(database, "key").take(0ms); }) == 1);
  CHECK(files_in(database + ".locks").size() == 1);
  CHECK(lost.take(60s));
}

TEST_CASE("where the database's folder has no room for locks, the user's folders do") {
  const temporary_folder folder;
  std::ofstream(folder.file("a file")) << "not a folder";
  const std::string database = folder.file("a file/tuning.db");
  const scoped_environment cache("XDG_CACHE_HOME", folder.file("cache").c_str());
  SUBCASE("the one for the time of a login") {
    const scoped_environment runtime("XDG_RUNTIME_DIR", folder.file("runtime").c_str());
    key_lock lock(database, "key");
    REQUIRE(lock.take(0ms));
    CHECK_FALSE(is_free_for_others(database, "key"));
    CHECK(files_in(folder.file("runtime/libtune/locks")).size() == 1);
    CHECK(key_lock::folders(database).size() == 3);
  }
  SUBCASE("else the one for what can be made again") {
    const scoped_environment runtime("XDG_RUNTIME_DIR", nullptr);
    key_lock lock(database, "key");
    REQUIRE(lock.take(0ms));
    CHECK_FALSE(is_free_for_others(database, "key"));
    CHECK(files_in(folder.file("cache/libtune/locks")).size() == 1);
  }
  SUBCASE("and where there is none, nobody is kept out") {
    const scoped_environment runtime("XDG_RUNTIME_DIR", "not absolute");
    const scoped_environment no_cache("XDG_CACHE_HOME", folder.file("a file").c_str());
    key_lock lock(database, "key");
    CHECK(lock.take(0ms));
    CHECK(is_free_for_others(database, "key"));
  }
}

}  // namespace key_lock_test
