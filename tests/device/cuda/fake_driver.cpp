// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "tests/device/cuda/fake_driver.hpp"

#include <cstring>
#include <string_view>

#include "tests/device/cuda/fake_driver_state.hpp"

namespace fake_cuda {
namespace {

behaviour current_behaviour;
std::mutex mutex;
std::map<std::string, int> counts;

int attribute_of(CUdevice_attribute which) {
  switch (which) {
    case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
    case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X:
    case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y: return 1024;
    case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z: return 64;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK: return 48 << 10;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN: return 227 << 10;
    case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT: return 132;
    case CU_DEVICE_ATTRIBUTE_WARP_SIZE: return 32;
    case CU_DEVICE_ATTRIBUTE_CLOCK_RATE: return 1'980'000;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR: return settings().generation;
    case CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY: return 1;
    default: return 0;
  }
}

void add_devices(table& t) {
  add<PFN_cuInit_v2000>(t, "cuInit", [](unsigned) { return enter("cuInit"); });
  add<PFN_cuGetErrorName_v6000>(t, "cuGetErrorName", [](CUresult code, const char** text) {
    *text = code == CUDA_ERROR_OUT_OF_MEMORY ? "CUDA_ERROR_OUT_OF_MEMORY" : "CUDA_ERROR_SOME";
    return static_cast<int>(code) == 12345 ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
  });
  add<PFN_cuGetErrorString_v6000>(t, "cuGetErrorString", [](CUresult, const char** text) {
    *text = "in words";
    return CUDA_SUCCESS;
  });
  add<PFN_cuDeviceGetCount_v2000>(t, "cuDeviceGetCount", [](int* count) {
    *count = 1;
    return CUDA_SUCCESS;
  });
  add<PFN_cuDeviceGet_v2000>(t, "cuDeviceGet", [](CUdevice* device, int ordinal) {
    *device = ordinal;
    return ordinal == 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
  });
  add<PFN_cuDeviceGetName_v2000>(t, "cuDeviceGetName", [](char* name, int size, CUdevice) {
    std::strncpy(name, "Fake H200", static_cast<std::size_t>(size) - 1);
    return CUDA_SUCCESS;
  });
  add<PFN_cuDeviceGetUuid_v11040>(t, "cuDeviceGetUuid", [](CUuuid* uuid, CUdevice) {
    std::memset(uuid->bytes, 0xAB, sizeof uuid->bytes);
    return CUDA_SUCCESS;
  });
  add<PFN_cuDeviceGetPCIBusId_v4010>(t, "cuDeviceGetPCIBusId", [](char* text, int, CUdevice) {
    std::strcpy(text, "0000:3B:00.0");
    return CUDA_SUCCESS;
  });
  add<PFN_cuDeviceTotalMem_v3020>(t, "cuDeviceTotalMem", [](std::size_t* bytes, CUdevice) {
    *bytes = std::size_t{1} << 32;
    return CUDA_SUCCESS;
  });
  add<PFN_cuDeviceGetAttribute_v2000>(t, "cuDeviceGetAttribute",
                                      [](int* value, CUdevice_attribute which, CUdevice) {
                                        *value = attribute_of(which);
                                        return CUDA_SUCCESS;
                                      });
}

void add_contexts(table& t) {
  add<PFN_cuDevicePrimaryCtxRetain_v7000>(t, "cuDevicePrimaryCtxRetain",
                                          [](CUcontext* context, CUdevice) {
                                            ENTER("cuDevicePrimaryCtxRetain");
                                            *context = handle_of(primary);
                                            return CUDA_SUCCESS;
                                          });
  add<PFN_cuCtxCreate_v3020>(t, "cuCtxCreate", [](CUcontext* context, unsigned, CUdevice) {
    ENTER("cuCtxCreate");
    *context = handle_of(*new context_object);
    ++live;
    stack.push_back(*context);
    return CUDA_SUCCESS;
  });
  add<PFN_cuCtxDestroy_v4000>(t, "cuCtxDestroy", [](CUcontext context) {
    ENTER("cuCtxDestroy");
    delete reinterpret_cast<context_object*>(context);
    --live;
    return CUDA_SUCCESS;
  });
  add<PFN_cuCtxGetCurrent_v4000>(t, "cuCtxGetCurrent", [](CUcontext* context) {
    ENTER("cuCtxGetCurrent");
    *context = current();
    return CUDA_SUCCESS;
  });
  add<PFN_cuCtxPushCurrent_v4000>(t, "cuCtxPushCurrent", [](CUcontext context) {
    if (settings().is_shut_down) return CUDA_ERROR_DEINITIALIZED;
    stack.push_back(context);
    return CUDA_SUCCESS;
  });
  add<PFN_cuCtxPopCurrent_v4000>(t, "cuCtxPopCurrent", [](CUcontext* context) {
    if (settings().is_shut_down) return CUDA_ERROR_DEINITIALIZED;
    *context = current();
    if (stack.empty()) return CUDA_ERROR_INVALID_CONTEXT;
    stack.pop_back();
    return CUDA_SUCCESS;
  });
  add<PFN_cuCtxGetDevice_v2000>(t, "cuCtxGetDevice", [](CUdevice* device) {
    *device = 0;
    return in_any_context();
  });
}

const table& functions() {
  static const table all = [] {
    table t;
    add_devices(t);
    add_contexts(t);
    add_memory(t);
    add_fills(t);
    add_streams(t);
    add_graphs(t);
    add_green_contexts(t);
    add_programs(t);
    return t;
  }();
  return all;
}

CUresult find_function(const char* name, void** address, int version, cuuint64_t,
                       CUdriverProcAddressQueryResult* found) {
  const auto entry = functions().find(std::string_view(name));
  const bool known = entry != functions().end() && current_behaviour.missing != name;
  *address = known ? entry->second : nullptr;
  *found = known ? CU_GET_PROC_ADDRESS_SUCCESS : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
  return version <= 13000 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

}  // namespace

std::atomic<int> live{0};
std::atomic<std::uint64_t> clock_ns{1};
context_object primary;
thread_local std::vector<CUcontext> stack;
CUstream global_capture = nullptr;
thread_local CUstreamCaptureMode capture_mode = CU_STREAM_CAPTURE_MODE_GLOBAL;

CUresult enter(const char* name) {
  if (current_behaviour.is_silent) return CUDA_SUCCESS;
  const std::lock_guard lock(mutex);
  ++counts[name];
  if (current_behaviour.is_shut_down) return CUDA_ERROR_DEINITIALIZED;
  const auto failure = current_behaviour.failures.find(name);
  return failure != current_behaviour.failures.end() ? failure->second : CUDA_SUCCESS;
}

behaviour& settings() { return current_behaviour; }

int live_objects() { return live; }

int calls(const std::string& function) {
  const std::lock_guard lock(mutex);
  return counts[function];
}

void reset() {
  const std::lock_guard lock(mutex);
  current_behaviour = {};
  counts.clear();
}

PFN_cuGetProcAddress_v12000 get_proc_address() { return find_function; }

const tune::cuda::driver_api& api() {
  static const tune::cuda::driver_api* const resolved = [] {
    auto* made = new tune::cuda::driver_api;
    reset();
    tune::cuda::resolve(*made, find_function, 13000);
    return made;
  }();
  return *resolved;
}

}  // namespace fake_cuda
