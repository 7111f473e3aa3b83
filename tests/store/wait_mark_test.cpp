// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cstdint>
#include <doctest/doctest.h>
#include <memory>
#include <string>
#include <vector>

#include "libtune/store/files/named_lock.hpp"
#include "tests/store/lock_keeper.hpp"
#include "tests/store/temporary_folder.hpp"

namespace wait_mark_test {

using tune::wait_mark;
using tune::testing::lock_keeper;
using tune::testing::temporary_folder;

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

}  // namespace wait_mark_test
