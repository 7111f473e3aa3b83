// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/store/files/file_system.hpp"

#include <doctest/doctest.h>
#include <filesystem>
#include <string>
#include <unistd.h>

#include "libtune/testing/fixtures.hpp"
#include "tests/store/temporary_folder.hpp"

namespace file_system_test {

using tune::user_cache_folder;
using tune::detail::file_system_of;
using tune::detail::is_network_file_system;
using tune::testing::scoped_environment;

TEST_CASE("file systems that machines share are told from those of one machine") {
  for (const long kind :
       {0x6969L, 0xff534d42L, 0x0bd00bd0L, 0x00c36400L, 0x65735546L, 0x01021997L}) {
    CHECK(is_network_file_system(kind));
  }
  for (const long kind : {0xef53L, 0x58465342L, 0x9123683eL, 0x01021994L, 0x794c7630L, 0L}) {
    CHECK_FALSE(is_network_file_system(kind));
  }
}

TEST_CASE("what does not exist is on the file system of the folder above") {
  const tune::testing::temporary_folder folder;
  const auto kind = file_system_of(folder.path().string());
  REQUIRE(kind);
  CHECK(file_system_of(folder.file("a/b/c.db")) == kind);
}

TEST_CASE("the folder of this machine is the user's alone") {
  const auto local = tune::detail::node_local_folder();
  if (!local) return;
  CHECK(local->ends_with("-" + std::to_string(::geteuid())));
  CHECK((std::filesystem::status(*local).permissions() & std::filesystem::perms(0077)) ==
        std::filesystem::perms::none);
}

TEST_CASE("the user's cache folder is that of XDG_CACHE_HOME, else of HOME") {
  const scoped_environment home("HOME", "/home/user");
  {
    const scoped_environment cache("XDG_CACHE_HOME", "/var/cache/user");
    CHECK(user_cache_folder() == "/var/cache/user/libtune");
  }
  for (const char* unusable : {static_cast<const char*>(nullptr), "", "relative/cache"}) {
    const scoped_environment cache("XDG_CACHE_HOME", unusable);
    CHECK(user_cache_folder() == "/home/user/.cache/libtune");
  }
}

TEST_CASE("without a home there is no cache folder") {
  const scoped_environment cache("XDG_CACHE_HOME", nullptr);
  for (const char* unusable : {static_cast<const char*>(nullptr), "", "home", "/"}) {
    const scoped_environment home("HOME", unusable);
    CHECK_FALSE(user_cache_folder());
  }
}

}  // namespace file_system_test
