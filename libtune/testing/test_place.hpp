// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <doctest/doctest.h>
#include <string>
#include <utility>

namespace tune::testing {

/// The place of a test case, which identifies it for its decorators. They run during the
/// initialisation of static objects, in no particular order, and doctest copies the test case that
/// it passes to them.
using test_place = std::pair<std::string, unsigned>;

inline test_place place_of(const doctest::TestCaseData& test_case) {
  return {test_case.m_file.c_str(), test_case.m_line};
}

}  // namespace tune::testing
