// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/testing/device_requirement.hpp"

#include <fmt/format.h>
#include <map>
#include <utility>

#include "libtune/base/error.hpp"
#include "libtune/testing/test_place.hpp"

namespace tune::testing {
namespace {

std::map<test_place, std::vector<device_requirement>>& known_requirements() {
  static std::map<test_place, std::vector<device_requirement>> known;
  return known;
}

bool reaches(const device& device, const compute_capability& least) {
  const auto has = device.info().hardware.compute_capability.value_or(compute_capability{});
  return has.major != least.major ? has.major > least.major : has.minor >= least.minor;
}

}  // namespace

device_requirement::device_requirement(std::string needed, device_filter accepts)
    : needed_(std::move(needed)), accepts_(std::move(accepts)) {
  if (!accepts_) throw argument_error("a requirement of devices needs a predicate");
}

void device_requirement::fill(doctest::detail::TestCase& test_case) const {
  known_requirements()[place_of(test_case)].push_back(*this);
}

device_requirement cuda_only(compute_capability least) {
  std::string needed = "a CUDA device";
  if (least != compute_capability{}) {
    needed += fmt::format(" of compute capability {}.{} or later", least.major, least.minor);
  }
  return {std::move(needed), [least](const device& device) {
            return device.info().backend == "CUDA" && reaches(device, least);
          }};
}

device_requirement opencl_only() {
  return {"an OpenCL device",
          [](const device& device) { return device.info().backend == "OpenCL"; }};
}

device_requirement only_on(std::string needed, device_filter accepts) {
  return {std::move(needed), std::move(accepts)};
}

std::vector<device_requirement> running_requirements() {
  const doctest::ContextOptions* running = doctest::getContextOptions();
  if (running == nullptr || running->currentTest == nullptr) return {};
  const auto found = known_requirements().find(place_of(*running->currentTest));
  return found == known_requirements().end() ? std::vector<device_requirement>() : found->second;
}

std::string find_unmet(const std::vector<device_requirement>& requirements, const device& device) {
  for (const device_requirement& each : requirements) {
    if (!each.accepts(device)) return each.needed();
  }
  return {};
}

}  // namespace tune::testing
