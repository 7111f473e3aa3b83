// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/store/database/database_file.hpp"

#include <doctest/doctest.h>
#include <filesystem>
#include <fstream>
#include <sys/stat.h>

#include "libtune/base/error.hpp"
#include "libtune/store/database/tuning_database.hpp"
#include "tests/store/temporary_folder.hpp"

namespace database_file_test {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using tune::detail::create_private_file;
using tune::detail::database_lock;
using tune::detail::lock_kind;
using tune::testing::temporary_folder;

unsigned mode_of(const fs::path& path) {
  struct stat status {};
  REQUIRE(::stat(path.c_str(), &status) == 0);
  return status.st_mode & 07777U;
}

TEST_CASE("a path that cannot name a file is refused") {
  CHECK_THROWS_AS(tune::detail::absolute_path(""), tune::argument_error);
  CHECK_THROWS_AS(tune::detail::absolute_path("/tmp/"), tune::argument_error);
  CHECK_THROWS_AS(tune::detail::absolute_path(std::string("/tmp/a\0b", 8)), tune::argument_error);
}

TEST_CASE("a server in the place of a file is refused, without its password") {
  for (const char* url :
       {"postgresql://user:s3cret@host/base", "postgres://user:s3cret@host/base"}) {
    try {
      tune::tuning_database opened(url);
      FAIL("it is taken for a file");
    } catch (const tune::argument_error& refusal) {
      CHECK(std::string(refusal.what()).find("LIBTUNE_SHARED_DB") != std::string::npos);
      CHECK(std::string(refusal.what()).find("s3cret") == std::string::npos);
    }
  }
}

TEST_CASE("a path becomes absolute, whatever SQLite would make of it") {
  for (const char* path : {"tuning.db", ":memory:", "file:tuning.db?mode=memory"}) {
    CHECK(tune::detail::absolute_path(path) == (fs::current_path() / path).string());
  }
  CHECK(tune::detail::absolute_path("/a/b.db") == "/a/b.db");
}

TEST_CASE("a new file and its folders are the owner's alone") {
  const temporary_folder folder;
  const std::string path = folder.file("a/b/tuning.db");
  CHECK_FALSE(tune::detail::is_there(path));
  create_private_file(path);
  CHECK(tune::detail::is_there(path));
  CHECK(mode_of(path) == 0600);
  CHECK(mode_of(folder.path() / "a/b") == 0700);
  CHECK(mode_of(folder.path() / "a") == 0700);
  CHECK(fs::file_size(path) == 0);
}

TEST_CASE("what exists stays as it is") {
  const temporary_folder folder;
  fs::create_directory(folder.path() / "shared");
  fs::permissions(folder.path() / "shared", fs::perms(0755));
  const std::string path = folder.file("shared/tuning.db");
  std::ofstream(path) << "text";
  fs::permissions(path, fs::perms(0640));
  create_private_file(path);
  CHECK(fs::file_size(path) == 4);
  CHECK(mode_of(path) == 0640);
  CHECK(mode_of(folder.path() / "shared") == 0755);
}

TEST_CASE("a folder that cannot be made is an error that names it") {
  const temporary_folder folder;
  std::ofstream(folder.file("file")) << "text";
  CHECK_THROWS_WITH_AS(create_private_file(folder.file("file/tuning.db")),
                       doctest::Contains("file/tuning.db"), tune::database_error);
  CHECK_THROWS_WITH_AS(create_private_file(folder.file("file/deeper/tuning.db")),
                       doctest::Contains("LIBTUNE_DB"), tune::database_error);
}

TEST_CASE("links on the way are followed, a link at the end is kept") {
  const temporary_folder folder;
  fs::create_directory(folder.path() / "real");
  fs::create_symlink(folder.path() / "real", folder.path() / "link");
  fs::create_symlink("nowhere", folder.path() / "real/tuning.db");
  const fs::path real = fs::canonical(folder.path() / "real");
  CHECK(tune::detail::without_links_on_the_way(folder.file("link/tuning.db")) ==
        (real / "tuning.db").string());
  CHECK(tune::detail::is_there(folder.file("link/tuning.db")));
  CHECK_THROWS_AS(tune::detail::without_links_on_the_way(folder.file("none/tuning.db")),
                  tune::database_error);
}

TEST_CASE("writers share the lock, and the one that moves the file has it alone") {
  const temporary_folder folder;
  const std::string path = folder.file("tuning.db");
  {
    const database_lock first(path, lock_kind::shared, 0ms);
    const database_lock second(path, lock_kind::shared, 0ms);
    CHECK(first);
    CHECK(second);
    CHECK_FALSE(database_lock(path, lock_kind::alone, 2ms));
  }
  const database_lock mover(path, lock_kind::alone, 0ms);
  CHECK(mover);
  CHECK_FALSE(database_lock(path, lock_kind::shared, 2ms));
}

TEST_CASE("the file of the lock is the owner's alone, empty, and stays") {
  const temporary_folder folder;
  const std::string path = folder.file("tuning.db");
  { const database_lock lock(path, lock_kind::shared, 0ms); }
  struct stat status {};
  REQUIRE(::stat((path + "-lock").c_str(), &status) == 0);
  CHECK((status.st_mode & 0777U) == 0600U);
  CHECK(status.st_size == 0);
}

TEST_CASE("where no lock can be made nobody is kept out") {
  CHECK(database_lock("/proc/none/tuning.db", lock_kind::alone, 0ms));
  const temporary_folder folder;
  std::filesystem::create_symlink("elsewhere", folder.file("tuning.db-lock"));
  CHECK(database_lock(folder.file("tuning.db"), lock_kind::alone, 0ms));
  CHECK_FALSE(std::filesystem::exists(folder.file("elsewhere")));
}

}  // namespace database_file_test
