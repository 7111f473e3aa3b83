// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/store/files/device_lock.hpp"

#include <array>
#include <chrono>
#include <csignal>
#include <doctest/doctest.h>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/store/child_process.hpp"
#include "tests/store/lock_keeper.hpp"
#include "tests/store/samples.hpp"
#include "tests/store/temporary_folder.hpp"

namespace device_lock_test {

using namespace std::chrono_literals;
using tune::device_lock;
using tune::testing::in_child;
using tune::testing::temporary_folder;

namespace fs = std::filesystem;

/// A folder in which every user can make files, as in /tmp.
struct shared_folder {
  shared_folder() { fs::permissions(folder.path(), fs::perms::all | fs::perms::sticky_bit); }

  device_lock lock(const std::string& device) const {
    return device_lock(device, {folder.path().string()});
  }
  std::string path_of(const std::string& device) const {
    return folder.file(lock(device).file_name());
  }

  temporary_folder folder;
};

TEST_CASE("a device is for one at a time, other devices are free") {
  const shared_folder shared;
  {
    device_lock lock = shared.lock("pci 0000:3b:00.0");
    REQUIRE(lock.take(0ms));
    CHECK_FALSE(shared.lock("pci 0000:3b:00.0").take(3ms));
    CHECK(in_child([&] { return shared.lock("pci 0000:3b:00.0").take(0ms); }) == 0);
    CHECK(in_child([&] { return shared.lock("pci 0000:3c:00.0").take(0ms); }) == 1);
  }
  CHECK(shared.lock("pci 0000:3b:00.0").take(0ms));
  CHECK(fs::is_empty(shared.path_of("pci 0000:3b:00.0")));
}

TEST_CASE("what a process had that was killed is free") {
  const shared_folder shared;
  CHECK(in_child([&] {
          device_lock lock = shared.lock("device");
          if (lock.take(0ms)) ::kill(::getpid(), SIGKILL);
          return 0;
        }) == -1);
  CHECK(shared.lock("device").take(0ms));
}

TEST_CASE("a child of the process that is killed while it has the device does not keep it") {
  const shared_folder shared;
  std::array<int, 2> pipe{};
  REQUIRE(::pipe(pipe.data()) == 0);
  CHECK(in_child([&] {
          device_lock lock = shared.lock("device");
          if (!lock.take(0ms)) return 1;
          if (::fork() == 0) {
            ::close(pipe[1]);
            char ignored = 0;
            ::_exit(static_cast<int>(::read(pipe[0], &ignored, 1)));
          }
          ::kill(::getpid(), SIGKILL);
          return 0;
        }) == -1);
  CHECK(shared.lock("device").take(0ms));
  ::close(pipe[0]);
  ::close(pipe[1]);
}

TEST_CASE("who waits can tell which process has the device") {
  const shared_folder shared;
  device_lock lock = shared.lock("device");
  CHECK(lock.holder() == std::nullopt);
  const tune::testing::lock_keeper other([&] {
    auto kept = std::make_unique<device_lock>(shared.lock("device"));
    if (!kept->take(0ms)) ::_exit(1);
    return kept;
  });
  CHECK_FALSE(lock.take(1ms));
  CHECK(lock.holder() == other.id());
}

TEST_CASE("users share the file, whatever mask the first of them had") {
  const shared_folder shared;
  const ::mode_t before = ::umask(0077);
  {
    device_lock lock = shared.lock("device");
    CHECK(lock.take(0ms));
    ::umask(before);
    CHECK(in_child([&] {
            const tune::testing::without_privileges another_user;
            return shared.lock("device").take(0ms);
          }) == 0);
  }
  CHECK(fs::status(shared.path_of("device")).permissions() == fs::perms{0666});
  CHECK(in_child([&] {
          const tune::testing::without_privileges another_user;
          return shared.lock("device").take(0ms);
        }) == 1);
}

TEST_CASE("what somebody has put in the place of the file is left alone") {
  const shared_folder shared;
  const temporary_folder second;
  const std::string path = shared.path_of("device");
  SUBCASE("a symbolic link") { fs::create_symlink(second.file("victim"), path); }
  SUBCASE("a pipe") { REQUIRE(::mkfifo(path.c_str(), 0666) == 0); }
  SUBCASE("a folder") { fs::create_directory(path); }
  device_lock lock("device", {shared.folder.path().string(), second.path().string()});
  REQUIRE(lock.take(0ms));
  CHECK_FALSE(fs::exists(second.file("victim")));
  CHECK_FALSE(device_lock("device", {second.path().string()}).take(0ms));
}

TEST_CASE("a file that is removed while it is waited for is made anew") {
  const shared_folder shared;
  device_lock first = shared.lock("device");
  device_lock second = shared.lock("device");
  REQUIRE(first.take(0ms));
  CHECK_FALSE(second.take(0ms));
  fs::remove(shared.path_of("device"));
  first = shared.lock("device");
  CHECK(second.take(60s));
  CHECK(fs::exists(shared.path_of("device")));
  CHECK_FALSE(first.take(0ms));
}

TEST_CASE("where nothing can be locked, nobody is kept out") {
  CHECK(device_lock("device", {}).take(0ms));
  CHECK(device_lock("device", {"/nowhere at all"}).take(0ms));
}

}  // namespace device_lock_test
