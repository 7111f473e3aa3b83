// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "libtune/base/cxx20.hpp"

namespace tune::detail {

/// The behaviour of autotuners in a test program. Only the testing library sets it.
enum class test_mode : std::uint8_t {
  off,       ///< not a test: look up, tune, store
  defaults,  ///< return the declared test default and touch no database
  forced,    ///< tune, and neither read nor write a database
};

/// The mode of the process. Thread-safe. Only the test main sets it: an application that links
/// libtune without the testing library always gets off.
test_mode current_test_mode() noexcept;
void set_test_mode(test_mode mode) noexcept;

/// Makes searches run in the process itself, unless options or LIBTUNE_ISOLATION say otherwise: a
/// failure in a test is then easy to debug.
void tune_here_by_default() noexcept;

}  // namespace tune::detail
