// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/device/cuda/launch_check.hpp"

#include <array>
#include <fmt/format.h>

namespace tune::cuda {
namespace {

// The same in every device that CUDA still has.
constexpr std::array<std::size_t, 3> max_groups{2147483647, 65535, 65535};
constexpr std::array<char, 3> axes{'x', 'y', 'z'};

std::string to_text(const work_size& size) {
  return fmt::format("{} x {} x {}", size.x, size.y, size.z);
}

std::string describe_extents(const nd_range& range, const device_limits& limits) {
  const std::array<std::size_t, 3> local{range.local.x, range.local.y, range.local.z};
  const std::array<std::size_t, 3> global{range.global.x, range.global.y, range.global.z};
  for (std::size_t i = 0; i < local.size(); ++i) {
    if (local[i] > limits.max_work_group_extent[i]) {
      return fmt::format("a work group of {} along {}, the device allows {}", local[i], axes[i],
                         limits.max_work_group_extent[i]);
    }
    if (global[i] / local[i] > max_groups[i]) {
      return fmt::format("{} work groups along {}, the device allows {}", global[i] / local[i],
                         axes[i], max_groups[i]);
    }
  }
  return {};
}

}  // namespace

std::string describe_excess(const nd_range& range, const kernel_info& kernel,
                            const device_limits& limits) {
  const std::size_t items = range.local.total();
  if (items > limits.max_work_group_size) {
    return fmt::format("a work group of {} work items, the device allows {}", items,
                       limits.max_work_group_size);
  }
  if (items > kernel.max_work_group_size) {
    return fmt::format("a work group of {} work items, the kernel with its {} registers allows {}",
                       items, kernel.registers, kernel.max_work_group_size);
  }
  const std::size_t local_bytes = kernel.local_memory_bytes + range.local_memory_bytes;
  if (local_bytes > limits.max_dynamic_local_memory_bytes) {
    return fmt::format("{} bytes of local memory, the device has {}", local_bytes,
                       limits.max_dynamic_local_memory_bytes);
  }
  return describe_extents(range, limits);
}

void throw_launch_error(CUresult code, const cuda_kernel& kernel, const nd_range& range) {
  const device_info& device = kernel.context()->info();
  const std::string call = fmt::format(
      "launch of kernel '{}' with {} work items in groups of {} and {} bytes of "
      "dynamic local memory",
      kernel.info().name, to_text(range.global), to_text(range.local), range.local_memory_bytes);
  const driver_api& api = static_cast<const cuda_context&>(*kernel.context()).api();
  const std::string excess = describe_excess(range, kernel.info(), device.limits);
  if (!excess.empty()) {
    throw device_error(call, device.identity.name,
                       fmt::format("{} ({})", error_text(api, code), excess),
                       device_failure::over_limit);
  }
  throw_error(api, code, call, device);
}

}  // namespace tune::cuda
