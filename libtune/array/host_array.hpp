// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cassert>
#include <concepts>
#include <cstddef>
#include <vector>

#include "libtune/array/layout.hpp"
#include "libtune/array/shape.hpp"
#include "libtune/base/element_type.hpp"

namespace tune {

/// A typed array in host memory, with the same padding rules as on the device. Owns its elements;
/// a value: copies are deep; one that was moved from may be assigned and destroyed, no more.
/// Elements start as zero.
template <element T>
class host_array {
 public:
  /// @throws argument_error unless the shape fits in the padded one, and that in memory
  explicit host_array(const shape& size) : host_array(size, size) {}
  host_array(const shape& size, const shape& padded)
      : layout_(element_type::of<T>(), size, padded), elements_(padded.elements()) {}
  /// @throws type_error if the layout is that of other elements
  explicit host_array(const array_layout& layout)
      : layout_(detail::checked_layout(layout, element_type::of<T>())),
        elements_(layout.padded().elements()) {}

  const array_layout& layout() const noexcept { return layout_; }
  const tune::shape& size() const noexcept { return layout_.size(); }

  /// The element at these indices, one for each axis. Their values are not checked.
  template <std::convertible_to<std::size_t>... Index>
  T& operator()(Index... index) noexcept {
    return elements_[offset(index...)];
  }
  template <std::convertible_to<std::size_t>... Index>
  const T& operator()(Index... index) const noexcept {
    return elements_[offset(index...)];
  }

  /// The whole padded array.
  T* data() noexcept { return elements_.data(); }
  const T* data() const noexcept { return elements_.data(); }
  std::size_t padded_elements() const noexcept { return elements_.size(); }

  /// Sets every element, the padding included.
  void fill(const T& value) { std::fill(elements_.begin(), elements_.end(), value); }

 private:
  template <class... Index>
  std::size_t offset(Index... index) const noexcept {
    assert(sizeof...(index) == size().rank());
    std::size_t position = 0;
    std::size_t axis = 0;
    ((position = position * layout_.padded()[axis++] + static_cast<std::size_t>(index)), ...);
    return position;
  }

  array_layout layout_;
  std::vector<T> elements_;
};

}  // namespace tune
