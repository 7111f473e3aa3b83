// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/store/database/identity_column.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <string_view>
#include <utility>

namespace tune {
namespace {

template <class Device, class Field>
auto& part_with(Device& device, Field device_identity::*) {
  return device;
}
template <class Device, class Field>
auto& part_with(Device& device, Field device_capabilities::*) {
  return device.capabilities;
}
template <class Device, class Field>
auto& part_with(Device& device, Field device_performance::*) {
  return device.performance;
}

template <auto Member>
value get(const device_identity& device) {
  return part_with(device, Member).*Member;
}

template <auto Member>
void set(device_identity& device, const value& v) {
  auto& target = part_with(device, Member).*Member;
  target = value_traits<std::remove_reference_t<decltype(target)>>::from_value(v);
}

template <auto Member>
constexpr identity_column capability(const char* name) {
  return {name, true, get<Member>, set<Member>};
}

template <auto Member>
constexpr identity_column performance(const char* name) {
  return {name, false, get<Member>, set<Member>};
}

using identity = device_identity;
using part = device_capabilities;

constexpr std::array columns{
    capability<&part::api>("device_api"),
    capability<&part::architecture>("device_architecture"),
    capability<&part::simd_group>("device_simd_group"),
    capability<&part::work_group>("device_work_group"),
    capability<&part::work_group_x>("device_work_group_x"),
    capability<&part::work_group_y>("device_work_group_y"),
    capability<&part::work_group_z>("device_work_group_z"),
    capability<&part::local_memory_bytes>("device_local_memory_bytes"),
    capability<&part::dynamic_local_memory_bytes>("device_dynamic_local_memory_bytes"),
    capability<&part::registers>("device_registers"),
    performance<&identity::name>("device_name"),
    performance<&identity::platform>("device_platform"),
    performance<&device_performance::compute_units>("device_compute_units"),
    performance<&device_performance::cache_kib>("device_cache_kib"),
    performance<&device_performance::memory_bus_bits>("device_memory_bus_bits"),
    performance<&device_performance::memory_gib>("device_memory_gib"),
    performance<&device_performance::memory_clock_mhz>("device_memory_clock_mhz"),
    performance<&device_performance::clock_mhz>("device_clock_mhz"),
    performance<&device_performance::compiler>("device_compiler"),
    performance<&identity::driver_version>("device_version"),
};

}  // namespace

std::span<const identity_column> identity_columns() noexcept { return columns; }

std::string identity_column_sql(const identity_column& column) {
  const bool is_text = std::holds_alternative<std::string>(column.get({}));
  return std::string("\"") + column.name +
         (is_text ? "\" TEXT NOT NULL DEFAULT ''" : "\" INTEGER NOT NULL DEFAULT 0");
}

std::vector<std::string> differing_columns(const device_identity& a, const device_identity& b) {
  std::vector<std::string> names;
  for (const identity_column& column : columns) {
    if (column.get(a) != column.get(b)) names.emplace_back(column.name);
  }
  std::ranges::reverse(names);  // clang 15 cannot compile std::views::reverse
  return names;
}

std::string canonical_text(const device_identity& device) {
  std::string text;
  for (const identity_column& column : columns) text += canonical_text(column.get(device)) + ';';
  return text;
}

}  // namespace tune

namespace tune::detail {

json plain_json(const device_identity& device) {
  return {{"name", device.name}, {"platform", device.platform}, {"version", device.driver_version}};
}

json exact_json(const function_identity& function) {
  return {{"name", function.name},
          {"version", function.version},
          {"key_fields", exact_json(function.key_fields)},
          {"value_fields", exact_json(function.value_fields)}};
}

json exact_json(const device_identity& device) {
  json object = json::object();
  for (const identity_column& column : identity_columns()) {
    object[column.name] = exact_json(column.get(device));
  }
  return object;
}

function_identity function_from_json(const input& object) {
  function_identity function;
  function.name = text_from_json(member(object, "name"));
  const input& version = member(object, "version");
  if (!version.is_number_unsigned() || version.get<std::uint64_t>() > 1'000'000'000) {
    refuse_document("'version' is no small number");
  }
  function.version = version.get<int>();
  function.key_fields = fields_from_json(object, "key_fields");
  function.value_fields = fields_from_json(object, "value_fields");
  return function;
}

device_identity device_from_json(const input& object) {
  device_identity device;
  for (const identity_column& column : identity_columns()) {
    const value_kind kind = kind_of(column.get(device));
    column.set(device, value_from_json(member(object, column.name), kind));
  }
  return device;
}

}  // namespace tune::detail

namespace tune {
namespace {

using numbers = std::vector<std::uint64_t>;

bool is_version_digit(char c) { return c >= '0' && c <= '9'; }

// Saturates: versions with a number beyond 64 bits are still compared, roughly.
std::uint64_t append_digit(std::uint64_t number, char digit) {
  constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
  const auto added = static_cast<std::uint64_t>(digit - '0');
  return number > (most - added) / 10 ? most : number * 10 + added;
}

/// Returns 535, 104, 2 for "535.104-b2".
numbers numbers_in(std::string_view version) {
  numbers found;
  bool inside = false;
  for (const char c : version) {
    const bool digit = is_version_digit(c);
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

bool has_other_software_only(device_identity candidate, const device_identity& wanted) {
  candidate.driver_version = wanted.driver_version;
  candidate.performance.compiler = wanted.performance.compiler;
  candidate.performance.clock_mhz = wanted.performance.clock_mhz;
  candidate.performance.memory_clock_mhz = wanted.performance.memory_clock_mhz;
  return candidate == wanted;
}

bool is_another_share(device_identity candidate, const device_identity& wanted) {
  candidate.performance.compute_units = wanted.performance.compute_units;
  return has_other_software_only(std::move(candidate), wanted);
}

/// The greater number of compute units over the lesser one; at least 1.
double ratio_of_units(const device_identity& a, const device_identity& b) {
  const auto [least, most] = std::minmax({std::max<std::int64_t>(1, a.performance.compute_units),
                                          std::max<std::int64_t>(1, b.performance.compute_units)});
  return static_cast<double>(most) / static_cast<double>(least);
}

struct rank {
  rank(const device_identity& candidate, const device_identity& wanted)
      : match{.step = step_between(candidate, wanted),
              .relaxed = differing_columns(candidate, wanted)},
        architecture_prefix(
            common_prefix(candidate.capabilities.architecture, wanted.capabilities.architecture)),
        name_prefix(common_prefix(candidate.name, wanted.name)),
        share(match.step == match_step::share ? ratio_of_units(candidate, wanted) : 1),
        version(numbers_in(candidate.driver_version)),
        identity(&candidate) {}

  bool better_than(const rank& other) const {
    if (match.step != other.match.step) return match.step < other.match.step;
    if (architecture_prefix != other.architecture_prefix) {
      return architecture_prefix > other.architecture_prefix;
    }
    if (name_prefix != other.name_prefix) return name_prefix > other.name_prefix;
    if (share != other.share) return share < other.share;
    const std::size_t differing = match.relaxed.size();
    if (differing != other.match.relaxed.size()) return differing < other.match.relaxed.size();
    if (version != other.version) return version > other.version;
    return comes_before(*identity, *other.identity);
  }

  nearest_match match;
  std::size_t architecture_prefix;
  std::size_t name_prefix;
  double share;  // of another share of the same device, the ratio of the compute units
  numbers version;
  const device_identity* identity;
};

}  // namespace

match_step step_between(const device_identity& candidate, const device_identity& wanted) {
  if (candidate == wanted) return match_step::exact;
  if (has_other_software_only(candidate, wanted)) return match_step::software;
  if (is_another_share(candidate, wanted)) return match_step::share;
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
  matches.reserve(ranks.size());
  for (rank& one : ranks) matches.push_back(std::move(one.match));
  return matches;
}

}  // namespace tune
