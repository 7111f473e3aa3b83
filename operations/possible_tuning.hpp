// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <fmt/format.h>

#include "libtune/libtune.hpp"

namespace tune::operations {

/// True if some device may have work groups of x x y items. A device itself refuses larger groups
/// than it supports.
constexpr bool is_group(std::size_t x, std::size_t y = 1) noexcept {
  constexpr std::size_t most = 4096;
  return x > 0 && y > 0 && x <= most && y <= most / x;
}

/// True if a kernel can unroll a loop over this many values of an item.
constexpr bool is_unrolled(std::size_t count) noexcept { return count > 0 && count <= 64; }

/// Throws for a tuning that cannot be compiled, or that leaves out a part of the work.
/// @param is_possible  false for these tunings
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
