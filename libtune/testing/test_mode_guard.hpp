// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "libtune/tune/test_mode.hpp"

namespace tune::testing {

using detail::test_mode;

/// Sets what autotuners do until the end of the scope, then puts back what was set before.
/// test_mode::off lets a test follow the path of an application; give it a database of its own
/// first. The mode belongs to the whole process.
class [[nodiscard]] test_mode_guard {
 public:
  /// Sets the mode for all threads.
  explicit test_mode_guard(test_mode mode) noexcept : before_(detail::current_test_mode()) {
    detail::set_test_mode(mode);
  }
  ~test_mode_guard() { detail::set_test_mode(before_); }
  test_mode_guard(const test_mode_guard&) = delete;
  test_mode_guard& operator=(const test_mode_guard&) = delete;

 private:
  test_mode before_;
};

/// A doctest fixture for test programs that have a main of their own: autotuners return their test
/// default and touch no database. Under libtune::testing's main every test has it already.
class autotune_defaults {
 private:
  test_mode_guard guard_{test_mode::defaults};
};

}  // namespace tune::testing
