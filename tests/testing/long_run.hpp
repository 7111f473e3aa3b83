// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <doctest/doctest.h>

namespace tune::testing {

/// True in the long tests (--no-skip), which try all that the quick ones try a few of.
inline bool is_long_run() { return doctest::getContextOptions()->no_skip; }

}  // namespace tune::testing
