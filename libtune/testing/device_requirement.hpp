// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <doctest/doctest.h>
#include <string>
#include <vector>

#include "libtune/device/device.hpp"
#include "libtune/device/devices.hpp"

namespace tune::testing {

/// A doctest decorator of device tests: the devices that a test case runs on. It is skipped on all
/// others, with the reason in the report. With several decorators, each must accept a device.
///   LIBTUNE_DEVICE_TEST_CASE("tensor cores multiply" * cuda_only({8, 0}), device) { ... }
/// Needs LIBTUNE_DEVICE_TEST_CASE, or for_each_test_device.
class device_requirement {
 public:
  /// @param needed   follows "the test case needs" in the report: "a GPU"
  /// @param accepts  true for a device that the test case can run on; not empty
  device_requirement(std::string needed, device_filter accepts);

  /// The text for the report.
  const std::string& needed() const noexcept { return needed_; }
  /// True if the test case can run on a device.
  bool accepts(const device& device) const { return accepts_(device); }

  /// Called by doctest for the decorated test case.
  void fill(doctest::detail::TestCase& test_case) const;

 private:
  std::string needed_;
  device_filter accepts_;
};

/// CUDA devices of this generation or a later one: cuda_only({8, 0}) means sm_80 and up.
device_requirement cuda_only(compute_capability least = {});
/// OpenCL devices.
device_requirement opencl_only();
/// Devices that a predicate accepts: only_on("a GPU", [](const tune::device& d) { ... }).
device_requirement only_on(std::string needed, device_filter accepts);

/// The requirements of the test case running on this thread; empty outside of a test case.
std::vector<device_requirement> running_requirements();

/// The text of the first requirement that refuses a device; empty if all accept it.
std::string find_unmet(const std::vector<device_requirement>& requirements, const device& device);

}  // namespace tune::testing
