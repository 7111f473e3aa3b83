// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/store/database/database_lock.hpp"

#include <doctest/doctest.h>
#include <filesystem>
#include <sys/stat.h>

#include "tests/store/temporary_folder.hpp"

namespace database_lock_test {

using namespace std::chrono_literals;
using tune::detail::database_lock;
using tune::testing::temporary_folder;
using kind = database_lock::kind;

TEST_CASE("writers share the lock, and who moves the file has it alone") {
  const temporary_folder folder;
  const std::string path = folder.file("tuning.db");
  {
    const database_lock first(path, kind::shared, 0ms);
    const database_lock second(path, kind::shared, 0ms);
    CHECK(first);
    CHECK(second);
    CHECK_FALSE(database_lock(path, kind::alone, 2ms));
  }
  const database_lock mover(path, kind::alone, 0ms);
  CHECK(mover);
  CHECK_FALSE(database_lock(path, kind::shared, 2ms));
}

TEST_CASE("the lock's file is the owner's alone, empty, and stays") {
  const temporary_folder folder;
  const std::string path = folder.file("tuning.db");
  { const database_lock lock(path, kind::shared, 0ms); }
  struct stat status {};
  REQUIRE(::stat((path + "-lock").c_str(), &status) == 0);
  CHECK((status.st_mode & 0777U) == 0600U);
  CHECK(status.st_size == 0);
}

TEST_CASE("where no lock can be made nobody is kept out") {
  CHECK(database_lock("/proc/none/tuning.db", kind::alone, 0ms));
  const temporary_folder folder;
  std::filesystem::create_symlink("elsewhere", folder.file("tuning.db-lock"));
  CHECK(database_lock(folder.file("tuning.db"), kind::alone, 0ms));
  CHECK_FALSE(std::filesystem::exists(folder.file("elsewhere")));
}

}  // namespace database_lock_test
