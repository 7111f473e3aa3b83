// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/base/environment.hpp"

#include <cstdlib>
#include <doctest/doctest.h>
#include <set>
#include <string>

#include "libtune/base/error.hpp"
#include "libtune/testing/fixtures.hpp"

namespace environment_test {

using tune::testing::scoped_environment;

TEST_CASE("the table names each variable once") {
  std::set<std::string> names;
  for (const auto& variable : tune::environment_variables()) {
    CHECK(names.insert(variable.name).second);
    CHECK(std::string(variable.meaning).size() > 10);
  }
}

TEST_CASE("a variable is read each time that it is asked for") {
  const scoped_environment first("LIBTUNE_DB", "/tmp/a.db");
  CHECK(tune::read_environment("LIBTUNE_DB") == "/tmp/a.db");
  {
    const scoped_environment second("LIBTUNE_DB", "/tmp/b.db");
    CHECK(tune::read_environment("LIBTUNE_DB") == "/tmp/b.db");
  }
  CHECK(tune::read_environment("LIBTUNE_DB") == "/tmp/a.db");
}

TEST_CASE("an unset variable and an empty one are absent") {
  const scoped_environment unset("LIBTUNE_DB", nullptr);
  CHECK_FALSE(tune::read_environment("LIBTUNE_DB"));
  const scoped_environment empty("LIBTUNE_DB", "");
  CHECK_FALSE(tune::read_environment("LIBTUNE_DB"));
}

TEST_CASE("an index is a non-negative integer and nothing else") {
  {
    const scoped_environment good("LIBTUNE_DEVICE", "12");
    CHECK(tune::read_environment_index("LIBTUNE_DEVICE") == 12);
  }
  for (const char* bad : {"-1", "1.5", "one", "0x2", " 1", "1 ", "99999999999999999999999"}) {
    const scoped_environment setting("LIBTUNE_DEVICE", bad);
    CAPTURE(bad);
    try {
      tune::read_environment_index("LIBTUNE_DEVICE");
      FAIL("accepted");
    } catch (const tune::environment_error& failure) {
      CHECK(failure.variable() == "LIBTUNE_DEVICE");
      CHECK(std::string(failure.what()).find(bad) != std::string::npos);
    }
  }
}

TEST_CASE("a choice is one of its words, or an error that lists them") {
  const auto read = [] {
    return tune::read_environment_choice<int>("LIBTUNE_MATCH", {{"exact", 1}, {"nearest", 2}});
  };
  {
    const scoped_environment setting("LIBTUNE_MATCH", "nearest");
    CHECK(read() == 2);
  }
  const scoped_environment setting("LIBTUNE_MATCH", "Nearest");
  CHECK_THROWS_WITH_AS(read(), doctest::Contains("LIBTUNE_MATCH is 'Nearest'"),
                       tune::environment_error);
  CHECK_THROWS_WITH_AS(read(), doctest::Contains("exact, nearest"), tune::environment_error);
}

}  // namespace environment_test
