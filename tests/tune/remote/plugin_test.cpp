// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cstdlib>
#include <doctest/doctest.h>
#include <set>
#include <string>
#include <sys/wait.h>

#include "libtune/base/error.hpp"
#include "libtune/testing/devices.hpp"
#include "libtune/testing/temporary_directory.hpp"
#include "libtune/tune/engine/prior_trials.hpp"
#include "libtune/tune/remote/remote_tuning.hpp"
#include "libtune/tune/remote/serve_if_worker.hpp"
#include "tests/tune/remote/sample_tuner.hpp"

namespace plugin_test {

std::string quoted(const std::string& text) { return '\'' + text + '\''; }

TEST_CASE("a library that something else has loaded tunes through the helper program") {
  if (tune::testing::test_devices().empty()) return;
  const tune::testing::temporary_directory folder;
  const std::string log = (folder / "log").string();
  const std::string command = quoted(LIBTUNE_PLUGIN_USER) + ' ' + quoted(LIBTUNE_SAMPLE_PLUGIN) +
                              ' ' + quoted((folder / "tuning.db").string()) + ' ' + quoted(log);
  const int status = std::system(command.c_str());
  REQUIRE(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 1);
  // The best are compared again after the child was lost; the bad one was run once.
  const auto runs = isolated::read_log(log);
  CHECK(std::set<std::string>(runs.begin(), runs.end()).size() == 8);
  CHECK(runs.size() <= 8 + tune::earlier_times::references);
}

TEST_CASE("a library that is not there cannot be tuned through") {
  CHECK_THROWS_AS(tune::tune_through("/no/such/library.so"), tune::argument_error);
}

TEST_CASE("the helper program says what is wrong with a library") {
  for (const char* argument : {"/no/such/library.so", "libm.so.6", ""}) {
    const std::string command =
        quoted(LIBTUNE_TUNER) + ' ' + (*argument == '\0' ? "" : quoted(argument)) + " 2>&1";
    CHECK(WEXITSTATUS(std::system((command + " >/dev/null").c_str())) == 2);
  }
}

TEST_CASE("a program lists its autotune functions, with their fields and test defaults") {
  const auto functions =
      tune::list_functions({.path = "/proc/self/exe", .arguments = {"remote_tests"}});
  const auto sample = std::ranges::find_if(functions, [](const tune::remote_function& function) {
    return function.identity.name == "isolated.sample";
  });
  REQUIRE(sample != functions.end());
  CHECK(sample->identity.key_fields == tune::describe_fields<isolated::sample_key>());
  CHECK(to_string(sample->test_default) == "n=1");
}

TEST_CASE("a program that is no tuner is told from one that is") {
  CHECK_THROWS_WITH_AS(tune::list_functions({.path = "/bin/true", .arguments = {"true"}}),
                       doctest::Contains("exit status 0"), tune::tuner_unavailable_error);
  CHECK_THROWS_AS(tune::list_functions({.path = "/no/such/program", .arguments = {"x"}}),
                  tune::tuner_unavailable_error);
  CHECK_THROWS_WITH_AS(
      tune::list_functions(
          {.path = "/bin/sh", .arguments = {"sh", "-c", "echo this is no message at all >&3"}}),
      doctest::Contains("nonsense"), tune::tuner_unavailable_error);
}

}  // namespace plugin_test
