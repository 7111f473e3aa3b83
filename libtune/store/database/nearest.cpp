// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/store/database/nearest.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string_view>
#include <utility>

#include "libtune/store/database/identity_column.hpp"

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
  return found;
}

std::size_t common_prefix(std::string_view a, std::string_view b) {
  return static_cast<std::size_t>(std::ranges::mismatch(a, b).in1 - a.begin());
}

bool comes_before(const device_identity& a, const device_identity& b) {
  for (const identity_column& column : identity_columns()) {
    const value x = column.get(a);
    const value y = column.get(b);
    if (x != y) return x < y;
  }
  return false;
}

struct rank {
  rank(const device_identity& candidate, const device_identity& wanted)
      : match{.step = step_between(candidate, wanted),
              .relaxed = differing_columns(candidate, wanted)},
        architecture_prefix(
            common_prefix(candidate.capabilities.architecture, wanted.capabilities.architecture)),
        name_prefix(common_prefix(candidate.name, wanted.name)),
        version(numbers_in(candidate.driver_version)),
        identity(&candidate) {}

  bool better_than(const rank& other) const {
    if (match.step != other.match.step) return match.step < other.match.step;
    if (architecture_prefix != other.architecture_prefix) {
      return architecture_prefix > other.architecture_prefix;
    }
    if (name_prefix != other.name_prefix) return name_prefix > other.name_prefix;
    const std::size_t differing = match.relaxed.size();
    if (differing != other.match.relaxed.size()) return differing < other.match.relaxed.size();
    if (version != other.version) return version > other.version;
    return comes_before(*identity, *other.identity);
  }

  nearest_match match;
  std::size_t architecture_prefix;
  std::size_t name_prefix;
  numbers version;
  const device_identity* identity;
};

bool has_other_software_only(device_identity candidate, const device_identity& wanted) {
  candidate.driver_version = wanted.driver_version;
  candidate.performance.compiler = wanted.performance.compiler;
  candidate.performance.clock_mhz = wanted.performance.clock_mhz;
  candidate.performance.memory_clock_mhz = wanted.performance.memory_clock_mhz;
  return candidate == wanted;
}

}  // namespace

match_step step_between(const device_identity& candidate, const device_identity& wanted) {
  if (candidate == wanted) return match_step::exact;
  if (has_other_software_only(candidate, wanted)) return match_step::software;
  if (candidate.name == wanted.name && candidate.platform != wanted.platform) {
    return match_step::platform;
  }
  return candidate.capabilities == wanted.capabilities ? match_step::architecture : match_step::any;
}

std::vector<nearest_match> rank_nearest(std::span<const device_identity> candidates,
                                        const device_identity& wanted) {
  std::vector<rank> ranks;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    ranks.emplace_back(candidates[i], wanted).match.index = i;
  }
  std::ranges::stable_sort(ranks, [](const rank& a, const rank& b) { return a.better_than(b); });
  std::vector<nearest_match> matches;
  for (rank& one : ranks) matches.push_back(std::move(one.match));
  return matches;
}

}  // namespace tune
