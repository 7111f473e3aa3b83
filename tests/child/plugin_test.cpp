// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cstdlib>
#include <doctest/doctest.h>
#include <set>
#include <string>
#include <sys/wait.h>

#include "libtune/base/error.hpp"
#include "libtune/child/serve_if_worker.hpp"
#include "libtune/testing/devices.hpp"
#include "libtune/testing/temporary_directory.hpp"
#include "tests/child/sample_tuner.hpp"
#include "tests/child/tuned_database.hpp"

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
  CHECK(runs.size() <= 8 + isolated::measured_again);
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

}  // namespace plugin_test
