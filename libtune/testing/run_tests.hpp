// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <doctest/doctest.h>
#include <string>

#include "libtune/base/cxx20.hpp"

namespace tune::testing {

/// The exit status of a program whose test cases were all skipped; ctest knows it by
/// SKIP_RETURN_CODE.
inline constexpr int skipped_exit_status = 77;

/// Runs the program's test cases as doctest does, with autotuners returning their test defaults,
/// and understands --devices besides doctest's own options (see devices.hpp). Where the variable
/// LC_ALL is set, C's locale is the one that it names, except for messages. The main of
/// libtune::testing does nothing else; call it from a main of your own where you need one, first:
/// it begins with serve_if_worker, for tests whose options ask for isolation.
/// @returns the program's exit status: zero, one if a test case failed, two if an option cannot be
///          understood, skipped_exit_status if every test case was skipped
int run_tests(int argc, char** argv);

/// Writes to standard error that the running test case cannot be tested here, and why. It does not
/// end the test case: return after it. A test case that was skipped and made no assertion counts
/// as skipped; a program whose test cases all were ends with exit status 77.
/// Call it on the thread that runs the test case.
void skip(const std::string& reason);

/// A doctest decorator: autotuners that the test case calls tune for real, neither reading nor
/// writing a database.
///   TEST_CASE("the tuning of multiply runs" * tune::testing::force_autotune()) { ... }
/// Needs libtune::testing's main, or run_tests.
struct force_autotune {
  /// Called by doctest for the test case that bears the decorator.
  void fill(doctest::detail::TestCase& test_case) const;
};

}  // namespace tune::testing
