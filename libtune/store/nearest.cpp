// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/store/nearest.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>
#include <tuple>

#include "libtune/store/identity_column.hpp"

namespace tune {
namespace {

using numbers = std::vector<std::uint64_t>;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Saturates: a version with a number beyond 64 bits is still compared, if roughly.
std::uint64_t append_digit(std::uint64_t number, char digit) {
  constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
  const auto added = static_cast<std::uint64_t>(digit - '0');
  return number > (most - added) / 10 ? most : number * 10 + added;
}

/// "535.104-b2" is 535, 104, 2.
numbers numbers_in(std::string_view version) {
  numbers found;
  bool inside = false;
  for (const char c : version) {
    const bool digit = is_digit(c);
    if (digit && !inside) found.push_back(0);
    if (digit) found.back() = append_digit(found.back(), c);
    inside = digit;
  }
  // So that 3 and 3.0 are the same version.
  while (!found.empty() && found.back() == 0) found.pop_back();
  return found;
}

numbers distance(const numbers& a, const numbers& b) {
  numbers result(std::max(a.size(), b.size()));
  for (std::size_t i = 0; i < result.size(); ++i) {
    const std::uint64_t x = i < a.size() ? a[i] : 0;
    const std::uint64_t y = i < b.size() ? b[i] : 0;
    result[i] = x > y ? x - y : y - x;
  }
  while (!result.empty() && result.back() == 0) result.pop_back();
  return result;
}

std::size_t common_prefix(std::string_view a, std::string_view b) {
  return static_cast<std::size_t>(std::ranges::mismatch(a, b).in1 - a.begin());
}

auto as_tuple(const device_identity& device) {
  return std::tie(device.name, device.platform, device.driver_version);
}

bool comes_before(const device_identity& a, const device_identity& b) {
  if (as_tuple(a) != as_tuple(b)) return as_tuple(a) < as_tuple(b);
  for (const identity_column& column : identity_columns()) {
    const value x = column.get(a);
    const value y = column.get(b);
    if (x != y) return x < y;
  }
  return false;
}

constexpr std::int64_t thousandths = 1000;

// Rounded, so that the last bits of a logarithm decide nothing.
std::int64_t ratio_distance(std::int64_t a, std::int64_t b) {
  if (a == b) return 0;
  if (a <= 0 || b <= 0) return thousandths;
  const double steps = std::abs(std::log2(static_cast<double>(a) / static_cast<double>(b)));
  return std::llround(steps * static_cast<double>(thousandths));
}

std::string_view letters_before_digits(std::string_view text) {
  return text.substr(0,
                     static_cast<std::size_t>(std::ranges::find_if(text, is_digit) - text.begin()));
}

std::int64_t architecture_distance(std::string_view a, std::string_view b) {
  if (a == b) return 0;
  constexpr std::int64_t tenth = thousandths / 10;
  if (letters_before_digits(a) != letters_before_digits(b)) {
    const auto shared = static_cast<std::int64_t>(common_prefix(a, b));
    return 20 * thousandths - std::min(shared, std::int64_t{90}) * tenth;
  }
  const numbers apart = distance(numbers_in(a), numbers_in(b));
  const std::uint64_t generations = apart.empty() ? 0 : std::min<std::uint64_t>(apart[0], 90);
  return thousandths + static_cast<std::int64_t>(generations) * tenth;
}

struct rank {
  rank(const device_identity& candidate, const device_identity& wanted)
      : step(relaxation(candidate, wanted)),
        hardware_distance(device_distance(candidate, wanted)),
        name_prefix(common_prefix(candidate.name, wanted.name)),
        platform_prefix(common_prefix(candidate.platform, wanted.platform)),
        version(numbers_in(candidate.driver_version)),
        version_distance(distance(version, numbers_in(wanted.driver_version))),
        identity(&candidate) {}

  bool better_than(const rank& other) const {
    if (step != other.step) return step < other.step;
    if (hardware_distance != other.hardware_distance) {
      return hardware_distance < other.hardware_distance;
    }
    if (name_prefix != other.name_prefix) return name_prefix > other.name_prefix;
    if (platform_prefix != other.platform_prefix) return platform_prefix > other.platform_prefix;
    if (version_distance != other.version_distance) {
      return version_distance < other.version_distance;
    }
    if (version != other.version) return version > other.version;
    return comes_before(*identity, *other.identity);
  }

  match_step step;
  std::int64_t hardware_distance;
  std::size_t name_prefix;
  std::size_t platform_prefix;
  numbers version;
  numbers version_distance;
  const device_identity* identity;
};

}  // namespace

match_step relaxation(const device_identity& candidate, const device_identity& wanted) {
  const bool same_limits = candidate.legality == wanted.legality;
  if (candidate.name != wanted.name) return same_limits ? match_step::name : match_step::device;
  if (candidate.platform != wanted.platform) return match_step::platform;
  match_step farthest = match_step::none;
  for (const identity_column& column : identity_columns()) {
    if (column.get(candidate) != column.get(wanted)) farthest = std::max(farthest, column.step);
  }
  return farthest;
}

std::int64_t device_distance(const device_identity& a, const device_identity& b) {
  std::int64_t sum = a.legality.api == b.legality.api ? 0 : 100 * thousandths;
  sum += architecture_distance(a.legality.architecture, b.legality.architecture);
  for (const identity_column& column : identity_columns()) {
    const value x = column.get(a);
    const value y = column.get(b);
    const auto* const number = std::get_if<std::int64_t>(&x);
    if (number != nullptr) sum += ratio_distance(*number, std::get<std::int64_t>(y));
  }
  return sum;
}

std::vector<nearest_match> rank_nearest(std::span<const device_identity> candidates,
                                        const device_identity& wanted) {
  std::vector<rank> ranks;
  for (const device_identity& candidate : candidates) ranks.emplace_back(candidate, wanted);
  std::ranges::stable_sort(ranks, [](const rank& a, const rank& b) { return a.better_than(b); });
  std::vector<nearest_match> matches;
  for (const rank& one : ranks) {
    matches.push_back({.index = static_cast<std::size_t>(one.identity - candidates.data()),
                       .step = one.step,
                       .distance = one.hardware_distance,
                       .relaxed = differing_columns(*one.identity, wanted)});
  }
  return matches;
}

std::optional<nearest_match> find_nearest(std::span<const device_identity> candidates,
                                          const device_identity& wanted) {
  if (candidates.empty()) return std::nullopt;
  return rank_nearest(candidates, wanted).front();
}

}  // namespace tune
