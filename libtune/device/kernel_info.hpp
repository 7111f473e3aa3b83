// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string>

#include "libtune/device/nd_range.hpp"

namespace tune {

/// What is known of a kernel once it has been compiled for a device; 0 where the driver does not
/// tell.
struct kernel_info {
  std::string name;
  /// Dynamic local memory counts as an argument in OpenCL. 0 where a CUDA driver before 12.4 does
  /// not tell.
  std::size_t argument_count = 0;
  std::size_t max_work_group_size = 0;  ///< work items; may be less than the device's limit
  /// What REQD_WORK_GROUP_SIZE asks for: launches with another work group are refused. All zero
  /// where the kernel does not have it. On CUDA all zero, too, where the program has kernels that
  /// ask for different shapes of as many work items.
  work_size required_work_group_size{0, 0, 0};
  std::size_t local_memory_bytes = 0;    ///< per work group, as declared in the kernel
  std::size_t private_memory_bytes = 0;  ///< per work item, spilled registers included
  std::size_t registers = 0;             ///< per work item; 0: not known
  int binary_version = 0;                ///< of its machine code, 90 for sm_90; 0: not known
};

}  // namespace tune
