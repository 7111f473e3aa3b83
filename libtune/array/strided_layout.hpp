// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>

#include "libtune/array/layout.hpp"
#include "libtune/array/region.hpp"
#include "libtune/array/shape.hpp"
#include "libtune/base/element_type.hpp"

namespace tune {

/// Where the elements of a region of an array lie in the array's memory. The slower axis never has
/// the smaller stride, but for axes of one element, whose stride does not matter. A value that
/// allocates nothing.
class strided_layout {
 public:
  /// The whole array.
  // NOLINTNEXTLINE(google-explicit-constructor): the layout of an array is one with strides
  strided_layout(const array_layout& layout) noexcept;
  /// @throws argument_error that names the region, the axis, its extent and what was asked of it:
  ///         more indices than axes, an index or a range outside of the axis, an empty range, a
  ///         step that is not positive, more axes than a shape can have
  strided_layout(const array_layout& layout, const region& selected);

  /// The type of one element.
  element_type type() const noexcept { return type_; }
  /// The shape of the region: axes that one index selects are gone, new axes have one element.
  const tune::shape& size() const noexcept { return size_; }
  /// The bytes from the beginning of the array to the first element of the region.
  std::size_t offset_bytes() const noexcept { return offset_bytes_; }
  /// The bytes from one element to the next along an axis, which has to exist.
  std::size_t stride_bytes(std::size_t axis) const noexcept { return strides_bytes_[axis]; }

 private:
  element_type type_;
  shape size_;
  std::size_t offset_bytes_ = 0;
  std::array<std::size_t, shape::max_rank> strides_bytes_{};
};

}  // namespace tune
