// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

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

  element_type type() const noexcept { return type_; }
  const tune::shape& size() const noexcept { return size_; }
  const tune::shape& padded() const noexcept { return padded_; }
  std::size_t element_bytes() const noexcept { return type_.bytes(); }
  /// Of the whole padded array.
  std::size_t bytes() const noexcept { return padded_.elements() * element_bytes(); }
  /// From one element to the next along an axis, which has to exist.
  std::size_t stride_bytes(std::size_t axis) const noexcept;

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
