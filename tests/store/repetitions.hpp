// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdlib>

namespace tune::testing {

/// How often a test tries what chance decides: a few times, or all of them where the environment
/// has LIBTUNE_TEST_LONG.
inline int repetitions(int quick, int full) {
  return std::getenv("LIBTUNE_TEST_LONG") != nullptr ? full : quick;
}

}  // namespace tune::testing
