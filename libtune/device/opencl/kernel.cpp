// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/device/opencl/kernel.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <fmt/format.h>
#include <optional>
#include <utility>

#include "libtune/base/error.hpp"
#include "libtune/device/opencl/error.hpp"
#include "libtune/device/opencl/memory.hpp"

namespace tune::opencl {
namespace {

kernel_info info_of(const cl::Kernel& handle, const cl::Device& device) {
  const auto required = handle.getWorkGroupInfo<CL_KERNEL_COMPILE_WORK_GROUP_SIZE>(device);
  return {.name = handle.getInfo<CL_KERNEL_FUNCTION_NAME>(),
          .argument_count = handle.getInfo<CL_KERNEL_NUM_ARGS>(),
          .max_work_group_size = handle.getWorkGroupInfo<CL_KERNEL_WORK_GROUP_SIZE>(device),
          .required_work_group_size = {required[0], required[1], required[2]},
          .local_memory_bytes = handle.getWorkGroupInfo<CL_KERNEL_LOCAL_MEM_SIZE>(device),
          .private_memory_bytes = handle.getWorkGroupInfo<CL_KERNEL_PRIVATE_MEM_SIZE>(device)};
}

bool is_buffer(const cl::Kernel& kernel, cl_uint index) {
  cl_kernel_arg_address_qualifier where = CL_KERNEL_ARG_ADDRESS_PRIVATE;
  // Few programs have this, and those that come from a binary have it least.
  return clGetKernelArgInfo(kernel(), index, CL_KERNEL_ARG_ADDRESS_QUALIFIER, sizeof where, &where,
                            nullptr) == CL_SUCCESS &&
         (where == CL_KERNEL_ARG_ADDRESS_GLOBAL || where == CL_KERNEL_ARG_ADDRESS_CONSTANT);
}

// Found by trying, for the driver does not tell; on another object, since what succeeds sets the
// argument. Powers of two come first, because PoCL takes 3 bytes for 4.
std::optional<std::size_t> accepted_bytes(const cl::Kernel& kernel, cl_uint index) {
  constexpr std::size_t most = 256;
  const std::array<std::byte, most> zeros{};
  try {
    const cl::Kernel other(kernel.getInfo<CL_KERNEL_PROGRAM>(),
                           kernel.getInfo<CL_KERNEL_FUNCTION_NAME>().c_str());
    const auto is_accepted = [&](std::size_t size) {
      return clSetKernelArg(other(), index, size, zeros.data()) == CL_SUCCESS;
    };
    for (std::size_t size = 1; size <= most; size *= 2) {
      if (is_accepted(size)) return size;
    }
    for (std::size_t size = 3; size < most; ++size) {
      if (is_accepted(size)) return size;
    }
  } catch (const cl::Error&) {
  }
  return std::nullopt;
}

std::string describe_parameter(const cl::Kernel& kernel, cl_uint index) {
  if (is_buffer(kernel, index)) return "a buffer";
  const auto bytes = accepted_bytes(kernel, index);
  if (!bytes) return "another size, which the driver does not tell";
  // A null buffer is as good as eight bytes.
  return fmt::format("{} bytes{}", *bytes, *bytes == sizeof(cl_mem) ? ", or a buffer" : "");
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
  if (status != CL_SUCCESS) throw_set_error(status, index, fmt::format("{} bytes", size));
  known.is_set = true;
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
    throw_set_error(status, index, "a buffer");
  }
  known.is_set = true;
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
  arguments_[last].is_set = true;
}

opencl_kernel::argument& opencl_kernel::at(std::size_t index) {
  if (index < arguments_.size()) return arguments_[index];
  throw_no_argument(index, arguments_.size());
}

void opencl_kernel::check_arguments() const {
  const auto unset = std::ranges::find(arguments_, false, &argument::is_set);
  if (unset == arguments_.end()) return;
  throw_unset_argument(static_cast<std::size_t>(unset - arguments_.begin()), arguments_.size());
}

void opencl_kernel::throw_set_error(cl_int status, std::size_t index,
                                    const std::string& given) const {
  if (status == CL_INVALID_ARG_SIZE) {
    throw_wrong_argument(index, given, describe_parameter(handle_, static_cast<cl_uint>(index)));
  }
  throw_error(status,
              fmt::format("setting argument {} of kernel '{}' to {}", index, info().name, given),
              context()->info());
}

}  // namespace tune::opencl
