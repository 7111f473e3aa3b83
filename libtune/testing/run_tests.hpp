// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <doctest/doctest.h>
#include <string>

#include "libtune/base/cxx20.hpp"

namespace tune::testing {

/// The exit status of a program whose test cases were all skipped, for ctest's SKIP_RETURN_CODE.
inline constexpr int skipped_exit_status = 77;

/// Runs the program's test cases as doctest does, with autotuners returning their test defaults,
/// and supports --devices in addition to doctest's own options (see devices.hpp). If the variable
/// LC_ALL is set, C's locale is the one that it names, except for messages. The main of
/// libtune::testing does nothing else. Call it at the start of a main of your own: it begins with
/// serve_if_worker, for tests whose options require isolation.
/// @returns the program's exit status: zero, one if a test case failed, two for an invalid option,
///          skipped_exit_status if every test case was skipped
int run_tests(int argc, char** argv);

/// Writes to standard error that the running test case cannot be tested here, and the reason. It
/// does not end the test case: return after it. A skipped test case without assertions counts as
/// skipped; if all are skipped, the program ends with exit status 77. Call it on the thread that
/// runs the test case.
void skip(const std::string& reason);

/// A doctest decorator: autotuners that the test case calls tune for real, and neither read nor
/// write a database.
///   TEST_CASE("the tuning of multiply runs" * tune::testing::force_autotune()) { ... }
/// Needs libtune::testing's main, or run_tests.
struct force_autotune {
  /// Called by doctest for the decorated test case.
  void fill(doctest::detail::TestCase& test_case) const;
};

}  // namespace tune::testing
