// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/kernel/cache/program_digest.hpp"

#include <doctest/doctest.h>
#include <set>
#include <string>
#include <vector>

namespace program_digest_test {

using tune::program_digest;

TEST_CASE("programs that differ in name, text or options have different digests") {
  std::set<std::string> digests;
  for (const tune::program_source& source :
       {tune::program_source{"a", "b", {}}, tune::program_source{"ab", "", {}},
        tune::program_source{"a", "b", {"-O1"}}, tune::program_source{"a", "b", {"-O1", "-g"}},
        tune::program_source{"a", "b", {"-O1-g"}}, tune::program_source{"a", "c", {}}}) {
    const std::string digest = program_digest(source);
    CHECK(digest.size() == 32);
    digests.insert(digest);
  }
  CHECK(digests.size() == 6);
}

TEST_CASE("the digest of a program is always the same") {
  // Databases hold such digests.
  CHECK(program_digest({"a", "b", {"-O1"}}) == "0bfe5acfc98136e21cec89d589d27ba7");
}

TEST_CASE("the headers of a program are a part of its digest") {
  std::set<std::string> digests;
  for (const std::vector<tune::kernel_header>& headers :
       {std::vector<tune::kernel_header>{}, {{"a.h", "x"}}, {{"a.h", "y"}}, {{"b.h", "x"}}}) {
    digests.insert(program_digest({"a", "b", {}, headers}));
  }
  CHECK(digests.size() == 4);
}

}  // namespace program_digest_test
