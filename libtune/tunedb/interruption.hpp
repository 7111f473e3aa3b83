// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <csignal>

namespace tune::cli {

/// While it lives, the first SIGINT or SIGTERM is noted and does nothing else; the second ends the
/// process as usual. One at a time.
class [[nodiscard]] interruption {
 public:
  interruption();
  ~interruption();
  interruption(const interruption&) = delete;
  interruption& operator=(const interruption&) = delete;

  /// True after a signal. Thread-safe.
  static bool has_come() noexcept;

 private:
  struct sigaction before_interrupt_ {};
  struct sigaction before_terminate_ {};
};

}  // namespace tune::cli
