// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/store/files/user_cache_folder.hpp"

#include <doctest/doctest.h>

#include "libtune/testing/fixtures.hpp"

namespace user_cache_folder_test {

using tune::user_cache_folder;
using tune::testing::scoped_environment;

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

}  // namespace user_cache_folder_test
