// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cassert>
#include <concepts>
#include <cstddef>
#include <initializer_list>
#include <span>
#include <string>

#include "libtune/base/cxx20.hpp"
#include "libtune/base/dtype.hpp"

namespace tune {

/// The extents of an array of rank 0 to 8, the slowest axis first. A value that allocates nothing.
class shape {
 public:
  /// The most axes that an array may have.
  static constexpr std::size_t max_rank = 8;

  /// Rank 0, with one element.
  constexpr shape() noexcept = default;
  /// @throws argument_error if there are more than max_rank extents
  shape(std::initializer_list<std::size_t> extents);
  /// Copies the extents. @throws argument_error if there are more than max_rank extents
  explicit shape(std::span<const std::size_t> extents);

  /// The number of axes.
  constexpr std::size_t rank() const noexcept { return rank_; }
  /// The extent of an axis. Not checked.
  constexpr std::size_t operator[](std::size_t axis) const noexcept { return extents_[axis]; }
  /// The extents, the slowest axis first.
  constexpr const std::size_t* begin() const noexcept { return extents_.data(); }
  /// The end of the extents.
  constexpr const std::size_t* end() const noexcept { return extents_.data() + rank_; }

  /// The number of elements. May overflow, unlike in an array_layout.
  constexpr std::size_t elements() const noexcept {
    std::size_t count = 1;
    for (const std::size_t extent : *this) count *= extent;
    return count;
  }

  friend constexpr bool operator==(const shape& a, const shape& b) noexcept {
    if (a.rank_ != b.rank_) return false;
    for (std::size_t axis = 0; axis < a.rank_; ++axis) {
      if (a.extents_[axis] != b.extents_[axis]) return false;
    }
    return true;
  }

 private:
  std::array<std::size_t, max_rank> extents_{};
  std::size_t rank_ = 0;
};

/// "(3, 4)"; a shape with one axis is "(3,)", one of rank 0 "()".
std::string to_string(const shape& s);

/// True if an array of this shape fits in the top left corner of a padded array: the ranks are
/// equal, and no extent exceeds the padded one.
bool fits_in(const shape& inner, const shape& padded) noexcept;

/// The place of elements in memory: in C order, as the top left corner of a contiguous padded
/// array.
class array_layout {
 public:
  /// @throws argument_error unless the shape fits in the padded one, and the padded array in memory
  array_layout(element_type type, const shape& size, const shape& padded);
  /// A layout without padding.
  array_layout(element_type type, const shape& size) : array_layout(type, size, size) {}

  /// The type of one element.
  element_type type() const noexcept { return type_; }
  /// The number of elements along each axis, without padding.
  const tune::shape& size() const noexcept { return size_; }
  /// The number of elements along each axis, including the padding.
  const tune::shape& padded() const noexcept { return padded_; }
  /// The size of one element, in bytes.
  std::size_t element_bytes() const noexcept { return type_.bytes(); }
  /// The size of the whole padded array, in bytes.
  std::size_t bytes() const noexcept { return padded_.elements() * element_bytes(); }
  /// The distance in bytes between neighbouring elements along an axis. Not checked.
  std::size_t stride_bytes(std::size_t axis) const noexcept;
  /// The place of the element at these indices, one for each axis, in the padded array, counted in
  /// elements. The indices are not checked.
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
/// Returns the layout. @throws type_error if its elements are not of this type
const array_layout& checked_layout(const array_layout& layout, element_type type);
}  // namespace detail

}  // namespace tune
