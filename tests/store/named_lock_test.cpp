// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/store/files/named_lock.hpp"

#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <doctest/doctest.h>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include "libtune/store/files/file_lock.hpp"
#include "libtune/store/files/lock_holder.hpp"
#include "libtune/testing/fixtures.hpp"
#include "tests/store/lock_keeper.hpp"
#include "tests/store/samples.hpp"
#include "tests/store/temporary_folder.hpp"

namespace named_lock_test {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using namespace tune::testing;
using namespace tune::detail;
using namespace tune;

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
    const without_privileges another_user;
    CHECK_FALSE(device_lock("device", folders).take(0ms));
  }
  const without_privileges another_user;
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

/// The folder of a database's locks, as key_lock makes it; or none.
std::string lock_folder(const temporary_folder& folder) {
  std::string path;
  SUBCASE("by a file") { path = folder.path().string(); }
  SUBCASE("within this process") {}
  return path;
}

TEST_CASE("of two that want what the other has, one goes on") {
  const temporary_folder folder;
  const std::string locks = lock_folder(folder);
  const wait_mark first(locks, {1}, 2);
  CHECK_FALSE(first.has_to_give_way());
  const wait_mark second(locks, {2}, 1);
  CHECK_FALSE(first.has_to_give_way());
  CHECK(second.has_to_give_way());
}

TEST_CASE("of a circle of three, one goes on, whatever else they have") {
  const temporary_folder folder;
  const std::string locks = lock_folder(folder);
  const wait_mark first(locks, {10, 1}, 2);
  const wait_mark second(locks, {20, 2}, 3);
  CHECK_FALSE(first.has_to_give_way());
  {
    const wait_mark third(locks, {3, 30}, 10);
    CHECK(first.has_to_give_way());
    CHECK_FALSE(second.has_to_give_way());
    CHECK_FALSE(third.has_to_give_way());
  }
  CHECK_FALSE(first.has_to_give_way());
}

TEST_CASE("a line that ends is no circle, nor is one that this one does not belong to") {
  const temporary_folder folder;
  const std::string locks = lock_folder(folder);
  const wait_mark second(locks, {2}, 3);
  const wait_mark third(locks, {3}, 4);
  const wait_mark first(locks, {1}, 2);
  CHECK_FALSE(first.has_to_give_way());
  const wait_mark circle(locks, {4}, 3);
  CHECK_FALSE(first.has_to_give_way());
  CHECK(circle.has_to_give_way() != third.has_to_give_way());
}

TEST_CASE("another process sees it, and what a killed one has left means nothing") {
  const temporary_folder folder;
  const std::string locks = folder.path().string();
  const wait_mark here(locks, {2}, 1);
  {
    const lock_keeper other(
        [&] { return std::make_unique<wait_mark>(locks, std::vector<std::uint64_t>{1}, 2); });
    CHECK(here.has_to_give_way());
  }
  CHECK_FALSE(here.has_to_give_way());
}

file_lock open_lock(const temporary_folder& folder, int mode = O_RDWR) {
  return file_lock(
      file_descriptor(::open(folder.file("lock").c_str(), mode | O_CREAT | O_CLOEXEC, 0600)));
}

TEST_CASE("one at a time has the lock, through a file that is open for reading too") {
  const temporary_folder folder;
  file_lock first = open_lock(folder);
  file_lock second = open_lock(folder, O_RDONLY);
  CHECK(first.try_take() == lock_attempt::taken);
  CHECK(first.is_taken());
  CHECK(second.try_take() == lock_attempt::busy);
  CHECK_FALSE(second.is_taken());
  first.release();
  CHECK(second.try_take() == lock_attempt::taken);
  CHECK(first.try_take() == lock_attempt::busy);
  second = file_lock();
  CHECK(first.try_take() == lock_attempt::taken);
}

TEST_CASE("a lock that was moved is still held, once") {
  const temporary_folder folder;
  file_lock first = open_lock(folder);
  REQUIRE(first.try_take() == lock_attempt::taken);
  {
    const file_lock owner = std::move(first);
    CHECK(open_lock(folder).try_take() == lock_attempt::busy);
  }
  CHECK(open_lock(folder).try_take() == lock_attempt::taken);
}

TEST_CASE("where there is no file or no name any more, an attempt says so") {
  const temporary_folder folder;
  CHECK(file_lock().try_take() == lock_attempt::impossible);
  file_lock lock = open_lock(folder);
  std::filesystem::remove(folder.file("lock"));
  CHECK(lock.try_take() == lock_attempt::removed);
  CHECK_FALSE(lock.is_taken());
}

TEST_CASE("several share a lock, and one that wants it alone waits for all of them") {
  const temporary_folder folder;
  file_lock first = open_lock(folder);
  file_lock second = open_lock(folder);
  file_lock alone = open_lock(folder);
  CHECK(first.take(0ms, lock_kind::shared));
  CHECK(second.take(0ms, lock_kind::shared));
  CHECK_FALSE(alone.take(2ms));
  first.release();
  CHECK_FALSE(alone.take(0ms));
  second.release();
  CHECK(alone.take(0ms));
  CHECK_FALSE(first.take(2ms, lock_kind::shared));
  CHECK(file_lock().take(0ms));  // where there is no file nobody is kept out
}

TEST_CASE("threads that wait for a lock have it one after the other") {
  const temporary_folder folder;
  std::atomic<int> inside{0};
  std::atomic<int> faults{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      file_lock lock = open_lock(folder);
      if (!lock.take(60s) || ++inside != 1) ++faults;
      std::this_thread::yield();
      --inside;
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(faults == 0);
}

TEST_CASE("the copy that a child has releases nothing and keeps nothing") {
  const temporary_folder folder;
  std::array<int, 2> ended{};
  std::array<int, 2> end{};
  REQUIRE(::pipe(ended.data()) == 0);
  REQUIRE(::pipe(end.data()) == 0);
  file_lock lock = open_lock(folder);
  REQUIRE(lock.try_take() == lock_attempt::taken);
  char ignored = 0;
  const ::pid_t child = ::fork();
  if (child == 0) {
    ::close(end[1]);
    lock.release();
    static_cast<void>(!::write(ended[1], "", 1));
    ::_exit(static_cast<int>(::read(end[0], &ignored, 1)));  // until the parent closes its end
  }
  REQUIRE(::read(ended[0], &ignored, 1) == 1);
  CHECK(open_lock(folder).try_take() == lock_attempt::busy);
  lock = file_lock();
  CHECK(open_lock(folder).try_take() == lock_attempt::taken);
  for (const int each : {ended[0], ended[1], end[0], end[1]}) ::close(each);
  ::waitpid(child, nullptr, 0);
}

TEST_CASE("the lock of a process that was killed is free") {
  const temporary_folder folder;
  const ::pid_t child = ::fork();
  if (child == 0) {
    file_lock held = open_lock(folder);
    ::_exit(held.take(0ms) ? ::kill(::getpid(), SIGKILL) : 1);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(WIFSIGNALED(status));
  CHECK(open_lock(folder).take(0ms));
}

TEST_CASE("trying goes on until it works or the wait is over") {
  int attempts = 0;
  const auto third_time = [&] { return ++attempts == 3; };
  CHECK(keep_trying(60s, third_time));
  CHECK(attempts == 3);
  attempts = 0;
  const auto never = [&] {
    ++attempts;
    return false;
  };
  CHECK_FALSE(keep_trying(0ms, never));
  CHECK_FALSE(keep_trying(-5ms, never));
  CHECK(attempts == 2);
  CHECK_FALSE(keep_trying(3ms, never));
  CHECK(attempts > 3);
}

TEST_CASE("a holder is described by its number, the file that it runs, and whether it is stopped") {
  const lock_keeper other([] { return 0; });
  const std::string name = "process " + std::to_string(other.id()) + " (store_tests)";
  const tune::lock_holder running = look_at_holder(other.id());
  CHECK(running.program == "store_tests");
  CHECK_FALSE(running.stopped);
  CHECK(describe(running) == name);
  other.send(SIGSTOP);
  ::waitpid(other.id(), nullptr, WUNTRACED);
  CHECK(look_at_holder(other.id()).stopped);
  CHECK(describe(look_at_holder(other.id())) == name + ", which is stopped");
}

TEST_CASE("a process that is gone or cannot be seen is described as far as it is known") {
  CHECK(describe(look_at_holder(::getpid())) == "this process");
  CHECK(describe(look_at_holder(0)) == "a process of another container");
  constexpr ::pid_t none = (1 << 22) + 1;  // beyond the largest number that the system gives
  CHECK(describe(look_at_holder(none)) == "process " + std::to_string(none));
}

TEST_CASE("the processor time that a holder has used grows while it works") {
  const std::uint64_t before = look_at_holder(::getpid()).used_ticks;
  while (look_at_holder(::getpid()).used_ticks == before) {
  }
  CHECK(look_at_holder(::getpid()).used_ticks > before);
}

TEST_CASE("the holder of a lock in a file is found without opening it") {
  const temporary_folder folder;
  const std::string path = folder.file("locked");
  struct stat status {};
  const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  REQUIRE(::fstat(file, &status) == 0);
  ::close(file);
  CHECK_FALSE(tune::find_lock_holder(status.st_dev, status.st_ino));
  const lock_keeper other([&] {
    struct ::flock all {};
    all.l_type = F_WRLCK;
    return ::fcntl(::open(path.c_str(), O_RDWR | O_CLOEXEC), F_SETLK, &all);
  });
  CHECK(tune::find_lock_holder(status.st_dev, status.st_ino) == other.id());
}

}  // namespace named_lock_test
