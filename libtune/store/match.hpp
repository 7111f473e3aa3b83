// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "libtune/base/cxx20.hpp"

namespace tune {

/// Whose results a lookup may return.
enum class match_mode : std::uint8_t {
  exact,    ///< only of a device with the same identity, in both its parts
  nearest,  ///< else of the nearest device that has one for the same arguments
  verify,   ///< the same, but a few configurations are measured again and the best is kept as exact
};

/// Whose result a lookup returned. A nearest match never passes for an exact one.
enum class match_grade : std::uint8_t { exact, nearest };

/// How far what has to match had to be relaxed for a device to stand in for another. Each step
/// takes in those before it.
enum class match_step : std::uint8_t {
  none,           ///< the same identity
  driver,         ///< another driver of the same device
  compiler,       ///< another compiler
  clocks,         ///< other clocks
  memory,         ///< other memory, bus or cache
  compute_units,  ///< another number of compute units
  limits,         ///< another limit or architecture under the same name and platform
  platform,       ///< another platform or API for a device of the same name
  name,           ///< another device that has the same limits and the same architecture
  device,         ///< any other device
};

/// The step in words: "compute units".
constexpr std::string_view match_step_name(match_step step) noexcept {
  // In the order of the enumeration.
  constexpr std::array<std::string_view, 10> names{
      "none",          "driver", "compiler", "clocks", "memory",
      "compute units", "limits", "platform", "name",   "device"};
  return names[static_cast<std::size_t>(step)];
}

}  // namespace tune
