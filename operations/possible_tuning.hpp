// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <fmt/format.h>

#include "libtune/libtune.hpp"

namespace tune::operations {

/// True if some device may have work groups of x x y items. Devices refuse what is too much for
/// them.
constexpr bool is_group(std::size_t x, std::size_t y = 1) noexcept {
  constexpr std::size_t most = 4096;
  return x > 0 && y > 0 && x <= most && y <= most / x;
}

/// True if an item may have so many of something that its kernel unrolls a loop over.
constexpr bool is_unrolled(std::size_t count) noexcept { return count > 0 && count <= 64; }

/// Refuses a tuning of which no kernel can be compiled, or one that leaves a part of its work.
/// @param is_possible  whether it is none of these
/// @param wanted       the condition, in words
/// @throws argument_error
template <class Tuning>
void require_possible(bool is_possible, const char* operation, const Tuning& tuning,
                      const char* wanted) {
  if (is_possible) return;
  throw argument_error(fmt::format("{} cannot have the tuning {}; {}", operation,
                                   to_string(to_values(tuning)), wanted));
}

}  // namespace tune::operations
