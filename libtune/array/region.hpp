// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

#include "libtune/array/layout.hpp"
#include "libtune/base/dtype.hpp"

namespace tune {

// Enumerators instead of constants, because -Wshadow then allows local variables of these names.
/// Selects every index of an axis, even if the axis has no indices.
enum all_indices : std::uint8_t { all };
/// Adds an axis of one element to the result.
enum added_axis : std::uint8_t { new_axis };

namespace detail {
/// An index; negative ones count from the end. An index that does not fit, such as zero minus one
/// in size_t, stays too large instead of becoming negative.
struct signed_index {
  template <std::integral Index>
  requires(!std::is_same_v<Index, bool>)
      // NOLINTNEXTLINE(google-explicit-constructor): it stands for any type of integer
      constexpr signed_index(Index index) noexcept
      : value(std::in_range<std::ptrdiff_t>(index) ? static_cast<std::ptrdiff_t>(index)
                                                   : std::numeric_limits<std::ptrdiff_t>::max()) {}

  std::ptrdiff_t value;
};
}  // namespace detail

/// The indices first, first + step, ... below end; without an end, up to the last. A negative first
/// or end counts from the end of the axis. Indices outside the axis are cut off, but at least one
/// has to remain, and the step has to be positive: both are checked on use.
class range {
 public:
  /// The indices first, first + step, ... below end. Checked on use only.
  constexpr range(detail::signed_index first, detail::signed_index end,
                  detail::signed_index step = 1) noexcept
      : first_(first.value), end_(end.value), step_(step.value) {}

  /// The first index; a negative one counts from the end of the axis.
  constexpr std::ptrdiff_t first() const noexcept { return first_; }
  /// The index after the last; a negative one counts from the end; empty: to the end of the axis.
  constexpr std::optional<std::ptrdiff_t> end() const noexcept { return end_; }
  /// The distance from one index to the next, in elements.
  constexpr std::ptrdiff_t step() const noexcept { return step_; }

  friend constexpr range from(detail::signed_index first, detail::signed_index step) noexcept;

 private:
  // A tag that no call with numbers can match.
  struct open_end {};
  constexpr range(std::ptrdiff_t first, std::ptrdiff_t step, open_end) noexcept
      : first_(first), step_(step) {}

  std::ptrdiff_t first_;
  std::optional<std::ptrdiff_t> end_;
  std::ptrdiff_t step_;
};

/// From an index to the end of the axis.
constexpr range from(detail::signed_index first, detail::signed_index step = 1) noexcept {
  return {first.value, step.value, range::open_end()};
}

/// The indices that a region takes of one axis.
class axis_selection {
 public:
  /// The ways to select along an axis.
  enum class kind : std::uint8_t {
    all,      ///< every index
    index,    ///< one index; the axis is removed
    range,    ///< indices at equal distances
    new_axis  ///< a new axis of one element
  };

  // NOLINTBEGIN(google-explicit-constructor): they are written as items of a region
  /// Every index of the axis.
  constexpr axis_selection(all_indices = tune::all) noexcept : axis_selection(kind::all, {0, 0}) {}
  /// A new axis of one element.
  constexpr axis_selection(added_axis) noexcept : axis_selection(kind::new_axis, {0, 0}) {}
  /// The indices of a range, which is checked on use.
  constexpr axis_selection(const tune::range& indices) noexcept
      : axis_selection(kind::range, indices) {}
  /// One index; its axis is removed.
  template <std::convertible_to<detail::signed_index> Index>
  constexpr axis_selection(Index index) noexcept : axis_selection(kind::index, {index, 0}) {}
  // NOLINTEND(google-explicit-constructor)

  /// The way to select, which determines the meaning of indices().
  constexpr kind what() const noexcept { return kind_; }
  /// The range; for kind::index only its first() counts; unused for all and new_axis.
  constexpr const tune::range& indices() const noexcept { return indices_; }

 private:
  constexpr axis_selection(kind what, const tune::range& indices) noexcept
      : kind_(what), indices_(indices) {}

  kind kind_ = kind::all;
  tune::range indices_;
};

/// A part of an array in numpy's sense: for each axis an index, a range or all, and new axes
/// between them. Axes without a selection are taken whole.
///   array.get_region(queue, {2, tune::range(3, 7, 2), tune::new_axis, tune::from(-5)}, host);
/// is numpy's host[...] = array[2, 3:7:2, newaxis, -5:]. The fit to an array is checked on use. A
/// value that allocates nothing.
class region {
 public:
  /// The most selections of one region: shape::max_rank axes and as many new ones.
  static constexpr std::size_t max_selections = 2 * shape::max_rank;

  /// The whole array.
  constexpr region() noexcept = default;
  /// @throws argument_error if there are more than max_selections
  region(std::initializer_list<axis_selection> selections);
  /// Copies the selections. @throws argument_error if there are more than max_selections
  explicit region(std::span<const axis_selection> selections);

  /// The selections as given; empty for the whole array; valid while this object lives.
  constexpr std::span<const axis_selection> selections() const noexcept {
    return std::span(selections_).first(count_);
  }

 private:
  std::array<axis_selection, max_selections> selections_{};
  std::size_t count_ = 0;
};

/// The region in numpy's notation: "[2, 3:7:2, newaxis, -5:]"; for a whole array "[...]".
std::string to_string(const region& r);

/// The place of a region's elements in the memory of its array. A slower axis never has a smaller
/// stride, except for axes of one element, whose stride does not matter. A value that allocates
/// nothing.
class strided_layout {
 public:
  /// The whole array.
  // NOLINTNEXTLINE(google-explicit-constructor): the layout of an array is one with strides
  strided_layout(const array_layout& layout) noexcept;
  /// @throws argument_error that names the region, the axis, its extent and the selection: more
  ///         indices than axes, an index or a range outside of the axis, an empty range, a step
  ///         that is not positive, more axes than a shape can have
  strided_layout(const array_layout& layout, const region& selected);

  /// The type of one element.
  element_type type() const noexcept { return type_; }
  /// The shape of the region: axes selected by one index are removed, new axes have one element.
  const tune::shape& size() const noexcept { return size_; }
  /// The bytes from the beginning of the array to the first element of the region.
  std::size_t offset_bytes() const noexcept { return offset_bytes_; }
  /// The distance in bytes between neighbouring elements along an axis. Not checked.
  std::size_t stride_bytes(std::size_t axis) const noexcept { return strides_bytes_[axis]; }

 private:
  element_type type_;
  shape size_;
  std::size_t offset_bytes_ = 0;
  std::array<std::size_t, shape::max_rank> strides_bytes_{};
};

}  // namespace tune
