// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/opencl/kernel.hpp"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <utility>

#include "libtune/base/error.hpp"
#include "libtune/opencl/buffer.hpp"
#include "libtune/opencl/error.hpp"

namespace tune::opencl {
namespace {

kernel_info info_of(const cl::Kernel& handle, const cl::Device& device) {
  return {.name = handle.getInfo<CL_KERNEL_FUNCTION_NAME>(),
          .argument_count = handle.getInfo<CL_KERNEL_NUM_ARGS>(),
          .max_work_group_size = handle.getWorkGroupInfo<CL_KERNEL_WORK_GROUP_SIZE>(device),
          .local_memory_bytes = handle.getWorkGroupInfo<CL_KERNEL_LOCAL_MEM_SIZE>(device),
          .private_memory_bytes = handle.getWorkGroupInfo<CL_KERNEL_PRIVATE_MEM_SIZE>(device)};
}

}  // namespace

opencl_kernel::opencl_kernel(std::shared_ptr<detail::context_interface> context, cl::Kernel handle,
                             const cl::Device& device)
    : kernel_interface(std::move(context), info_of(handle, device)),
      handle_(std::move(handle)),
      arguments_(info().argument_count) {}

void opencl_kernel::do_set_argument(std::size_t index, const void* bytes, std::size_t size) {
  argument& known = at(index);
  if (known.size == size && !known.buffer && std::memcmp(known.bytes.data(), bytes, size) == 0) {
    return;
  }
  known.size = 0;
  const cl_int status = clSetKernelArg(handle_(), static_cast<cl_uint>(index), size, bytes);
  if (status != CL_SUCCESS) {
    throw_error(
        status,
        fmt::format("setting argument {} of kernel '{}' to {} bytes", index, info().name, size),
        context()->info());
  }
  known.buffer.reset();
  if (size <= known.bytes.size()) {
    std::memcpy(known.bytes.data(), bytes, size);
    known.size = size;
  }
}

void opencl_kernel::do_set_buffer(std::size_t index,
                                  const std::shared_ptr<detail::buffer_interface>& buffer) {
  argument& known = at(index);
  if (known.buffer == buffer) return;
  known.size = 0;
  const cl_mem memory = static_cast<const opencl_buffer&>(*buffer).handle()();
  const cl_int status =
      clSetKernelArg(handle_(), static_cast<cl_uint>(index), sizeof memory, &memory);
  if (status != CL_SUCCESS) {
    known.buffer.reset();
    throw_error(status,
                fmt::format("setting argument {} of kernel '{}' to a buffer", index, info().name),
                context()->info());
  }
  known.buffer = buffer;
}

void opencl_kernel::set_dynamic_local_memory(std::size_t bytes) {
  if (bytes == dynamic_local_bytes_) return;
  // Not every driver checks it. NVIDIA's counts a byte for the parameter itself, and means it.
  const device_info& device = context()->info();
  const std::size_t all = info().local_memory_bytes + bytes;
  if (all > device.limits.local_memory_bytes) {
    throw device_error(fmt::format("launch of kernel '{}'", info().name), device.identity.name,
                       fmt::format("{} bytes of local memory, the device has {}", all,
                                   device.limits.local_memory_bytes),
                       device_failure::over_limit);
  }
  const auto last = static_cast<cl_uint>(std::max<std::size_t>(arguments_.size(), 1) - 1);
  const cl_int status = clSetKernelArg(handle_(), last, bytes, nullptr);
  if (status != CL_SUCCESS) {
    throw_error(status,
                fmt::format("setting the dynamic local memory of kernel '{}' to {} bytes (its last "
                            "parameter has to be a DYNAMIC_LOCAL_PARAMETER)",
                            info().name, bytes),
                context()->info());
  }
  dynamic_local_bytes_ = bytes;
}

opencl_kernel::argument& opencl_kernel::at(std::size_t index) {
  if (index < arguments_.size()) return arguments_[index];
  throw device_error(fmt::format("setting argument {} of kernel '{}'", index, info().name),
                     context()->info().identity.name,
                     fmt::format("it has {} arguments", arguments_.size()),
                     device_failure::invalid_launch);
}

}  // namespace tune::opencl
