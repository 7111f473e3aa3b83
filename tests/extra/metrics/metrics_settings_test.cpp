// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/metrics/metrics_settings.hpp"

#include <doctest/doctest.h>

#include "libtune/base/error.hpp"
#include "libtune/testing/fixtures.hpp"

namespace metrics_settings_test {

using namespace std::chrono_literals;
using tune::detail::complete_by_environment;
using tune::testing::scoped_environment;

constexpr const char* variable = "LIBTUNE_METRICS_FILE";

TEST_CASE("the variable gives file, interval and program") {
  const scoped_environment set(variable, "/var/my folder/a.prom, each 2.5 s,program back end");
  const auto read = complete_by_environment({});
  CHECK(read.file == "/var/my folder/a.prom");
  CHECK(read.every == 2500ms);
  CHECK(read.program == "back end");
}

TEST_CASE("a file alone is written each 15 s, and names the program") {
  const scoped_environment set(variable, "/var/receiver.7.prom");
  const auto read = complete_by_environment({});
  CHECK(read.every == 15s);
  CHECK(read.program == "receiver.7");
}

TEST_CASE("times have units") {
  CHECK(tune::metrics_options_from_text("a.prom, each 20 ms").every == 20ms);
  CHECK(tune::metrics_options_from_text("a.prom, each 2 min").every == 2min);
}

TEST_CASE("a program's own file stays, with its interval") {
  const scoped_environment set(variable, "/var/other.prom, each 1 s, program other");
  const auto read = complete_by_environment({.file = "own.prom", .every = 3s});
  CHECK(read.file == "own.prom");
  CHECK(read.every == 3s);
  CHECK(read.program == "own");
  CHECK(complete_by_environment({.program = "mine"}).program == "mine");
}

TEST_CASE("without a file the samples have the name of the program") {
  const auto read = complete_by_environment({});
  CHECK(read.file.empty());
  CHECK(read.program == "metrics_tests");
}

TEST_CASE("a text gives options, and keeps the others") {
  const auto read = tune::metrics_options_from_text("f.prom, each 1 s", {.most_keys = 3});
  CHECK(read.file == "f.prom");
  CHECK(read.most_keys == 3);
}

TEST_CASE("a value that cannot be read is an error that names the variable and the form") {
  for (const char* const text :
       {",", "a.txt", "a.prom, each", "a.prom, each 15", "a.prom, each 0 s", "a.prom, each -1 s",
        "a.prom, each nan s", "a.prom, each 1e9 s", "a.prom, program ", "a.prom, always",
        "a.prom,,each 1 s", ".prom.x, each 1 s"}) {
    CAPTURE(text);
    const scoped_environment set(variable, text);
    CHECK_THROWS_WITH_AS(complete_by_environment({}), doctest::Contains("each 15 s, program NAME"),
                         tune::environment_error);
    CHECK_THROWS_AS(tune::metrics_options_from_text(text), tune::argument_error);
  }
}

TEST_CASE("options without meaning are refused") {
  CHECK_THROWS_WITH_AS(complete_by_environment({.file = "a.txt"}), doctest::Contains(".prom"),
                       tune::argument_error);
  CHECK_THROWS_AS(complete_by_environment({.every = 0ms}), tune::argument_error);
  CHECK_THROWS_AS(complete_by_environment({.window = -1s}), tune::argument_error);
}

}  // namespace metrics_settings_test
