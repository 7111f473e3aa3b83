// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

#include "libtune/base/cxx20.hpp"

namespace tune {

/// A count of work items along one to three axes; x varies fastest.
struct work_size {
  std::size_t x = 1;  ///< along the axis that varies fastest
  std::size_t y = 1;  ///< along the second axis
  std::size_t z = 1;  ///< along the slowest axis

  /// The number of work items: the product of the three.
  constexpr std::size_t total() const noexcept { return x * y * z; }
  friend constexpr bool operator==(const work_size&, const work_size&) = default;
};

/// The shape of a launch. The global size is counted in work items, not in work groups, and each
/// extent is a multiple of the local one. Where an extent of the global size is zero there is no
/// work item, and the launch does nothing on any device: it is no error, and no argument is looked
/// at.
struct nd_range {
  work_size global;  ///< work items of the whole launch
  work_size local;   ///< work items of one work group
  /// Local memory whose size is known at launch only, for each work group, in addition to what the
  /// kernel declares itself. The kernel has to ask for it with DYNAMIC_LOCAL_PARAMETER (see
  /// compile/preamble.hpp), and then it is never zero.
  std::size_t local_memory_bytes = 0;
};

/// size / step, rounded up. step is positive.
constexpr std::size_t divide_up(std::size_t size, std::size_t step) noexcept {
  return size / step + (size % step != 0 ? 1 : 0);
}

/// The smallest multiple of step that is at least size. step is positive.
constexpr std::size_t round_up(std::size_t size, std::size_t step) noexcept {
  return divide_up(size, step) * step;
}

}  // namespace tune
