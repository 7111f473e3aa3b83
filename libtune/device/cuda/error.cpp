// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/device/cuda/error.hpp"

#include <exception>
#include <fmt/format.h>
#include <string_view>

#include "libtune/base/log.hpp"

namespace tune::cuda {
namespace {

// What a kernel has done and the driver never forgets.
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
  // A process that ends takes the driver down before its last objects.
  if (code == CUDA_SUCCESS || code == CUDA_ERROR_DEINITIALIZED) return;
  try {
    log(log_level::error, fmt::format("{} failed: {}", call, error_text(api, code)));
  } catch (const std::exception&) {
    log(log_level::error, call);
  }
}

}  // namespace tune::cuda
