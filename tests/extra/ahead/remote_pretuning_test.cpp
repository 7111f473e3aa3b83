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
#include "libtune/extra/ahead/group_work.hpp"
#include "libtune/extra/ahead/pretuning.hpp"
#include "libtune/testing/fixtures.hpp"
#include "libtune/testing/run_tests.hpp"
#include "libtune/testing/temporary_directory.hpp"
#include "tests/child/sample_tuner.hpp"

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
  return {isolated::sample_function(), tune::to_values(key)};
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

}  // namespace remote_pretuning_test
