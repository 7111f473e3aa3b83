// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/store/database/identity_column.hpp"

#include <algorithm>
#include <array>

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
