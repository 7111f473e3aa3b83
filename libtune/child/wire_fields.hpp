// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The fields of the structs in the messages of several protocols, in the order of transmission.
#pragma once

#include "libtune/base/value.hpp"
#include "libtune/device/device_identity.hpp"
#include "libtune/process/wire.hpp"
#include "libtune/store/database/function_identity.hpp"

namespace tune::detail {

template <>
inline constexpr auto last_of<value_type> = value_type::element_type;

void describe(auto& wire, is<named_value> auto& item) { wire(item.name, item.value); }
void describe(auto& wire, is<field_description> auto& item) {
  wire(item.name, item.type, item.optional);
}
void describe(auto& wire, is<function_identity> auto& item) {
  wire(item.name, item.version, item.key_fields, item.value_fields);
}
void describe(auto& wire, is<device_capabilities> auto& item) {
  wire(item.api, item.architecture, item.work_group, item.work_group_x, item.work_group_y,
       item.work_group_z, item.local_memory_bytes, item.dynamic_local_memory_bytes, item.registers,
       item.simd_group);
}
void describe(auto& wire, is<device_performance> auto& item) {
  wire(item.compiler, item.compute_units, item.memory_gib, item.cache_kib, item.memory_bus_bits,
       item.clock_mhz, item.memory_clock_mhz);
}
void describe(auto& wire, is<device_identity> auto& item) {
  wire(item.name, item.platform, item.driver_version, item.capabilities, item.performance);
}

}  // namespace tune::detail
