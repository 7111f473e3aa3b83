// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "libtune/base/cxx20.hpp"

namespace tune::detail {

/// Lives while its thread has a transaction or a running statement in a tuning database, and so
/// may keep other processes waiting. Nothing is compiled or timed meanwhile.
class [[nodiscard]] database_use {
 public:
  database_use() noexcept;
  ~database_use();
  database_use(const database_use&) = delete;
  database_use& operator=(const database_use&) = delete;

  /// Whether there is one on this thread.
  static bool is_active() noexcept;
};

}  // namespace tune::detail
