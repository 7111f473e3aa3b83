// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The same in children of this program, for two devices of this machine's CPU.
#include <chrono>
#include <cstdlib>
#include <doctest/doctest.h>
#include <set>
#include <string>
#include <vector>

#include "libtune/device/devices.hpp"
#include "libtune/testing/fixtures.hpp"
#include "libtune/testing/run_tests.hpp"
#include "libtune/testing/temporary_directory.hpp"
#include "libtune/tune/ahead/device_group.hpp"
#include "libtune/tune/ahead/pretuning.hpp"
#include "libtune/tune/remote/remote_tuning.hpp"
#include "tests/tune/remote/sample_tuner.hpp"

namespace remote_pretuning_test {

using isolated::flaw;
using isolated::sample_key;
using tune::pretuning_state;

// PoCL reads it when it is used first; children inherit it.
const int two_devices = ::setenv("POCL_DEVICES", "pthread pthread", 0);

tune::tuner_program this_program() {
  return {.path = "/proc/self/exe", .arguments = {"ahead_tests"}};
}

std::vector<tune::device> equal_devices() {
  for (const tune::device_group& group : tune::group_devices(tune::all_devices())) {
    if (group.devices.size() > 1) return group.devices;
  }
  tune::testing::skip("there are no two devices that are alike");
  return {};
}

tune::pretuning_options options_in(const tune::testing::temporary_directory& folder) {
  tune::pretuning_options options;
  options.tuning = isolated::isolated_options((folder / "tuning.db").string());
  options.tuning.system_databases = std::vector<std::string>{};
  return options;
}

tune::pretuning_item item_for(const sample_key& key) {
  return {{"isolated.sample", 0, tune::describe_fields<sample_key>(),
           tune::describe_fields<isolated::sample_tuning>()},
          tune::to_values(key)};
}

TEST_CASE("children tune keys for two devices, and crashes of theirs are trials") {
  const tune::testing::test_mode_guard application(tune::testing::test_mode::off);
  const tune::testing::temporary_directory folder;
  const auto devices = equal_devices();
  if (devices.empty()) return;
  const auto options = options_in(folder);
  const std::vector<tune::pretuning_item> items{
      item_for({.flaw = flaw::segfault, .bad = 3, .configurations = 6}),
      item_for({.configurations = 5}), item_for({.flaw = flaw::dies_outside})};
  const auto results = tune::pretune(this_program(), items, devices, options);
  REQUIRE(results.size() == 3);
  CHECK(results[0].state == pretuning_state::tuned);
  CHECK(results[0].trials == 6);
  CHECK(to_string(results[0].values) == "n=1");
  CHECK(results[1].state == pretuning_state::tuned);
  CHECK(results[2].state == pretuning_state::failed);
  CHECK(results[2].reason.find("3 children in a row") != std::string::npos);
}

TEST_CASE("children of two devices divide the search for one key, and nothing runs twice") {
  const tune::testing::test_mode_guard application(tune::testing::test_mode::off);
  const tune::testing::temporary_directory folder;
  const auto devices = equal_devices();
  if (devices.empty()) return;
  auto options = options_in(folder);
  options.smallest_part = std::chrono::seconds(0);
  const std::string log = (folder / "log").string();
  const auto results = tune::pretune(
      this_program(), std::vector{item_for({.configurations = 24, .sleep_us = 1000, .log = log})},
      devices, options);
  REQUIRE(results.size() == 1);
  CHECK(results[0].state == pretuning_state::tuned);
  CHECK(results[0].devices == 2);
  CHECK(to_string(results[0].values) == "n=1");
  const auto ran = isolated::read_log(log);
  CHECK(std::set<std::string>(ran.begin(), ran.end()).size() == 24);
  // The finals, and what was under way when the search was divided.
  CHECK(ran.size() <= 24 + 9 + 2);
}

TEST_CASE("a program without the door is told in the time that it is given") {
  tune::tuner_program program{.path = "/bin/sleep", .arguments = {"sleep", "100"}};
  program.start_time = std::chrono::milliseconds(50);
  CHECK_THROWS_WITH_AS(tune::list_functions(program), doctest::Contains("did not greet"),
                       tune::tuner_unavailable_error);
  CHECK_THROWS_WITH_AS(tune::list_functions({.path = "/bin/true", .arguments = {"true"}}),
                       doctest::Contains("exit status 0"), tune::tuner_unavailable_error);
  CHECK_THROWS_AS(tune::list_functions({.path = "/no/such", .arguments = {"such"}}),
                  tune::tuner_unavailable_error);
}

}  // namespace remote_pretuning_test
