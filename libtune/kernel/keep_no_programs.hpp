// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "libtune/base/cxx20.hpp"

namespace tune {

/// While one lives, programs compiled on this thread are taken from the cache if they are there,
/// but none is added: to ask a driver for a program's binary can cost as much as compiling it, and
/// of those that a search compiles in this process one will be used again.
class [[nodiscard]] keep_no_programs {
 public:
  keep_no_programs() noexcept;
  ~keep_no_programs();
  keep_no_programs(const keep_no_programs&) = delete;
  keep_no_programs& operator=(const keep_no_programs&) = delete;

  /// Whether there is one on this thread.
  static bool is_active() noexcept;
};

}  // namespace tune
