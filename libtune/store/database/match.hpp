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
  exact,    ///< a device with an identical identity, in both its parts
  nearest,  ///< otherwise the nearest device with a result for the same arguments
  verify,   ///< the same, but a few configurations are measured again, and the best is stored as
            ///< exact
};

/// The device whose result a lookup returned. A nearest match is never reported as an exact one.
enum class match_grade : std::uint8_t {
  exact,   ///< a device with the same identity
  nearest  ///< another device
};

/// The difference between a device and the wanted one: the first of these steps that applies.
enum class match_step : std::uint8_t {
  exact,         ///< no difference
  software,      ///< another driver, compiler or clocks, nothing else
  share,         ///< beside that, another share of the compute units of the same device
  platform,      ///< the same name on another platform, which may have another API and other limits
  architecture,  ///< another device with the same architecture and limits
  any,           ///< any other difference
};

/// Returns the step in words: "other software".
constexpr std::string_view match_step_name(match_step step) noexcept {
  // in the order of the enumeration
  constexpr std::array<std::string_view, 6> names{
      "exact", "other software", "other share", "other platform", "same architecture and limits",
      "any"};
  return names[static_cast<std::size_t>(step)];
}

}  // namespace tune
