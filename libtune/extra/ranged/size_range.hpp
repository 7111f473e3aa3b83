// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "libtune/base/cxx20.hpp"
#include "libtune/base/value.hpp"

namespace tune {

/// The measure of distance between the sizes of a range, for drawing sizes from it.
enum class range_scale : std::uint8_t {
  linear,       ///< the difference
  logarithmic,  ///< the ratio
};

/// A member of a key that stands for several sizes: the multiples of a number from the lowest to
/// the highest. The tuning for a key with ranges is a portfolio for all of these sizes
/// (ranged_autotuner). A plain value; a database stores its text.
class size_range {
 public:
  /// The largest size: 2^53, up to which a double can represent each whole number.
  static constexpr std::uint64_t most = std::uint64_t{1} << 53;

  /// The single size 1.
  size_range() = default;
  /// @param low       the lowest size, at least 1; rounded up to a multiple
  /// @param high      the highest size, up to 2^53; rounded down to a multiple
  /// @param scale     for drawing sizes
  /// @param multiple  the divisor of all sizes
  /// @throws argument_error if the range is empty
  size_range(std::uint64_t low, std::uint64_t high, range_scale scale = range_scale::logarithmic,
             std::uint64_t multiple = 1);

  /// The lowest size.
  std::uint64_t low() const noexcept { return low_; }
  /// The highest size.
  std::uint64_t high() const noexcept { return high_; }
  /// The scale for drawing sizes.
  range_scale scale() const noexcept { return scale_; }
  /// The divisor of all sizes.
  std::uint64_t multiple() const noexcept { return multiple_; }

  /// True if the size is in the range.
  bool contains(std::uint64_t size) const noexcept {
    return size >= low_ && size <= high_ && (multiple_ == 1 || size % multiple_ == 0);
  }
  /// Returns the size at a fraction of the way from the lowest to the highest, on the scale.
  /// @param part  from 0 to 1
  std::uint64_t at(double part) const noexcept;
  /// Returns the fraction of the way for a size: 0 for the lowest, 1 for the highest.
  double part(std::uint64_t size) const noexcept;

  /// "16..4096", "16..4096 linear", "16..4096 of 16", "16..4096 linear of 16".
  std::string text() const;
  /// Reads a text of this form. @throws argument_error if the text has another form
  static size_range parse(std::string_view text);

  friend bool operator==(const size_range&, const size_range&) = default;

 private:
  std::uint64_t low_ = 1;
  std::uint64_t high_ = 1;
  std::uint64_t multiple_ = 1;
  range_scale scale_ = range_scale::logarithmic;
};

/// Allows ranges as members of keys.
template <>
struct value_traits<size_range> {
  static constexpr value_type type = value_type::string;
  static constexpr bool optional = false;
  static value to_value(const size_range& v) { return v.text(); }
  static size_range from_value(const value& v) {
    return size_range::parse(detail::string_from(v, type));
  }
};

/// The largest number of ranges of a key.
inline constexpr std::size_t most_ranges = 4;

/// Sizes, one for each range of a key, in the order of the ranges.
using size_list = std::vector<std::uint64_t>;

/// True if there is one size for each range, and each is in its range.
bool are_inside(std::span<const size_range> ranges, std::span<const std::uint64_t> sizes) noexcept;

/// Returns the fraction of the way of each size in its range.
std::vector<double> parts_of(std::span<const size_range> ranges,
                             std::span<const std::uint64_t> sizes);

/// Returns all combinations of the lowest and the highest sizes, without duplicates.
std::vector<size_list> corner_sizes(std::span<const size_range> ranges);

/// Returns sizes that fill ranges evenly on their scales (the sequence R_d of M. Roberts, 2018,
/// from the middle on). In small ranges, sizes may occur several times.
/// @param ranges  at least one
/// @param count   the number of sizes
/// @param skip    the number of sizes to leave out at the beginning
std::vector<size_list> spread_sizes(std::span<const size_range> ranges, std::size_t count,
                                    std::size_t skip = 0);

}  // namespace tune
