// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/device/cuda/driver.hpp"

#include <exception>
#include <fmt/format.h>

#include "libtune/device/cuda/error.hpp"

namespace tune::cuda {
namespace {

constexpr const char* library_name = "libcuda.so.1";

std::string too_old(const char* function, int function_version, int driver_version) {
  return fmt::format(
      "the NVIDIA driver is too old: it lacks {} of CUDA {}, for it offers CUDA {} (at least {} is "
      "needed); update it",
      function, version_text(function_version), version_text(driver_version),
      version_text(minimum_driver_version));
}

// The driver refuses to be asked for a version later than its own.
template <class Function>
bool find(Function& target, const char* name, int version,
          PFN_cuGetProcAddress_v12000 get_address) {
  void* address = nullptr;
  CUdriverProcAddressQueryResult found = CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
  const CUresult status =
      get_address(name, &address, version, CU_GET_PROC_ADDRESS_LEGACY_STREAM, &found);
  if (status != CUDA_SUCCESS || found != CU_GET_PROC_ADDRESS_SUCCESS) return false;
  target = reinterpret_cast<Function>(address);
  return target != nullptr;
}

std::string initialise(const driver_api& api) {
  const CUresult status = api.init(0);
  if (status == CUDA_ERROR_NO_DEVICE) {
    return "the NVIDIA driver finds no device (CUDA_ERROR_NO_DEVICE); see CUDA_VISIBLE_DEVICES";
  }
  if (status != CUDA_SUCCESS) return "cuInit failed with " + error_text(api, status);
  return {};
}

std::string load(driver_status& status) {
  status.library = shared_library(library_name);
  if (!status.library) {
    return fmt::format("the NVIDIA driver is not installed ({})", status.library.error());
  }
  int version = 0;
  const auto get_version =
      status.library.function<PFN_cuDriverGetVersion_v2020>("cuDriverGetVersion");
  if (get_version == nullptr || get_version(&version) != CUDA_SUCCESS) {
    return fmt::format("{} does not say its version; reinstall the NVIDIA driver", library_name);
  }
  return open(status.api,
              status.library.function<PFN_cuGetProcAddress_v12000>("cuGetProcAddress_v2"), version);
}

}  // namespace

std::string version_text(int version) {
  return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

std::string resolve(driver_api& api, PFN_cuGetProcAddress_v12000 get_address, int driver_version) {
  api.version = driver_version;
  if (get_address == nullptr || driver_version < minimum_driver_version) {
    return too_old("cuLibraryLoadData", minimum_driver_version, driver_version);
  }
#define LIBTUNE_CUDA_FIND(member, function, version)        \
  if (!find(api.member, #function, version, get_address)) { \
    return too_old(#function, version, driver_version);     \
  }
  LIBTUNE_CUDA_REQUIRED(LIBTUNE_CUDA_FIND)
#undef LIBTUNE_CUDA_FIND
#define LIBTUNE_CUDA_TRY(member, function, version) \
  find(api.member, #function, version, get_address);
  LIBTUNE_CUDA_OPTIONAL(LIBTUNE_CUDA_TRY)
#undef LIBTUNE_CUDA_TRY
  return {};
}

std::string open(driver_api& api, PFN_cuGetProcAddress_v12000 get_address, int driver_version) {
  const std::string absence = resolve(api, get_address, driver_version);
  return absence.empty() ? initialise(api) : absence;
}

const driver_status& driver() noexcept {
  // Never destroyed: handles in static objects may outlive everything else.
  static const driver_status* const loaded = [] {
    auto* status = new driver_status;  // NOLINT(bugprone-unhandled-exception-at-new): nothing helps
    try {
      status->absence = load(*status);
    } catch (const std::exception& failure) {
      status->absence = failure.what();
    }
    return status;
  }();
  return *loaded;
}

}  // namespace tune::cuda
