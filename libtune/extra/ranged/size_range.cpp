// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/ranged/size_range.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fmt/format.h>
#include <optional>

#include "libtune/base/error.hpp"

namespace tune {
namespace {

std::optional<std::uint64_t> take_number(std::string_view& text) {
  std::uint64_t number = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (fault != std::errc()) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

bool take(std::string_view& text, std::string_view word) {
  if (!text.starts_with(word)) return false;
  text.remove_prefix(word.size());
  return true;
}

/// The steps of the sequence R_d: inverse powers of the root of x^(d+1) = x + 1.
std::vector<double> steps_of(std::size_t dimensions) {
  double root = 2;
  for (int i = 0; i < 64; ++i) root = std::pow(1 + root, 1 / static_cast<double>(dimensions + 1));
  std::vector<double> steps;
  for (std::size_t d = 1; d <= dimensions; ++d) {
    steps.push_back(std::pow(root, -static_cast<double>(d)));
  }
  return steps;
}

}  // namespace

size_range::size_range(std::uint64_t low, std::uint64_t high, range_scale scale,
                       std::uint64_t multiple)
    : multiple_(multiple), scale_(scale) {
  if (low == 0 || multiple == 0 || multiple > most || high > most || low > high) {
    throw argument_error(
        fmt::format("there is no range of sizes from {} to {} in multiples of {}; it begins with 1 "
                    "or more, and its end and its multiple are 2^53 or less",
                    low, high, multiple));
  }
  low_ = (low + multiple - 1) / multiple * multiple;
  high_ = high / multiple * multiple;
  if (low_ <= high_) return;
  throw argument_error(
      fmt::format("no multiple of {} lies between {} and {}", multiple, low, high));
}

std::uint64_t size_range::at(double part) const noexcept {
  const auto low = static_cast<double>(low_);
  const auto high = static_cast<double>(high_);
  const double exact =
      scale_ == range_scale::linear ? low + part * (high - low) : low * std::pow(high / low, part);
  const auto step = static_cast<double>(multiple_);
  const auto nearest = static_cast<std::uint64_t>(std::llround(exact / step)) * multiple_;
  return std::clamp(nearest, low_, high_);
}

double size_range::part(std::uint64_t size) const noexcept {
  if (low_ == high_) return 0;
  const auto low = static_cast<double>(low_);
  const auto high = static_cast<double>(high_);
  const auto own = static_cast<double>(std::max<std::uint64_t>(size, 1));
  return scale_ == range_scale::linear ? (own - low) / (high - low)
                                       : std::log(own / low) / std::log(high / low);
}

std::string size_range::text() const {
  std::string text = fmt::format("{}..{}", low_, high_);
  if (scale_ == range_scale::linear) text += " linear";
  if (multiple_ != 1) text += fmt::format(" of {}", multiple_);
  return text;
}

size_range size_range::parse(std::string_view text) {
  std::string_view rest = text;
  const auto low = take_number(rest);
  const bool has_dots = take(rest, "..");
  const auto high = take_number(rest);
  const auto scale = take(rest, " linear") ? range_scale::linear : range_scale::logarithmic;
  std::optional<std::uint64_t> multiple = 1;
  if (take(rest, " of ")) multiple = take_number(rest);
  if (low && has_dots && high && multiple && rest.empty()) return {*low, *high, scale, *multiple};
  throw argument_error(
      fmt::format("'{}' is not a range of sizes; write one as '16..4096', '16..4096 linear' or "
                  "'16..4096 of 16'",
                  text));
}

bool are_inside(std::span<const size_range> ranges, std::span<const std::uint64_t> sizes) noexcept {
  if (sizes.size() != ranges.size()) return false;
  for (std::size_t d = 0; d < sizes.size(); ++d) {
    if (!ranges[d].contains(sizes[d])) return false;
  }
  return true;
}

std::vector<double> parts_of(std::span<const size_range> ranges,
                             std::span<const std::uint64_t> sizes) {
  std::vector<double> parts;
  for (std::size_t d = 0; d < ranges.size(); ++d) parts.push_back(ranges[d].part(sizes[d]));
  return parts;
}

std::vector<size_list> corner_sizes(std::span<const size_range> ranges) {
  std::vector<size_list> corners;
  for (std::size_t bits = 0; bits < std::size_t{1} << ranges.size(); ++bits) {
    size_list corner;
    for (std::size_t d = 0; d < ranges.size(); ++d) {
      corner.push_back((bits >> d & 1) != 0 ? ranges[d].high() : ranges[d].low());
    }
    if (std::ranges::find(corners, corner) == corners.end()) corners.push_back(std::move(corner));
  }
  return corners;
}

std::vector<size_list> spread_sizes(std::span<const size_range> ranges, std::size_t count,
                                    std::size_t skip) {
  const std::vector<double> steps = steps_of(ranges.size());
  std::vector<size_list> all;
  for (std::size_t i = skip; i < skip + count; ++i) {
    size_list& at = all.emplace_back();
    for (std::size_t d = 0; d < ranges.size(); ++d) {
      const double exact = 0.5 + static_cast<double>(i) * steps[d];
      at.push_back(ranges[d].at(exact - std::floor(exact)));
    }
  }
  return all;
}

}  // namespace tune
