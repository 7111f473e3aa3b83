// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cassert>
#include <concepts>
#include <cstddef>

#include "libtune/array/shape.hpp"
#include "libtune/base/element_type.hpp"

namespace tune {

/// How an array lies in memory: in C order, as the top left corner of a contiguous padded array.
class array_layout {
 public:
  /// @throws argument_error unless the shape fits in the padded one, and the padded one in memory
  array_layout(element_type type, const shape& size, const shape& padded);
  /// Without padding.
  array_layout(element_type type, const shape& size) : array_layout(type, size, size) {}

  /// The type of one element.
  element_type type() const noexcept { return type_; }
  /// The number of elements along each axis, without padding.
  const tune::shape& size() const noexcept { return size_; }
  /// The number of elements along each axis, the padding included.
  const tune::shape& padded() const noexcept { return padded_; }
  /// The size of one element, in bytes.
  std::size_t element_bytes() const noexcept { return type_.bytes(); }
  /// The size of the whole padded array, in bytes.
  std::size_t bytes() const noexcept { return padded_.elements() * element_bytes(); }
  /// The bytes from one element to the next along an axis, which has to exist.
  std::size_t stride_bytes(std::size_t axis) const noexcept;
  /// Where the element at these indices, one for each axis, lies in the padded array, counted in
  /// elements. The values of the indices are not checked.
  template <std::convertible_to<std::size_t>... Index>
  std::size_t place(Index... index) const noexcept {
    assert(sizeof...(index) == size_.rank());
    std::size_t position = 0;
    std::size_t axis = 0;
    ((position = position * padded_[axis++] + static_cast<std::size_t>(index)), ...);
    return position;
  }

  friend bool operator==(const array_layout&, const array_layout&) = default;

 private:
  element_type type_;
  shape size_;
  shape padded_;
};

namespace detail {
/// The layout itself. @throws type_error if its elements are not of this type
const array_layout& checked_layout(const array_layout& layout, element_type type);
}  // namespace detail

}  // namespace tune
