// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "libtune/base/cxx20.hpp"

namespace tune::detail {

/// The behavior of autotuners in a test program. Only the testing library sets it.
enum class test_mode : std::uint8_t {
  off,       ///< not a test: look up, tune, store
  defaults,  ///< return the declared test default and touch no database
  forced,    ///< tune for real, neither reading nor writing a database
};

/// Process-wide and thread-safe. It is a seam for the test main, not configuration: an application
/// that links libtune without the testing library can only ever see off.
test_mode current_test_mode() noexcept;
void set_test_mode(test_mode mode) noexcept;

/// Makes searches run in the process itself where neither options nor LIBTUNE_ISOLATION say
/// otherwise: tests are to fail where they can be looked at.
void tune_here_by_default() noexcept;

}  // namespace tune::detail
