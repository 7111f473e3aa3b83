// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "libtune/device/device.hpp"
#include "libtune/kernel/compile.hpp"
#include "libtune/measure/work.hpp"

namespace tune::detail {

/// A kernel that only calculates: (out, float factor, float term, int rounds).
struct peak_kernel {
  std::string name;
  std::size_t work_group = 1;   ///< work items
  std::size_t work_groups = 1;  ///< enough to fill the device
  double operations = 0;        ///< of one work item in one round
  std::size_t item_bytes = 0;   ///< of out, for each work item
};

/// The text of kernels that measure an arithmetic, the fastest of which counts.
struct peak_program {
  kernel_source source;
  defines macros{};
  compile_options options{};
  std::vector<peak_kernel> kernels{};
};

/// Returns the kernels for an arithmetic of a device; empty if the device has no such units. A
/// device without a type may still refuse to compile them.
std::optional<peak_program> peak_program_for(arithmetic by, const device& of);

/// Returns the kernels stream_copy and stream_sum (from, to, int run), for the memory of a CPU.
kernel_source memory_source();

}  // namespace tune::detail
