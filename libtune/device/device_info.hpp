// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "libtune/device/device_identity.hpp"

namespace tune {

/// What a device is. The order is the order of preference when one has to be chosen.
enum class device_kind : std::uint8_t { gpu, accelerator, cpu, other };

std::string_view device_kind_name(device_kind kind) noexcept;

/// The language that a device's compiler reads.
enum class kernel_language : std::uint8_t { opencl_c, cuda_cpp };

/// What a launch or an allocation may ask for.
struct device_limits {
  std::size_t max_work_group_size = 0;                        ///< work items in a work group
  std::array<std::size_t, 3> max_work_group_extent{0, 0, 0};  ///< the same, per dimension
  std::size_t local_memory_bytes = 0;                         ///< per work group
  std::size_t global_memory_bytes = 0;
  std::size_t max_allocation_bytes = 0;  ///< one buffer
  std::size_t compute_units = 0;
  std::size_t simd_group_size = 0;  ///< work items that run in lockstep: a hint for speed only
};

/// What is known of a device without opening it.
struct device_info {
  device_identity identity;
  std::string backend;  ///< "OpenCL", "CUDA", "fake"
  device_kind kind = device_kind::other;
  kernel_language language = kernel_language::opencl_c;
  device_limits limits;
};

}  // namespace tune
