// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/store/nearest.hpp"

#include <algorithm>
#include <compare>
#include <cstdint>
#include <limits>
#include <string_view>
#include <tuple>

namespace tune {
namespace {

using numbers = std::vector<std::uint64_t>;

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
    const bool digit = c >= '0' && c <= '9';
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

/// What has to be relaxed for the candidate to do, as a count of columns.
std::size_t relaxations(const device_identity& candidate, const device_identity& wanted) {
  if (candidate.name != wanted.name) return 3;
  if (candidate.platform != wanted.platform) return 2;
  return candidate.driver_version != wanted.driver_version ? 1 : 0;
}

auto as_tuple(const device_identity& device) {
  return std::tie(device.name, device.platform, device.driver_version);
}

struct rank {
  rank(const device_identity& candidate, const device_identity& wanted)
      : steps(relaxations(candidate, wanted)),
        name_prefix(common_prefix(candidate.name, wanted.name)),
        platform_prefix(common_prefix(candidate.platform, wanted.platform)),
        version(numbers_in(candidate.driver_version)),
        version_distance(distance(version, numbers_in(wanted.driver_version))),
        identity(&candidate) {}

  bool better_than(const rank& other) const {
    if (steps != other.steps) return steps < other.steps;
    if (name_prefix != other.name_prefix) return name_prefix > other.name_prefix;
    if (platform_prefix != other.platform_prefix) return platform_prefix > other.platform_prefix;
    if (version_distance != other.version_distance) {
      return version_distance < other.version_distance;
    }
    if (version != other.version) return version > other.version;
    return as_tuple(*identity) < as_tuple(*other.identity);
  }

  std::size_t steps;
  std::size_t name_prefix;
  std::size_t platform_prefix;
  numbers version;
  numbers version_distance;
  const device_identity* identity;
};

}  // namespace

std::optional<nearest_match> find_nearest(std::span<const device_identity> candidates,
                                          const device_identity& wanted) {
  if (candidates.empty()) return std::nullopt;
  std::vector<rank> ranks;
  for (const device_identity& candidate : candidates) ranks.emplace_back(candidate, wanted);
  const auto best = std::ranges::min_element(
      ranks, [](const rank& a, const rank& b) { return a.better_than(b); });
  const std::vector<std::string> order{"device_version", "device_platform", "device_name"};
  return nearest_match{
      .index = static_cast<std::size_t>(best - ranks.begin()),
      .relaxed = {order.begin(), order.begin() + static_cast<std::ptrdiff_t>(best->steps)}};
}

}  // namespace tune
