// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tune/trial.hpp"

#include <array>

namespace tune {

std::string_view outcome_name(outcome result) noexcept {
  // In the order of the enumeration.
  constexpr std::array<std::string_view, 8> names{
      "measured",      "skipped",      "over a device limit", "compile failed",
      "launch failed", "wrong result", "invalid time",        "failed"};
  return names[static_cast<std::size_t>(result)];
}

}  // namespace tune
