// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/device/cuda/driver.hpp"

#include <exception>
#include <fmt/format.h>
#include <string_view>

#include "libtune/base/log.hpp"

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

// The driver rejects versions later than its own.
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

namespace {

// True for errors of a kernel that persist for the rest of the process.
bool is_sticky(CUresult code) noexcept {
  switch (code) {
    case CUDA_ERROR_ILLEGAL_ADDRESS:
    case CUDA_ERROR_MISALIGNED_ADDRESS:
    case CUDA_ERROR_INVALID_ADDRESS_SPACE:
    case CUDA_ERROR_INVALID_PC:
    case CUDA_ERROR_ILLEGAL_INSTRUCTION:
    case CUDA_ERROR_HARDWARE_STACK_ERROR:
    case CUDA_ERROR_ASSERT:
    case CUDA_ERROR_LAUNCH_FAILED:
    case CUDA_ERROR_LAUNCH_TIMEOUT: return true;
    default: return false;
  }
}

std::string_view remedy_of(CUresult code) noexcept {
  if (is_sticky(code)) {
    return "a kernel that was launched before went wrong, and every later call in this process "
           "fails too; compute-sanitizer finds the place";
  }
  switch (code) {
    case CUDA_ERROR_DEINITIALIZED:
      return "the process is ending; use the device before main returns or exit is called";
    case CUDA_ERROR_OUT_OF_MEMORY: return "free other buffers or use smaller ones";
    case CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES:
      return "the launch asks for more than the device has; choose a smaller work group, or use "
             "fewer registers or less local memory";
    case CUDA_ERROR_NOT_FOUND: return "the program has nothing of this name";
    case CUDA_ERROR_INVALID_IMAGE:
    case CUDA_ERROR_NO_BINARY_FOR_GPU: return "compile it again";
    case CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED:
    case CUDA_ERROR_STREAM_CAPTURE_INVALIDATED:
    case CUDA_ERROR_STREAM_CAPTURE_UNJOINED:
    case CUDA_ERROR_STREAM_CAPTURE_ISOLATION:
    case CUDA_ERROR_STREAM_CAPTURE_IMPLICIT:
      return "what was enqueued during the capture cannot be part of a graph; enqueue launches, "
             "fills and copies that do not block, on the captured queue alone";
    default: return {};
  }
}

}  // namespace

std::string error_text(const driver_api& api, CUresult code) {
  // A driver that has shut down no longer names its errors.
  if (code == CUDA_ERROR_DEINITIALIZED) {
    return "CUDA_ERROR_DEINITIALIZED: the driver has shut down";
  }
  const char* name = nullptr;
  const char* text = nullptr;
  if (api.get_error_name(code, &name) != CUDA_SUCCESS || name == nullptr) {
    return fmt::format("CUDA error {}", static_cast<int>(code));
  }
  if (api.get_error_string(code, &text) != CUDA_SUCCESS || text == nullptr) return name;
  return fmt::format("{}: {}", name, text);
}

device_failure failure_of(CUresult code) noexcept {
  if (is_sticky(code)) return device_failure::fault;
  switch (code) {
    case CUDA_ERROR_OUT_OF_MEMORY: return device_failure::out_of_memory;
    case CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES: return device_failure::over_limit;
    case CUDA_ERROR_INVALID_IMAGE:
    case CUDA_ERROR_INVALID_PTX:
    case CUDA_ERROR_INVALID_SOURCE:
    case CUDA_ERROR_UNSUPPORTED_PTX_VERSION:
    case CUDA_ERROR_NO_BINARY_FOR_GPU: return device_failure::invalid_binary;
    case CUDA_ERROR_CONTEXT_IS_DESTROYED:
    case CUDA_ERROR_ECC_UNCORRECTABLE: return device_failure::fault;
    default: return device_failure::other;
  }
}

void throw_error(const driver_api& api, CUresult code, const std::string& call,
                 const device_info& device) {
  std::string reason = error_text(api, code);
  const std::string_view remedy = remedy_of(code);
  if (!remedy.empty()) reason += fmt::format(" ({})", remedy);
  throw device_error(call, device.identity.name, reason, failure_of(code));
}

void log_failure(const driver_api& api, CUresult code, const char* call) noexcept {
  // A process that exits shuts down the driver before its last objects are destroyed.
  if (code == CUDA_SUCCESS || code == CUDA_ERROR_DEINITIALIZED) return;
  try {
    log(log_level::error, fmt::format("{} failed: {}", call, error_text(api, code)));
  } catch (const std::exception&) {
    log(log_level::error, call);
  }
}

}  // namespace tune::cuda
