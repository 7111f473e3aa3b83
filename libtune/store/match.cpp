// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/store/match.hpp"

#include <array>
#include <cstddef>

namespace tune {

std::string_view match_step_name(match_step step) noexcept {
  // In the order of the enumeration.
  constexpr std::array<std::string_view, 5> names{"exact", "other software", "other platform",
                                                  "same architecture and limits", "any"};
  return names[static_cast<std::size_t>(step)];
}

}  // namespace tune
