// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
// Programs, kernels and launches of the fake driver.
#include <algorithm>
#include <array>
#include <cstring>
#include <elf.h>
#include <list>
#include <memory>

#include "tests/device/cuda/fake_driver_state.hpp"
#include "tests/device/cuda/fake_kernels.hpp"

namespace fake_cuda {
namespace {

struct kernel_object {
  std::string name;
};
struct library_object {
  std::string bytes;
  std::list<kernel_object> kernels = {};  // gone with the library
  std::array<std::byte, 64> variable{};   // each of its variables
};

std::mutex kernels_mutex;

std::size_t size_of_elf(const void* code) {
  Elf64_Ehdr header;
  std::memcpy(&header, code, sizeof header);
  return std::max(header.e_shoff + std::size_t{header.e_shnum} * header.e_shentsize,
                  header.e_phoff + std::size_t{header.e_phnum} * header.e_phentsize);
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

}  // namespace

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
        const std::lock_guard lock(kernels_mutex);
        *kernel = reinterpret_cast<CUkernel>(&owner.kernels.emplace_back(kernel_object{name}));
        return CUDA_SUCCESS;
      });
  add<PFN_cuLibraryGetGlobal_v12000>(
      t, "cuLibraryGetGlobal",
      [](CUdeviceptr* address, std::size_t* bytes, CUlibrary library, const char* name) {
        auto& owner = *reinterpret_cast<library_object*>(library);
        const std::string symbol = '\0' + std::string(name) + '\0';
        if (owner.bytes.find(symbol) == std::string::npos) return CUDA_ERROR_NOT_FOUND;
        *address = reinterpret_cast<CUdeviceptr>(owner.variable.data());
        *bytes = owner.variable.size();
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
  add<PFN_cuLaunchKernelEx_v11060>(
      t, "cuLaunchKernelEx",
      [](const CUlaunchConfig* config, CUfunction function, void** arguments, void**) {
        ENTER("cuLaunchKernelEx");
        for (unsigned i = 0; i < config->numAttrs; ++i) {
          const CUlaunchAttribute& each = config->attrs[i];
          if (each.id == CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION) {
            settings().early_launches += each.value.programmaticStreamSerializationAllowed;
          }
          if (each.id != CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION) continue;
          if (config->gridDimX % each.value.clusterDim.x != 0) return CUDA_ERROR_INVALID_VALUE;
          settings().last_cluster = each.value.clusterDim.x;
        }
        return launch(function, {config->gridDimX, config->gridDimY, config->gridDimZ},
                      {config->blockDimX, config->blockDimY, config->blockDimZ},
                      config->sharedMemBytes, config->hStream, arguments);
      });
  // Its words are what it was asked for.
  add<PFN_cuTensorMapEncodeTiled_v12000>(
      t, "cuTensorMapEncodeTiled",
      [](CUtensorMap* map, CUtensorMapDataType type, cuuint32_t axes, void* address,
         const cuuint64_t* size, const cuuint64_t* strides, const cuuint32_t* box,
         const cuuint32_t*, CUtensorMapInterleave, CUtensorMapSwizzle swizzle,
         CUtensorMapL2promotion, CUtensorMapFloatOOBfill) {
        ENTER("cuTensorMapEncodeTiled");
        if (const CUresult failure = in_any_context(); failure != CUDA_SUCCESS) return failure;
        cuuint64_t* word = map->opaque;
        *word++ = static_cast<cuuint64_t>(type);
        *word++ = static_cast<cuuint64_t>(swizzle);
        *word++ = reinterpret_cast<cuuint64_t>(address);
        for (cuuint32_t i = 0; i < axes && i < 4; ++i) {
          *word++ = size[i];
          *word++ = box[i];
          if (i + 1 < axes) *word++ = strides[i];
        }
        return CUDA_SUCCESS;
      });
}

}  // namespace fake_cuda
