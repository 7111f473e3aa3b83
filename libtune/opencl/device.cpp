// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/opencl/device.hpp"

#include <algorithm>

#include "libtune/opencl/context.hpp"

namespace tune::opencl {
namespace {

// From cl_nv_device_attribute_query and cl_amd_device_attribute_query.
constexpr cl_device_info warp_size_nv = 0x4003;
constexpr cl_device_info wavefront_width_amd = 0x4043;

device_kind kind_of(cl_device_type type) {
  if ((type & CL_DEVICE_TYPE_GPU) != 0) return device_kind::gpu;
  if ((type & CL_DEVICE_TYPE_ACCELERATOR) != 0) return device_kind::accelerator;
  if ((type & CL_DEVICE_TYPE_CPU) != 0) return device_kind::cpu;
  return device_kind::other;
}

std::size_t simd_group_size_of(const cl::Device& handle) {
  for (const cl_device_info attribute : {warp_size_nv, wavefront_width_amd}) {
    cl_uint width = 0;
    if (clGetDeviceInfo(handle(), attribute, sizeof width, &width, nullptr) == CL_SUCCESS &&
        width > 0) {
      return width;
    }
  }
  return std::max<std::size_t>(1, handle.getInfo<CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT>());
}

device_limits limits_of(const cl::Device& handle) {
  device_limits limits;
  limits.max_work_group_size = handle.getInfo<CL_DEVICE_MAX_WORK_GROUP_SIZE>();
  const auto extents = handle.getInfo<CL_DEVICE_MAX_WORK_ITEM_SIZES>();
  std::copy_n(extents.begin(), std::min(extents.size(), limits.max_work_group_extent.size()),
              limits.max_work_group_extent.begin());
  limits.local_memory_bytes = handle.getInfo<CL_DEVICE_LOCAL_MEM_SIZE>();
  limits.global_memory_bytes = handle.getInfo<CL_DEVICE_GLOBAL_MEM_SIZE>();
  limits.max_allocation_bytes = handle.getInfo<CL_DEVICE_MAX_MEM_ALLOC_SIZE>();
  limits.compute_units = handle.getInfo<CL_DEVICE_MAX_COMPUTE_UNITS>();
  limits.simd_group_size = simd_group_size_of(handle);
  return limits;
}

device_info info_of(const cl::Device& handle, const std::string& platform_name) {
  return {.identity = {.name = handle.getInfo<CL_DEVICE_NAME>(),
                       .platform = platform_name,
                       .driver_version = handle.getInfo<CL_DRIVER_VERSION>()},
          .backend = "OpenCL",
          .kind = kind_of(handle.getInfo<CL_DEVICE_TYPE>()),
          .language = kernel_language::opencl_c,
          .limits = limits_of(handle)};
}

}  // namespace

opencl_device::opencl_device(const cl::Device& handle, const std::string& platform_name)
    : device_interface(info_of(handle, platform_name)), handle_(handle) {}

std::shared_ptr<detail::context_interface> opencl_device::do_create_context() const {
  return std::make_shared<opencl_context>(
      std::static_pointer_cast<const opencl_device>(shared_from_this()));
}

}  // namespace tune::opencl
