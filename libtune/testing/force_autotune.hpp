// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <doctest/doctest.h>

#include "libtune/base/cxx20.hpp"

namespace tune::testing {

/// A doctest decorator: autotuners that the test case calls tune for real, neither reading nor
/// writing a database.
///   TEST_CASE("the tuning of multiply runs" * tune::testing::force_autotune()) { ... }
/// Needs libtune::testing's main, or run_tests.
struct force_autotune {
  /// Called by doctest for the test case that bears the decorator.
  void fill(doctest::detail::TestCase& test_case) const;
};

/// Whether a test case bears the decorator.
bool is_forced(const doctest::TestCaseData& test_case);

}  // namespace tune::testing
