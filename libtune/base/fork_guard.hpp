// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "libtune/base/cxx20.hpp"

namespace tune::detail {

/// While one lives on any thread, a fork of this process waits. It guards short sections that hold
/// a mutex or use another library's state: the child then finds both at rest, though the threads
/// that used them do not exist there. May be nested on a thread. A section does not fork.
class [[nodiscard]] fork_guard {
 public:
  fork_guard();
  ~fork_guard();
  fork_guard(const fork_guard&) = delete;
  fork_guard& operator=(const fork_guard&) = delete;
};

}  // namespace tune::detail
