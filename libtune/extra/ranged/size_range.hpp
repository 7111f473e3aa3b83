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

/// The distance between sizes of a range, by which sizes are drawn from it.
enum class range_scale : std::uint8_t {
  linear,       ///< the difference
  logarithmic,  ///< the ratio
};

/// The sizes that one member of a key stands for: the multiples of a number from the lowest to the
/// highest. A tuning for the key then is a portfolio, for all of these sizes (ranged_autotuner).
/// A plain value. In a database it is its text.
class size_range {
 public:
  /// The greatest size: 2^53, up to which a double has each whole number.
  static constexpr std::uint64_t most = std::uint64_t{1} << 53;

  /// The size 1 alone.
  size_range() = default;
  /// @param low       the least size, at least 1; rounded up to a multiple
  /// @param high      the greatest size, up to 2^53; rounded down to a multiple
  /// @param scale     by which sizes are drawn
  /// @param multiple  all sizes are multiples of it
  /// @throws argument_error if there is no such size
  size_range(std::uint64_t low, std::uint64_t high, range_scale scale = range_scale::logarithmic,
             std::uint64_t multiple = 1);

  /// The least size.
  std::uint64_t low() const noexcept { return low_; }
  /// The greatest size.
  std::uint64_t high() const noexcept { return high_; }
  /// The scale by which sizes are drawn.
  range_scale scale() const noexcept { return scale_; }
  /// All sizes are multiples of it.
  std::uint64_t multiple() const noexcept { return multiple_; }

  /// True if the size is one of the range.
  bool contains(std::uint64_t size) const noexcept {
    return size >= low_ && size <= high_ && (multiple_ == 1 || size % multiple_ == 0);
  }
  /// Returns the size of the range at this part of the way from the lowest to the highest.
  /// @param part  from 0 to 1
  std::uint64_t at(double part) const noexcept;
  /// Returns the part of the way at which a size is: 0 for the lowest, 1 for the highest.
  double part(std::uint64_t size) const noexcept;

  /// "16..4096", "16..4096 linear", "16..4096 of 16", "16..4096 linear of 16".
  std::string text() const;
  /// @throws argument_error if the text is none of a range
  static size_range parse(std::string_view text);

  friend bool operator==(const size_range&, const size_range&) = default;

 private:
  std::uint64_t low_ = 1;
  std::uint64_t high_ = 1;
  std::uint64_t multiple_ = 1;
  range_scale scale_ = range_scale::logarithmic;
};

/// Members of keys may be ranges.
template <>
struct value_traits<size_range> {
  static constexpr value_type type = value_type::string;
  static constexpr bool optional = false;
  static value to_value(const size_range& v) { return v.text(); }
  static size_range from_value(const value& v) {
    return size_range::parse(detail::string_from(v, type));
  }
};

/// The most ranges of a key.
inline constexpr std::size_t most_ranges = 4;

/// Sizes, one for each range of a key, in their order.
using size_list = std::vector<std::uint64_t>;

/// True if there is one size for each range, and each is one of its range.
bool are_inside(std::span<const size_range> ranges, std::span<const std::uint64_t> sizes) noexcept;

/// Returns the part of the way of each size in its range.
std::vector<double> parts_of(std::span<const size_range> ranges,
                             std::span<const std::uint64_t> sizes);

/// Returns all combinations of the lowest and the highest sizes, each once.
std::vector<size_list> corner_sizes(std::span<const size_range> ranges);

/// Returns sizes that fill ranges evenly by their scales (the sequence R_d of M. Roberts, 2018,
/// from the middle on). Small ranges have some of them more than once.
/// @param ranges  one at least
/// @param count   how many
/// @param skip    so many are left out at the beginning
std::vector<size_list> spread_sizes(std::span<const size_range> ranges, std::size_t count,
                                    std::size_t skip = 0);

}  // namespace tune
