// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/sensors.hpp"
#include "libtune/extra/sensors/device_control.hpp"
#include "libtune/extra/sensors/device_probes.hpp"
#include "libtune/tune/engine/doors.hpp"

extern "C" {
const bool libtune_opens_sensors = [] {
  auto& all = tune::detail::open_doors();
  all.add_probes = tune::detail::add_device_probes;
  all.setter = []() -> tune::detail::device_setter& {
    return tune::detail::device_control::shared();
  };
  return true;
}();
}
