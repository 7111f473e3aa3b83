// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// VkFFT's header, in a namespace of its own. It calls OpenCL; here the names of those functions are
// macros for functions of this file, which call a recorder. For one source only.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <string>

#include "operations/fft/backend/vkfft_recorder.hpp"

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
// The other includes of the header, so that they are not included into the namespace.
// NOLINTBEGIN(modernize-deprecated-headers): VkFFT includes these, which also declare the names
// outside std.
#include <inttypes.h>
#include <locale.h>
#include <math.h>
#include <memory.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
// NOLINTEND(modernize-deprecated-headers)

namespace tune::operations::transforms {
namespace {

// The PCI numbers by which VkFFT distinguishes vendors.
cl_uint vendor_of(const device& device) {
  const std::string text = device.platform_name() + " " + device.name();
  const auto has = [&](const char* word) { return text.find(word) != std::string::npos; };
  if (device.kind() == device_kind::cpu) return 0;
  if (has("NVIDIA") || device.info().backend == "CUDA") return 0x10DE;
  if (has("AMD") || has("Radeon")) return 0x1002;
  return has("Intel") ? 0x8086 : 0;
}

template <class T, class Handle>
T& behind(Handle handle) noexcept {
  return *reinterpret_cast<T*>(handle);
}

cl_int describe_device(cl_device_id handle, cl_device_info what, std::size_t bytes, void* value,
                       std::size_t*) {
  const auto& of = behind<recorder>(handle);
  const auto give = [&](const auto& number) {
    std::memcpy(value, &number, std::min(bytes, sizeof number));
    return CL_SUCCESS;
  };
  switch (what) {
    case CL_DEVICE_VENDOR_ID: return give(vendor_of(of.device()));
    case CL_DEVICE_MAX_WORK_GROUP_SIZE: return give(of.max_work_group());
    case CL_DEVICE_MAX_WORK_ITEM_DIMENSIONS: return give(cl_uint{3});
    case CL_DEVICE_MAX_WORK_ITEM_SIZES: {
      std::array<std::size_t, 3> extents = of.device().limits().max_work_group_extent;
      for (std::size_t& extent : extents) extent = std::min(extent, of.max_work_group());
      return give(extents);
    }
    case CL_DEVICE_LOCAL_MEM_SIZE: return give(cl_ulong{of.local_memory()});
    default: return CL_INVALID_VALUE;
  }
}

cl_mem create_buffer(cl_context context, cl_mem_flags, std::size_t bytes, void* contents,
                     cl_int* status) {
  auto& made_by = behind<recorder>(context);
  recorded_memory* made = nullptr;
  *status = made_by.guard([&] { made = made_by.create_memory(bytes, contents); });
  return reinterpret_cast<cl_mem>(made);
}

cl_int write_buffer(cl_command_queue queue, cl_mem to, cl_bool, std::size_t offset,
                    std::size_t bytes, const void* from, cl_uint, const cl_event*, cl_event*) {
  auto& by = behind<recorder>(queue);
  return by.guard([&] { by.write(behind<recorded_memory>(to), from, bytes, offset); });
}

// Used from VkFFT 1.3 on, which makes some of its tables on the device.
[[maybe_unused]] cl_int read_buffer(cl_command_queue queue, cl_mem from, cl_bool,
                                    std::size_t offset, std::size_t bytes, void* to, cl_uint,
                                    const cl_event*, cl_event*) {
  auto& by = behind<recorder>(queue);
  return by.guard([&] { by.read(behind<recorded_memory>(from), to, bytes, offset); });
}

cl_command_queue create_queue(cl_context context, cl_device_id, cl_command_queue_properties,
                              cl_int* status) {
  *status = CL_SUCCESS;
  return reinterpret_cast<cl_command_queue>(context);
}

cl_int finish(cl_command_queue queue) {
  auto& by = behind<recorder>(queue);
  return by.guard([&] { by.finish(); });
}

cl_program create_program(cl_context context, cl_uint, const char** text, const std::size_t* length,
                          cl_int* status) {
  auto& by = behind<recorder>(context);
  recorded_program* made = nullptr;
  *status = by.guard([&] { made = by.create_program(std::string(*text, *length)); });
  return reinterpret_cast<cl_program>(made);
}

cl_int build_program(cl_program handle, cl_uint, const cl_device_id*, const char*, void*, void*) {
  auto& built = behind<recorded_program>(handle);
  return built.owner->guard([&] { built.owner->build(built); });
}

// Returns an empty log, because the exception contains the log.
cl_int no_build_log(cl_program, cl_device_id, cl_program_build_info, std::size_t bytes, void* text,
                    std::size_t* length) {
  if (length != nullptr) *length = 1;
  if (text != nullptr && bytes > 0) *static_cast<char*>(text) = 0;
  return CL_SUCCESS;
}

cl_kernel create_kernel(cl_program handle, const char* name, cl_int* status) {
  auto& built = behind<recorded_program>(handle);
  recorded_kernel* made = nullptr;
  *status = built.owner->guard([&] { made = built.owner->create_kernel(built, name); });
  return reinterpret_cast<cl_kernel>(made);
}

cl_int set_kernel_argument(cl_kernel handle, cl_uint index, std::size_t bytes, const void* value) {
  auto& target = behind<recorded_kernel>(handle);
  return target.owner->guard([&] { target.owner->set_argument(target, index, bytes, value); });
}

cl_int enqueue_kernel(cl_command_queue queue, cl_kernel handle, cl_uint, const std::size_t*,
                      const std::size_t* global, const std::size_t* local, cl_uint, const cl_event*,
                      cl_event*) {
  auto& by = behind<recorder>(queue);
  return by.guard([&] { by.launch(behind<recorded_kernel>(handle), global, local); });
}

// The recorder owns its objects.
template <class Handle>
cl_int keep(Handle) noexcept {
  return CL_SUCCESS;
}

inline char* keep_locale(int, const char*) noexcept { return nullptr; }

// VkFFT's own cache of binaries is not used, because tune::compile has one.
template <class... Arguments>
cl_int refuse(Arguments...) noexcept {
  return CL_INVALID_OPERATION;
}
cl_program refuse_binary(cl_context, cl_uint, const cl_device_id*, const std::size_t*,
                         const unsigned char**, cl_int*, cl_int* status) noexcept {
  *status = CL_INVALID_OPERATION;
  return nullptr;
}

}  // namespace
}  // namespace tune::operations::transforms

// NOLINTBEGIN(readability-identifier-naming): the names of OpenCL, of C and of VkFFT
#define LIBTUNE_VKFFT(function) ::tune::operations::transforms::function
#define clGetDeviceInfo LIBTUNE_VKFFT(describe_device)
#define clCreateBuffer LIBTUNE_VKFFT(create_buffer)
#define clReleaseMemObject LIBTUNE_VKFFT(keep)
#define clEnqueueReadBuffer LIBTUNE_VKFFT(read_buffer)
#define clEnqueueWriteBuffer LIBTUNE_VKFFT(write_buffer)
#define clCreateCommandQueue LIBTUNE_VKFFT(create_queue)
#define clReleaseCommandQueue LIBTUNE_VKFFT(keep)
#define clFinish LIBTUNE_VKFFT(finish)
#define clCreateProgramWithSource LIBTUNE_VKFFT(create_program)
#define clCreateProgramWithBinary LIBTUNE_VKFFT(refuse_binary)
#define clBuildProgram LIBTUNE_VKFFT(build_program)
#define clGetProgramBuildInfo LIBTUNE_VKFFT(no_build_log)
#define clGetProgramInfo LIBTUNE_VKFFT(refuse)
#define clReleaseProgram LIBTUNE_VKFFT(keep)
#define clCreateKernel LIBTUNE_VKFFT(create_kernel)
#define clReleaseKernel LIBTUNE_VKFFT(keep)
#define clSetKernelArg LIBTUNE_VKFFT(set_kernel_argument)
#define clEnqueueNDRangeKernel LIBTUNE_VKFFT(enqueue_kernel)
// VkFFT prints sources that do not compile, and sets the locale of the whole process.
#define printf(...) static_cast<void>(0)
#define setlocale LIBTUNE_VKFFT(keep_locale)
#define VKFFT_BACKEND 3
// NOLINTEND(readability-identifier-naming)

namespace vkfft {
#include <vkFFT.h>
}  // namespace vkfft

#undef printf
#undef setlocale
