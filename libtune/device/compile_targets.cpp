// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/device/compile_targets.hpp"

#include <array>
#include <charconv>
#include <fmt/format.h>
#include <optional>
#include <string>
#include <system_error>

#include "libtune/base/error.hpp"
#include "libtune/device/cuda/backend.hpp"
#include "libtune/device/opencl/backend.hpp"

namespace tune {
namespace {

constexpr std::array<compute_capability, 2> some_generations{{{7, 5}, {9, 0}}};

/// 9.0 of "sm_90", 10.0 of "sm_100"; empty of anything else.
std::optional<compute_capability> generation_of(std::string_view name) {
  constexpr std::string_view prefix = "sm_";
  if (!name.starts_with(prefix)) return std::nullopt;
  name.remove_prefix(prefix.size());
  int number = 0;
  const auto [end, failure] = std::from_chars(name.data(), name.data() + name.size(), number);
  if (failure != std::errc{} || end != name.data() + name.size() || number < 10) {
    return std::nullopt;
  }
  return compute_capability{number / 10, number % 10};
}

std::vector<device> opencl_devices() {
  const opencl::inventory& found = opencl::take_inventory();
  std::vector<device> devices;
  for (const opencl::platform& platform : found.platforms) {
    devices.insert(devices.end(), platform.devices.begin(), platform.devices.end());
  }
  if (devices.empty()) {
    throw no_device_error("kernels cannot be compiled for OpenCL: " + found.absence);
  }
  return devices;
}

}  // namespace

std::vector<device> compile_targets(std::string_view target) {
  constexpr std::string_view of_cuda = "cuda ";
  if (target == "opencl") return opencl_devices();
  std::vector<device> devices;
  if (target == "cuda") {
    for (const compute_capability generation : some_generations) {
      devices.push_back(cuda::compile_only_device(generation));
    }
    return devices;
  }
  if (target.starts_with(of_cuda)) {
    if (const auto generation = generation_of(target.substr(of_cuda.size()))) {
      return {cuda::compile_only_device(*generation)};
    }
  }
  throw argument_error(fmt::format(
      "'{}' is nothing to compile for; \"cuda sm_90\", \"cuda\" and \"opencl\" are", target));
}

}  // namespace tune
