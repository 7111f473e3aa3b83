// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "libtune/base/cxx20.hpp"

namespace tune::testing {

/// The exit status of a program whose test cases were all skipped; ctest knows it by
/// SKIP_RETURN_CODE.
inline constexpr int skipped_exit_status = 77;

/// Runs the program's test cases as doctest does, with autotuners returning their test defaults,
/// and understands --devices besides doctest's own options (see devices.hpp). The main of
/// libtune::testing does nothing else; call it from a main of your own where you need one, first:
/// it begins with serve_if_worker, for tests whose options ask for isolation.
/// @returns the program's exit status: zero, one if a test case failed, two if an option cannot be
///          understood, skipped_exit_status if every test case was skipped
int run_tests(int argc, char** argv);

}  // namespace tune::testing
