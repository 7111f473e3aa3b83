// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "tests/cuda/fake_driver.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <elf.h>
#include <list>
#include <mutex>
#include <string_view>
#include <vector>

#include "tests/cuda/fake_graphs.hpp"
#include "tests/cuda/fake_kernels.hpp"

namespace fake_cuda {
namespace {

struct context_object {
  int references = 0;
};
struct stream_object {
  CUcontext context;
  stream_capture capture = {};
};
struct event_object {
  CUcontext context;
  bool timed;
  std::uint64_t time_ns;
};
struct kernel_object {
  std::string name;
};
struct library_object {
  std::string bytes;
  std::list<kernel_object> kernels = {};  // gone with the library
};

behaviour current_behaviour;
std::mutex mutex;
std::map<std::string, int> counts;
std::atomic<int> live{0};
std::atomic<std::uint64_t> clock_ns{1};
context_object primary;
thread_local std::vector<CUcontext> stack;

CUcontext handle_of(context_object& context) { return reinterpret_cast<CUcontext>(&context); }
CUcontext current() { return stack.empty() ? nullptr : stack.back(); }
stream_object& stream_of(CUstream handle) { return *reinterpret_cast<stream_object*>(handle); }
event_object& event_of(CUevent handle) { return *reinterpret_cast<event_object*>(handle); }
void* host(CUdeviceptr address) { return reinterpret_cast<void*>(address); }

// Most functions work on the stream's context, which has to be current.
CUresult on(CUstream stream) {
  return current() == stream_of(stream).context ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}
CUresult in_any_context() {
  return current() != nullptr ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}

// Runs a command, or keeps it where the stream captures.
template <class Command>
CUresult run_on(CUstream stream, const char* kind, Command&& command) {
  if (stream != nullptr && stream_of(stream).capture.is_active()) {
    return stream_of(stream).capture.add(kind, std::forward<Command>(command));
  }
  command();
  return CUDA_SUCCESS;
}

// What a graph cannot have in it.
CUresult run_only_on(CUstream stream) {
  if (stream != nullptr && stream_of(stream).capture.is_active()) {
    return stream_of(stream).capture.invalidate();
  }
  return on(stream);
}

// How often, and whether it has to fail.
CUresult enter(const char* name) {
  if (current_behaviour.is_silent) return CUDA_SUCCESS;
  const std::lock_guard lock(mutex);
  ++counts[name];
  const auto failure = current_behaviour.failures.find(name);
  return failure != current_behaviour.failures.end() ? failure->second : CUDA_SUCCESS;
}

std::size_t size_of_elf(const void* code) {
  Elf64_Ehdr header;
  std::memcpy(&header, code, sizeof header);
  return std::max(header.e_shoff + std::size_t{header.e_shnum} * header.e_shentsize,
                  header.e_phoff + std::size_t{header.e_phnum} * header.e_phentsize);
}

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
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR: return 9;
    case CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY: return 1;
    default: return 0;
  }
}

CUresult allocate(void** address, std::size_t bytes) {
  if (in_any_context() != CUDA_SUCCESS) return CUDA_ERROR_INVALID_CONTEXT;
  *address = std::malloc(bytes);
  ++live;
  return *address != nullptr ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult release(void* address) {
  if (in_any_context() != CUDA_SUCCESS) return CUDA_ERROR_INVALID_CONTEXT;
  std::free(address);
  --live;
  return CUDA_SUCCESS;
}

CUresult copy(void* to, const void* from, std::size_t bytes, CUstream stream) {
  if (on(stream) != CUDA_SUCCESS) return CUDA_ERROR_INVALID_CONTEXT;
  return run_on(stream, "copy", [=] { std::memcpy(to, from, bytes); });
}

template <class T>
CUresult set(CUdeviceptr address, T value, std::size_t count, CUstream stream) {
  if (on(stream) != CUDA_SUCCESS) return CUDA_ERROR_INVALID_CONTEXT;
  if (address % sizeof(T) != 0) return CUDA_ERROR_INVALID_VALUE;
  return run_on(stream, "set", [=] { std::fill_n(static_cast<T*>(host(address)), count, value); });
}

template <class T>
CUresult set_rows(CUdeviceptr address, std::size_t pitch, T value, std::size_t width,
                  std::size_t height, CUstream stream) {
  if (on(stream) != CUDA_SUCCESS) return CUDA_ERROR_INVALID_CONTEXT;
  if (current_behaviour.refuses_rows || address % sizeof(T) != 0 || pitch % sizeof(T) != 0 ||
      pitch < width * sizeof(T)) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  return run_on(stream, "set rows", [=] {
    for (std::size_t row = 0; row < height; ++row) {
      std::fill_n(static_cast<T*>(host(address + row * pitch)), width, value);
    }
  });
}

CUresult copy_rectangle(const CUDA_MEMCPY3D_v2* shape, CUstream stream) {
  if (on(stream) != CUDA_SUCCESS) return CUDA_ERROR_INVALID_CONTEXT;
  const bool from_device = shape->srcMemoryType == CU_MEMORYTYPE_DEVICE;
  const bool to_device = shape->dstMemoryType == CU_MEMORYTYPE_DEVICE;
  if (from_device && to_device && current_behaviour.refuses_rectangles_within_device) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  if (shape->srcPitch < shape->WidthInBytes || shape->dstPitch < shape->WidthInBytes ||
      shape->srcHeight < shape->Height || shape->dstHeight < shape->Height) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  return run_on(stream, "rectangle", [shape = *shape, from_device, to_device] {
    const auto* from =
        static_cast<const std::byte*>(from_device ? host(shape.srcDevice) : shape.srcHost);
    auto* to = static_cast<std::byte*>(to_device ? host(shape.dstDevice) : shape.dstHost);
    for (std::size_t z = 0; z < shape.Depth; ++z) {
      for (std::size_t y = 0; y < shape.Height; ++y) {
        std::memcpy(to + (z * shape.dstHeight + y) * shape.dstPitch,
                    from + (z * shape.srcHeight + y) * shape.srcPitch, shape.WidthInBytes);
      }
    }
  });
}

CUresult launch(CUfunction function, const dimensions& groups, const dimensions& group,
                unsigned local_bytes, CUstream stream, void** arguments) {
  if (stream == nullptr && current() == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  if (group.x * group.y * group.z > 1024 || group.x > 1024 || group.y > 1024 || group.z > 64) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  if (local_bytes > (227U << 10)) return CUDA_ERROR_INVALID_VALUE;
  const std::string& name = reinterpret_cast<kernel_object*>(function)->name;
  const auto run = [=, &name](void** values) {
    clock_ns += 5000;
    run_kernel(name, groups, group, values);
  };
  if (stream == nullptr || !stream_of(stream).capture.is_active()) {
    run(arguments);
    return CUDA_SUCCESS;
  }
  return run_on(stream, "launch",
                [=, copies = std::make_shared<copied_arguments>(name, arguments)] {
                  run(copies->pointers());
                });
}

using table = std::map<std::string, void*, std::less<>>;

// The type is checked here, for the table cannot.
template <class Function>
void add(table& functions, const char* name, Function function) {
  functions[name] = reinterpret_cast<void*>(function);
}

#define ENTER(name) \
  if (const CUresult failure = enter(name); failure != CUDA_SUCCESS) return failure

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
    stack.push_back(context);
    return CUDA_SUCCESS;
  });
  add<PFN_cuCtxPopCurrent_v4000>(t, "cuCtxPopCurrent", [](CUcontext* context) {
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

void add_memory(table& t) {
  add<PFN_cuMemAlloc_v3020>(t, "cuMemAlloc", [](CUdeviceptr* address, std::size_t bytes) {
    ENTER("cuMemAlloc");
    return allocate(reinterpret_cast<void**>(address), bytes);
  });
  add<PFN_cuMemAllocManaged_v6000>(t, "cuMemAllocManaged",
                                   [](CUdeviceptr* address, std::size_t bytes, unsigned flags) {
                                     if (flags != CU_MEM_ATTACH_GLOBAL)
                                       return CUDA_ERROR_INVALID_VALUE;
                                     return allocate(reinterpret_cast<void**>(address), bytes);
                                   });
  add<PFN_cuMemFree_v3020>(t, "cuMemFree",
                           [](CUdeviceptr address) { return release(host(address)); });
  add<PFN_cuMemHostAlloc_v2020>(t, "cuMemHostAlloc", [](void** data, std::size_t bytes, unsigned) {
    return allocate(data, bytes);
  });
  add<PFN_cuMemFreeHost_v2000>(t, "cuMemFreeHost", [](void* data) { return release(data); });
  add<PFN_cuMemcpyHtoDAsync_v3020>(
      t, "cuMemcpyHtoDAsync",
      [](CUdeviceptr to, const void* from, std::size_t bytes, CUstream stream) {
        return copy(host(to), from, bytes, stream);
      });
  add<PFN_cuMemcpyDtoHAsync_v3020>(
      t, "cuMemcpyDtoHAsync", [](void* to, CUdeviceptr from, std::size_t bytes, CUstream stream) {
        return copy(to, host(from), bytes, stream);
      });
  add<PFN_cuMemcpyDtoDAsync_v3020>(
      t, "cuMemcpyDtoDAsync",
      [](CUdeviceptr to, CUdeviceptr from, std::size_t bytes, CUstream stream) {
        return copy(host(to), host(from), bytes, stream);
      });
  add<PFN_cuMemcpy3DAsync_v3020>(t, "cuMemcpy3DAsync", copy_rectangle);
}

void add_fills(table& t) {
  add<PFN_cuMemsetD8Async_v3020>(
      t, "cuMemsetD8Async",
      [](CUdeviceptr to, unsigned char value, std::size_t count, CUstream stream) {
        ENTER("cuMemsetD8Async");
        return set(to, value, count, stream);
      });
  add<PFN_cuMemsetD16Async_v3020>(
      t, "cuMemsetD16Async",
      [](CUdeviceptr to, unsigned short value, std::size_t count, CUstream stream) {
        ENTER("cuMemsetD16Async");
        return set(to, value, count, stream);
      });
  add<PFN_cuMemsetD32Async_v3020>(
      t, "cuMemsetD32Async",
      [](CUdeviceptr to, unsigned value, std::size_t count, CUstream stream) {
        ENTER("cuMemsetD32Async");
        return set(to, value, count, stream);
      });
  add<PFN_cuMemsetD2D8Async_v3020>(t, "cuMemsetD2D8Async",
                                   [](CUdeviceptr to, std::size_t pitch, unsigned char value,
                                      std::size_t width, std::size_t height, CUstream stream) {
                                     ENTER("cuMemsetD2D8Async");
                                     return set_rows(to, pitch, value, width, height, stream);
                                   });
  add<PFN_cuMemsetD2D16Async_v3020>(t, "cuMemsetD2D16Async",
                                    [](CUdeviceptr to, std::size_t pitch, unsigned short value,
                                       std::size_t width, std::size_t height, CUstream stream) {
                                      ENTER("cuMemsetD2D16Async");
                                      return set_rows(to, pitch, value, width, height, stream);
                                    });
  add<PFN_cuMemsetD2D32Async_v3020>(t, "cuMemsetD2D32Async",
                                    [](CUdeviceptr to, std::size_t pitch, unsigned value,
                                       std::size_t width, std::size_t height, CUstream stream) {
                                      ENTER("cuMemsetD2D32Async");
                                      return set_rows(to, pitch, value, width, height, stream);
                                    });
}

void add_streams(table& t) {
  add<PFN_cuStreamCreate_v2000>(t, "cuStreamCreate", [](CUstream* stream, unsigned flags) {
    if (flags != CU_STREAM_NON_BLOCKING) return CUDA_ERROR_INVALID_VALUE;
    *stream = reinterpret_cast<CUstream>(new stream_object{current()});
    ++live;
    return in_any_context();
  });
  add<PFN_cuStreamDestroy_v4000>(t, "cuStreamDestroy", [](CUstream stream) {
    delete &stream_of(stream);
    --live;
    return CUDA_SUCCESS;
  });
  add<PFN_cuStreamQuery_v2000>(t, "cuStreamQuery",
                               [](CUstream stream) { return run_only_on(stream); });
  add<PFN_cuStreamSynchronize_v2000>(t, "cuStreamSynchronize", [](CUstream stream) {
    ENTER("cuStreamSynchronize");
    return run_only_on(stream);
  });
  add<PFN_cuStreamWaitEvent_v3020>(t, "cuStreamWaitEvent", [](CUstream stream, CUevent, unsigned) {
    return run_only_on(stream);
  });
  add<PFN_cuStreamGetCtx_v9020>(t, "cuStreamGetCtx", [](CUstream stream, CUcontext* context) {
    *context = stream != nullptr ? stream_of(stream).context : current();
    return CUDA_SUCCESS;
  });
  add<PFN_cuEventCreate_v2000>(t, "cuEventCreate", [](CUevent* event, unsigned flags) {
    const bool timed = (flags & CU_EVENT_DISABLE_TIMING) == 0;
    // Not by operator new, which tests count.
    *event = static_cast<CUevent>(std::malloc(sizeof(event_object)));
    new (*event) event_object{current(), timed, 0};
    ++live;
    return in_any_context();
  });
  add<PFN_cuEventDestroy_v4000>(t, "cuEventDestroy", [](CUevent event) {
    std::free(event);
    --live;
    return in_any_context();
  });
  add<PFN_cuEventRecord_v2000>(t, "cuEventRecord", [](CUevent event, CUstream stream) {
    ENTER("cuEventRecord");
    event_of(event).time_ns = clock_ns += 500;
    return run_only_on(stream);
  });
  add<PFN_cuEventQuery_v2000>(t, "cuEventQuery", [](CUevent) { return enter("cuEventQuery"); });
  add<PFN_cuEventSynchronize_v2000>(t, "cuEventSynchronize",
                                    [](CUevent) { return in_any_context(); });
  add<PFN_cuEventElapsedTime_v2000>(
      t, "cuEventElapsedTime", [](float* milliseconds, CUevent from, CUevent to) {
        const event_object& first = event_of(from);
        const event_object& second = event_of(to);
        if (!first.timed || !second.timed || first.time_ns > second.time_ns) {
          return CUDA_ERROR_INVALID_HANDLE;
        }
        *milliseconds =
            static_cast<float>(static_cast<double>(second.time_ns - first.time_ns) / 1e6);
        return CUDA_SUCCESS;
      });
}

void add_graphs(table& t) {
  add<PFN_cuStreamBeginCapture_v10010>(
      t, "cuStreamBeginCapture", [](CUstream stream, CUstreamCaptureMode mode) {
        ENTER("cuStreamBeginCapture");
        if (stream == nullptr || mode != CU_STREAM_CAPTURE_MODE_RELAXED) {
          return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
        }
        return on(stream) != CUDA_SUCCESS ? CUDA_ERROR_INVALID_CONTEXT
                                          : stream_of(stream).capture.begin();
      });
  add<PFN_cuStreamEndCapture_v10000>(t, "cuStreamEndCapture", [](CUstream stream, CUgraph* graph) {
    ENTER("cuStreamEndCapture");
    *graph = nullptr;
    const std::unique_ptr<graph_object> ended = stream_of(stream).capture.end();
    if (ended == nullptr) return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    *graph = reinterpret_cast<CUgraph>(new graph_object(*ended));
    ++live;
    return CUDA_SUCCESS;
  });
  add<PFN_cuGraphDestroy_v10000>(t, "cuGraphDestroy", [](CUgraph graph) {
    delete reinterpret_cast<graph_object*>(graph);
    --live;
    return CUDA_SUCCESS;
  });
  add<PFN_cuGraphInstantiateWithFlags_v11040>(
      t, "cuGraphInstantiateWithFlags",
      [](CUgraphExec* made, CUgraph graph, unsigned long long flags) {
        ENTER("cuGraphInstantiateWithFlags");
        if (flags != 0) return CUDA_ERROR_INVALID_VALUE;
        *made = reinterpret_cast<CUgraphExec>(
            new graph_object(*reinterpret_cast<graph_object*>(graph)));
        ++live;
        return in_any_context();
      });
  add<PFN_cuGraphExecUpdate_v12000>(
      t, "cuGraphExecUpdate", [](CUgraphExec target, CUgraph graph, CUgraphExecUpdateResultInfo*) {
        ENTER("cuGraphExecUpdate");
        auto& old = *reinterpret_cast<graph_object*>(target);
        const auto& wanted = *reinterpret_cast<graph_object*>(graph);
        if (!same_kinds(old, wanted)) return CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE;
        old = wanted;
        return in_any_context();
      });
  add<PFN_cuGraphUpload_v11010>(t, "cuGraphUpload", [](CUgraphExec, CUstream stream) {
    ENTER("cuGraphUpload");
    return run_only_on(stream);
  });
  add<PFN_cuGraphLaunch_v10000>(t, "cuGraphLaunch", [](CUgraphExec graph, CUstream stream) {
    ENTER("cuGraphLaunch");
    if (const CUresult status = run_only_on(stream); status != CUDA_SUCCESS) return status;
    for (auto& item : *reinterpret_cast<graph_object*>(graph)) item.run();
    return CUDA_SUCCESS;
  });
  add<PFN_cuGraphExecDestroy_v10000>(t, "cuGraphExecDestroy", [](CUgraphExec graph) {
    delete reinterpret_cast<graph_object*>(graph);
    --live;
    return in_any_context();
  });
}

void add_programs(table& t) {
  add<PFN_cuLibraryLoadData_v12000>(t, "cuLibraryLoadData",
                                    [](CUlibrary* library, const void* code, CUjit_option*, void**,
                                       unsigned, CUlibraryOption*, void**, unsigned) {
                                      ENTER("cuLibraryLoadData");
                                      *library = reinterpret_cast<CUlibrary>(new library_object{
                                          {static_cast<const char*>(code), size_of_elf(code)}});
                                      ++live;
                                      return CUDA_SUCCESS;
                                    });
  add<PFN_cuLibraryUnload_v12000>(t, "cuLibraryUnload", [](CUlibrary library) {
    delete reinterpret_cast<library_object*>(library);
    --live;
    return CUDA_SUCCESS;
  });
  add<PFN_cuLibraryGetKernel_v12000>(
      t, "cuLibraryGetKernel", [](CUkernel* kernel, CUlibrary library, const char* name) {
        const std::string section = std::string(".text.") + name + '\0';
        auto& owner = *reinterpret_cast<library_object*>(library);
        if (owner.bytes.find(section) == std::string::npos) return CUDA_ERROR_NOT_FOUND;
        const std::lock_guard lock(mutex);
        *kernel = reinterpret_cast<CUkernel>(&owner.kernels.emplace_back(kernel_object{name}));
        return CUDA_SUCCESS;
      });
  add<PFN_cuLibraryGetModule_v12000>(t, "cuLibraryGetModule", [](CUmodule* module, CUlibrary) {
    ENTER("cuLibraryGetModule");
    *module = nullptr;
    return in_any_context();
  });
  add<PFN_cuKernelGetFunction_v12000>(t, "cuKernelGetFunction", [](CUfunction* function, CUkernel) {
    *function = nullptr;
    return in_any_context();
  });
  add<PFN_cuKernelGetAttribute_v12000>(
      t, "cuKernelGetAttribute",
      [](int* value, CUfunction_attribute which, CUkernel kernel, CUdevice) {
        const bool is_reverse = reinterpret_cast<kernel_object*>(kernel)->name == "reverse";
        *value = which == CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK ? (is_reverse ? 32 : 1024)
                 : which == CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES   ? (is_reverse ? 128 : 0)
                 : which == CU_FUNC_ATTRIBUTE_NUM_REGS            ? 24
                 : which == CU_FUNC_ATTRIBUTE_BINARY_VERSION      ? 90
                                                                  : 0;
        return CUDA_SUCCESS;
      });
  add<PFN_cuKernelSetAttribute_v12000>(
      t, "cuKernelSetAttribute",
      [](CUfunction_attribute, int, CUkernel, CUdevice) { return enter("cuKernelSetAttribute"); });
  add<PFN_cuKernelGetParamInfo_v12040>(
      t, "cuKernelGetParamInfo",
      [](CUkernel kernel, std::size_t index, std::size_t* offset, std::size_t* size) {
        const auto& name = reinterpret_cast<kernel_object*>(kernel)->name;
        return find_parameter(name, index, *offset, *size) ? CUDA_SUCCESS
                                                           : CUDA_ERROR_INVALID_VALUE;
      });
  add<PFN_cuLaunchKernel_v4000>(
      t, "cuLaunchKernel",
      [](CUfunction function, unsigned gx, unsigned gy, unsigned gz, unsigned x, unsigned y,
         unsigned z, unsigned local_bytes, CUstream stream, void** arguments, void**) {
        ENTER("cuLaunchKernel");
        return launch(function, {gx, gy, gz}, {x, y, z}, local_bytes, stream, arguments);
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
