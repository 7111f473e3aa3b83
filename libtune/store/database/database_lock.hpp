// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <string>

#include "libtune/base/file_descriptor.hpp"

namespace tune::detail {

/// Keeps a database's file in its place while somebody writes to it: all who write share the lock,
/// and who moves a damaged file aside has it alone. A journal is found by the name of its database,
/// so one that is written while its database moves would be taken for that of the next.
///
/// It is the lock of an empty file beside the database, which the system releases however a process
/// ends and which is never removed. Where such a file cannot be made or the file system has no
/// locks, nobody is kept out.
class [[nodiscard]] database_lock {
 public:
  enum class kind { shared, alone };

  /// What is appended to the database's path.
  static constexpr const char* suffix = "-lock";

  /// @param wait  for how long to wait for others, at most
  database_lock(const std::string& path, kind wanted, std::chrono::milliseconds wait);

  /// False if others still had the lock in the end.
  explicit operator bool() const noexcept { return held_; }

 private:
  file_descriptor file_;  // closing it releases the lock
  bool held_ = true;
};

}  // namespace tune::detail
