// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tune/trial.hpp"

#include <algorithm>
#include <array>

namespace tune {
namespace {

// In the order of the enumeration.
constexpr std::array<std::string_view, 12> names{
    "measured",      "skipped",      "over a device limit", "compile failed",
    "launch failed", "wrong result", "invalid time",        "failed",
    "timed out",     "crashed",      "device fault",        "out of memory"};

}  // namespace

std::string_view outcome_name(outcome result) noexcept {
  return names[static_cast<std::size_t>(result)];
}

std::optional<outcome> outcome_from_name(std::string_view name) noexcept {
  const auto found = std::ranges::find(names, name);
  if (found == names.end()) return std::nullopt;
  return static_cast<outcome>(found - names.begin());
}

}  // namespace tune
