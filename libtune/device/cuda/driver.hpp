// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The CUDA driver, loaded at run time, and its errors. This is the only file that includes headers
// of the CUDA Toolkit, for types and constants only: functions declared there must not be called,
// because the libraries are not linked.
#pragma once

#include <cuda.h>
#include <cudaTypedefs.h>
#include <memory>
#include <nvrtc.h>
#include <string>

#include "libtune/base/error.hpp"
#include "libtune/base/shared_library.hpp"
#include "libtune/device/device.hpp"

// X(member, function, version): the function, and the CUDA version of its binary interface. The
// version also selects the type, so that the two cannot differ.
#define LIBTUNE_CUDA_REQUIRED(X)                            \
  X(init, cuInit, 2000)                                     \
  X(get_error_name, cuGetErrorName, 6000)                   \
  X(get_error_string, cuGetErrorString, 6000)               \
  X(device_get_count, cuDeviceGetCount, 2000)               \
  X(device_get, cuDeviceGet, 2000)                          \
  X(device_get_name, cuDeviceGetName, 2000)                 \
  X(device_get_uuid, cuDeviceGetUuid, 11040)                \
  X(device_get_pci_bus_id, cuDeviceGetPCIBusId, 4010)       \
  X(device_total_memory, cuDeviceTotalMem, 3020)            \
  X(device_get_attribute, cuDeviceGetAttribute, 2000)       \
  X(primary_context_retain, cuDevicePrimaryCtxRetain, 7000) \
  X(context_create, cuCtxCreate, 3020)                      \
  X(context_destroy, cuCtxDestroy, 4000)                    \
  X(context_get_current, cuCtxGetCurrent, 4000)             \
  X(context_push, cuCtxPushCurrent, 4000)                   \
  X(context_pop, cuCtxPopCurrent, 4000)                     \
  X(context_get_device, cuCtxGetDevice, 2000)               \
  X(memory_allocate, cuMemAlloc, 3020)                      \
  X(memory_allocate_managed, cuMemAllocManaged, 6000)       \
  X(memory_free, cuMemFree, 3020)                           \
  X(array_create, cuArray3DCreate, 3020)                    \
  X(array_destroy, cuArrayDestroy, 2000)                    \
  X(texture_create, cuTexObjectCreate, 5000)                \
  X(texture_destroy, cuTexObjectDestroy, 5000)              \
  X(host_allocate, cuMemHostAlloc, 2020)                    \
  X(host_free, cuMemFreeHost, 2000)                         \
  X(copy_to_device, cuMemcpyHtoDAsync, 3020)                \
  X(copy_to_host, cuMemcpyDtoHAsync, 3020)                  \
  X(copy_within_device, cuMemcpyDtoDAsync, 3020)            \
  X(copy_rectangle, cuMemcpy3DAsync, 3020)                  \
  X(set_bytes, cuMemsetD8Async, 3020)                       \
  X(set_shorts, cuMemsetD16Async, 3020)                     \
  X(set_words, cuMemsetD32Async, 3020)                      \
  X(set_byte_rows, cuMemsetD2D8Async, 3020)                 \
  X(set_short_rows, cuMemsetD2D16Async, 3020)               \
  X(set_word_rows, cuMemsetD2D32Async, 3020)                \
  X(stream_create, cuStreamCreate, 2000)                    \
  X(stream_destroy, cuStreamDestroy, 4000)                  \
  X(stream_query, cuStreamQuery, 2000)                      \
  X(stream_synchronize, cuStreamSynchronize, 2000)          \
  X(stream_wait_event, cuStreamWaitEvent, 3020)             \
  X(stream_get_context, cuStreamGetCtx, 9020)               \
  X(event_create, cuEventCreate, 2000)                      \
  X(event_destroy, cuEventDestroy, 4000)                    \
  X(event_record, cuEventRecord, 2000)                      \
  X(event_query, cuEventQuery, 2000)                        \
  X(event_synchronize, cuEventSynchronize, 2000)            \
  X(event_elapsed_time, cuEventElapsedTime, 2000)           \
  X(library_load, cuLibraryLoadData, 12000)                 \
  X(library_unload, cuLibraryUnload, 12000)                 \
  X(library_get_kernel, cuLibraryGetKernel, 12000)          \
  X(library_get_module, cuLibraryGetModule, 12000)          \
  X(library_get_global, cuLibraryGetGlobal, 12000)          \
  X(kernel_get_function, cuKernelGetFunction, 12000)        \
  X(kernel_get_attribute, cuKernelGetAttribute, 12000)      \
  X(kernel_set_attribute, cuKernelSetAttribute, 12000)      \
  X(launch_kernel, cuLaunchKernel, 4000)                    \
  X(launch_kernel_with, cuLaunchKernelEx, 11060)            \
  X(tensor_map_encode, cuTensorMapEncodeTiled, 12000)       \
  X(capture_begin, cuStreamBeginCapture, 10010)             \
  X(capture_end, cuStreamEndCapture, 10000)                 \
  X(graph_destroy, cuGraphDestroy, 10000)                   \
  X(graph_instantiate, cuGraphInstantiateWithFlags, 11040)  \
  X(graph_update, cuGraphExecUpdate, 12000)                 \
  X(graph_upload, cuGraphUpload, 11010)                     \
  X(graph_launch, cuGraphLaunch, 10000)                     \
  X(graph_exec_destroy, cuGraphExecDestroy, 10000)

// Null if the driver is too old.
#define LIBTUNE_CUDA_OPTIONAL(X)                                     \
  X(memory_get_info, cuMemGetInfo, 3020)                             \
  X(stream_is_capturing, cuStreamIsCapturing, 10000)                 \
  X(exchange_capture_mode, cuThreadExchangeStreamCaptureMode, 10010) \
  X(kernel_get_parameter, cuKernelGetParamInfo, 12040)               \
  X(device_get_resource, cuDeviceGetDevResource, 12040)              \
  X(resource_split, cuDevSmResourceSplitByCount, 12040)              \
  X(resource_describe, cuDevResourceGenerateDesc, 12040)             \
  X(green_create, cuGreenCtxCreate, 12040)                           \
  X(green_destroy, cuGreenCtxDestroy, 12040)                         \
  X(green_as_context, cuCtxFromGreenCtx, 12040)                      \
  X(green_stream_create, cuGreenCtxStreamCreate, 12050)              \
  X(resident_groups, cuOccupancyMaxActiveBlocksPerMultiprocessor, 6050)

#if CUDA_VERSION < 12050
using PFN_cuGreenCtxStreamCreate_v12050 = CUresult(CUDAAPI*)(CUstream*, CUgreenCtx, unsigned, int);
#endif

namespace tune::cuda {

/// The oldest supported driver, in CUDA's form: 1000 major + 10 minor.
inline constexpr int minimum_driver_version = 12000;

/// The driver's entry points. Immutable once resolved, so thread-safe.
struct driver_api {
#define LIBTUNE_CUDA_MEMBER(member, function, version) PFN_##function##_v##version member = nullptr;
  LIBTUNE_CUDA_REQUIRED(LIBTUNE_CUDA_MEMBER)
  LIBTUNE_CUDA_OPTIONAL(LIBTUNE_CUDA_MEMBER)
#undef LIBTUNE_CUDA_MEMBER
  int version = 0;  ///< the driver's version, in CUDA's form
};

/// Returns "13.0" for 13000.
std::string version_text(int version);

/// Resolves every entry point by its requested version.
/// @return the reason for a failure, with the first missing function; empty on success
std::string resolve(driver_api& api, PFN_cuGetProcAddress_v12000 get_address, int driver_version);

/// Resolves and initialises. @return the reason if no device can be used; else empty
std::string open(driver_api& api, PFN_cuGetProcAddress_v12000 get_address, int driver_version);

/// A usable driver, or the reason for its absence.
struct driver_status {
  shared_library library;
  driver_api api;
  std::string absence;  ///< empty if the driver is ready
};

/// Loads and initialises the driver, once in the life of the process; it is never unloaded.
/// Thread-safe; never throws.
const driver_status& driver() noexcept;

/// Returns "CUDA_ERROR_OUT_OF_MEMORY: out of memory", with the number if the driver has no name for
/// the code.
std::string error_text(const driver_api& api, CUresult code);

/// The class of an error code.
device_failure failure_of(CUresult code) noexcept;

/// Throws the device_error for an error code.
/// @param call  the driver's function, or the attempted action
[[noreturn]] void throw_error(const driver_api& api, CUresult code, const std::string& call,
                              const device_info& device);

/// Throws if a call failed.
inline void check(const driver_api& api, CUresult code, const char* call,
                  const device_info& device) {
  if (code != CUDA_SUCCESS) throw_error(api, code, call, device);
}

/// For destructors: logs if a call failed.
void log_failure(const driver_api& api, CUresult code, const char* call) noexcept;

}  // namespace tune::cuda
