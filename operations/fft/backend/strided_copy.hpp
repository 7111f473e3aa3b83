// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "libtune/libtune.hpp"

namespace tune::operations::transforms {

/// An axis of an array in two layouts: its extent, and its strides in elements.
struct copied_axis {
  std::uint64_t extent = 1;
  std::uint64_t to = 0;
  std::uint64_t from = 0;
};

/// The axes of an array with one padded shape in the destination and another in the source, the
/// slowest first.
std::vector<copied_axis> copied_axes(const shape& size, const shape& padded_to,
                                     const shape& padded_from);

/// The conversion of elements during a copy.
enum class copied_as : std::uint8_t {
  same,           ///< no conversion
  half_to_float,  ///< real float16 become float32
  float_to_half,  ///< float32 become float16, rounded to nearest
};

/// A kernel that copies an array between two layouts with any strides.
class strided_copy {
 public:
  /// @param context        compiles the kernel
  /// @param axes           the slowest first
  /// @param element_bytes  bytes of an element without conversion: 2, 4, 8 or 16; else not used
  /// @throws the errors of compile
  strided_copy(const context& context, const std::vector<copied_axis>& axes,
               std::size_t element_bytes, copied_as how = copied_as::same);

  /// Enqueues the copy; the buffers must not overlap.
  void enqueue(command_queue& queue, const buffer& to, const buffer& from);

 private:
  kernel kernel_;
  nd_range range_;
};

}  // namespace tune::operations::transforms
