// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/sensors/energy_sensor.hpp"

#include <exception>
#include <list>
#include <mutex>
#include <utility>
#include <vector>

#include "libtune/base/error.hpp"
#include "libtune/base/never_destroyed.hpp"
#include "libtune/device/device.hpp"
#include "libtune/extra/sensors/nvml.hpp"
#include "libtune/extra/sensors/rapl.hpp"

namespace tune {
namespace {

struct registry {
  std::mutex mutex;
  std::list<energy_sensor_factory> factories;  // the latest first
};

registry& all() {
  static detail::never_destroyed<registry> kept;
  return *kept;
}

std::vector<energy_sensor_factory> factories() {
  const std::lock_guard lock(all().mutex);
  return {all().factories.begin(), all().factories.end()};
}

}  // namespace

registered_energy_sensor::registered_energy_sensor(energy_sensor_factory factory) {
  if (!factory) throw argument_error("registered_energy_sensor was given no factory");
  const std::lock_guard lock(all().mutex);
  place_ = &all().factories.emplace_front(std::move(factory));
}

registered_energy_sensor::~registered_energy_sensor() {
  const std::lock_guard lock(all().mutex);
  all().factories.remove_if([&](const auto& item) { return &item == place_; });
}

found_energy_sensor find_energy_sensor(const device& of) {
  try {
    for (const energy_sensor_factory& make : factories()) {
      if (auto made = make(of)) return {std::move(made), {}};
    }
    if (of.kind() == device_kind::cpu) {
      return {detail::make_rapl_sensor(), {}};
    }
    return {detail::make_nvml_sensor(of.info()), {}};
  } catch (const std::exception& failure) {
    return {nullptr, failure.what()};
  }
}

}  // namespace tune
