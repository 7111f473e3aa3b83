// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <initializer_list>
#include <span>
#include <string>

#include "libtune/base/cxx20.hpp"

namespace tune {

/// The extents of an array of rank 0 to 8, the slowest axis first. A value that allocates nothing.
class shape {
 public:
  /// The most axes that an array may have.
  static constexpr std::size_t max_rank = 8;

  /// Rank 0: one element.
  constexpr shape() noexcept = default;
  /// @throws argument_error if there are more than max_rank extents
  shape(std::initializer_list<std::size_t> extents);
  /// Copies them. @throws argument_error if there are more than max_rank extents
  explicit shape(std::span<const std::size_t> extents);

  /// The number of axes.
  constexpr std::size_t rank() const noexcept { return rank_; }
  /// The extent of an axis. Not checked.
  constexpr std::size_t operator[](std::size_t axis) const noexcept { return extents_[axis]; }
  /// The extent of the slowest axis; those of the faster ones follow it.
  constexpr const std::size_t* begin() const noexcept { return extents_.data(); }
  /// The place after the extent of the fastest axis.
  constexpr const std::size_t* end() const noexcept { return extents_.data() + rank_; }

  /// The number of elements. Not checked to be a number that memory could hold; array_layout does.
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

/// "(3, 4)"; a shape of one axis is "(3,)", one of none "()".
std::string to_string(const shape& s);

/// Whether an array of this shape fits in the top left corner of padded: the same rank, and no
/// extent larger.
bool fits_in(const shape& inner, const shape& padded) noexcept;

}  // namespace tune
