// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/compile/program_digest.hpp"

#include <doctest/doctest.h>
#include <set>

using tune::program_digest;

TEST_CASE("programs that differ in name, text or options have different digests") {
  std::set<std::string> digests;
  for (const tune::program_source& source :
       {tune::program_source{"a", "b", {}}, tune::program_source{"ab", "", {}},
        tune::program_source{"a", "b", {"-O1"}}, tune::program_source{"a", "b", {"-O1", "-g"}},
        tune::program_source{"a", "b", {"-O1-g"}}, tune::program_source{"a", "c", {}}}) {
    const auto digest = program_digest(source);
    REQUIRE(digest);
    CHECK(digest->size() == 32);
    digests.insert(*digest);
  }
  CHECK(digests.size() == 6);
}

TEST_CASE("the digest of a program is always the same") {
  // Databases hold such digests.
  CHECK(*program_digest({"a", "b", {"-O1"}}) == "0bfe5acfc98136e21cec89d589d27ba7");
}

TEST_CASE("a program that includes files has no digest") {
  CHECK_FALSE(program_digest({"a", "#include \"x.h\"\n", {}}));
  CHECK_FALSE(program_digest({"a", "  # include <x.h>\n", {}}));
  CHECK_FALSE(program_digest({"a", "", {"-include x.h"}}));
  CHECK(program_digest({"a", "// we include nothing", {"-I/somewhere"}}));
}
