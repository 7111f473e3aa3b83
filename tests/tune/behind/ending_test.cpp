// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Applications (ending_application.cpp) whose static objects outlive the driver of their device.
#include <algorithm>
#include <doctest/doctest.h>
#include <string>

#include "libtune/device/devices.hpp"
#include "libtune/testing/devices.hpp"
#include "libtune/testing/fixtures.hpp"
#include "libtune/testing/temporary_directory.hpp"
#include "tests/tune/running_program.hpp"

namespace ending_test {

using tune::testing::scoped_environment;

LIBTUNE_DEVICE_TEST_CASE("an application whose static objects use the device ends in peace",
                         device) {
  const auto all = tune::candidate_devices();
  const auto number = std::to_string(std::ranges::find(all, device) - all.begin());
  const tune::testing::temporary_directory folder;
  const scoped_environment database("LIBTUNE_DB", (folder / "tuning.db").c_str());
  const scoped_environment level("LIBTUNE_LOG", "warning");
  for (const char* how : {"return", "exit", "exit elsewhere", "signal"}) {
    CAPTURE(how);
    sample::running_program run({LIBTUNE_ENDING_APPLICATION, number, how},
                                (folder / "output").string());
    CHECK(run.finish().empty());
    CHECK(run.succeeded());
  }
}

}  // namespace ending_test
