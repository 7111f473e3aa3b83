// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/store/files/lock_holder.hpp"

#include <csignal>
#include <cstdint>
#include <doctest/doctest.h>
#include <fcntl.h>
#include <string>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/store/lock_keeper.hpp"
#include "tests/store/temporary_folder.hpp"

namespace lock_holder_test {

using tune::look_at_holder;

TEST_CASE("a holder is described by its number, the file that it runs, and whether it is stopped") {
  const tune::testing::lock_keeper other([] { return 0; });
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
  const tune::testing::temporary_folder folder;
  const std::string path = folder.file("locked");
  struct stat status {};
  const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  REQUIRE(::fstat(file, &status) == 0);
  ::close(file);
  CHECK_FALSE(tune::find_lock_holder(status.st_dev, status.st_ino));
  const tune::testing::lock_keeper other([&] {
    struct ::flock all {};
    all.l_type = F_WRLCK;
    return ::fcntl(::open(path.c_str(), O_RDWR | O_CLOEXEC), F_SETLK, &all);
  });
  CHECK(tune::find_lock_holder(status.st_dev, status.st_ino) == other.id());
}

}  // namespace lock_holder_test
