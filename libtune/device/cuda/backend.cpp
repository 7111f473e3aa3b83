// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/device/cuda/backend.hpp"

#include <exception>

#include "libtune/base/log.hpp"
#include "libtune/device/cuda/device.hpp"
#include "libtune/device/cuda/error.hpp"

namespace tune::cuda {
namespace {

// A device that cannot be asked must not hide the others.
void add_device(inventory& found, const driver_api& api, const nvrtc& compiler, int ordinal) {
  try {
    found.devices.emplace_back(std::make_shared<cuda_device>(api, compiler, ordinal));
  } catch (const device_error& failure) {
    warn_once(std::string("a CUDA device is left out: ") + failure.what());
  }
}

inventory read_inventory() {
  const driver_status& loaded = driver();
  if (!loaded.absence.empty()) return {{}, loaded.absence};
  const nvrtc& compiler = default_nvrtc();
  if (!compiler.absence().empty()) return {{}, compiler.absence()};
  int count = 0;
  const CUresult status = loaded.api.device_get_count(&count);
  if (status != CUDA_SUCCESS) {
    return {{}, "cuDeviceGetCount failed with " + error_text(loaded.api, status)};
  }
  inventory found;
  for (int ordinal = 0; ordinal < count; ++ordinal) {
    add_device(found, loaded.api, compiler, ordinal);
  }
  if (found.devices.empty()) found.absence = "the NVIDIA driver offers no device";
  return found;
}

}  // namespace

const inventory& take_inventory() noexcept {
  // Never destroyed: handles in static objects may outlive everything else.
  static const inventory* const taken = [] {
    try {
      return new inventory(read_inventory());
    } catch (const std::exception& failure) {
      return new inventory{{}, failure.what()};
    }
  }();
  return *taken;
}

}  // namespace tune::cuda
