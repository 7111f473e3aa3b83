// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "libtune/base/cxx20.hpp"

namespace tune {

/// The devices whose results a lookup may return.
enum class match_mode : std::uint8_t {
  exact,    ///< only of a device with the same identity, in both its parts
  nearest,  ///< else of the nearest device that has one for the same arguments
  verify,   ///< the same, but a few configurations are measured again and the best is kept as exact
};

/// The device whose result a lookup returned. A nearest match never passes for an exact one.
enum class match_grade : std::uint8_t {
  exact,   ///< of a device with the same identity
  nearest  ///< of another device
};

/// The difference between a device and the one for which a result is wanted: the first of these
/// steps that holds.
enum class match_step : std::uint8_t {
  exact,         ///< not at all
  software,      ///< other driver, compiler or clocks, nothing else
  platform,      ///< the same name on another platform, which may have another API and other limits
  architecture,  ///< another device with the same architecture and limits
  any,           ///< anything else
};

/// The step in words: "other software".
constexpr std::string_view match_step_name(match_step step) noexcept {
  // In the order of the enumeration.
  constexpr std::array<std::string_view, 5> names{"exact", "other software", "other platform",
                                                  "same architecture and limits", "any"};
  return names[static_cast<std::size_t>(step)];
}

}  // namespace tune
