// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/kernel/cache/recent_binaries.hpp"

#include <doctest/doctest.h>

namespace recent_binaries_test {

tune::detail::sha256_digest key(unsigned char n) {
  tune::detail::sha256_digest made{};
  made[0] = static_cast<std::byte>(n);
  return made;
}

std::vector<std::byte> bytes(std::size_t count) { return std::vector<std::byte>(count); }

TEST_CASE("what was added is found, until it is removed") {
  tune::recent_binaries recent;
  CHECK(recent.find(key(1)) == nullptr);
  recent.add(key(1), bytes(3));
  REQUIRE(recent.find(key(1)) != nullptr);
  CHECK(recent.find(key(1))->size() == 3);
  recent.remove(key(1));
  recent.remove(key(2));
  CHECK(recent.find(key(1)) == nullptr);
}

TEST_CASE("the one used longest ago makes room") {
  tune::recent_binaries recent(10);
  recent.add(key(1), bytes(4));
  recent.add(key(2), bytes(4));
  recent.find(key(1));
  recent.add(key(3), bytes(4));
  CHECK(recent.find(key(1)) != nullptr);
  CHECK(recent.find(key(2)) == nullptr);
  CHECK(recent.find(key(3)) != nullptr);
}

TEST_CASE("adding again replaces, and counts once") {
  tune::recent_binaries recent(10);
  recent.add(key(1), bytes(6));
  recent.add(key(1), bytes(5));
  recent.add(key(2), bytes(5));
  CHECK(recent.find(key(1))->size() == 5);
  CHECK(recent.find(key(2)) != nullptr);
}

TEST_CASE("what is larger than the cap is not kept, and throws nothing else out") {
  tune::recent_binaries recent(10);
  recent.add(key(1), bytes(6));
  recent.add(key(2), bytes(11));
  CHECK(recent.find(key(2)) == nullptr);
  CHECK(recent.find(key(1)) != nullptr);
}

TEST_CASE("who holds a binary keeps it when it is thrown out") {
  tune::recent_binaries recent(4);
  recent.add(key(1), bytes(4));
  const auto held = recent.find(key(1));
  recent.add(key(2), bytes(4));
  CHECK(recent.find(key(1)) == nullptr);
  CHECK(held->size() == 4);
}

}  // namespace recent_binaries_test
