// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/testing/force_autotune.hpp"

#include <set>
#include <string>
#include <utility>

namespace tune::testing {
namespace {

using place = std::pair<std::string, unsigned>;

place place_of(const doctest::TestCaseData& test_case) {
  return {test_case.m_file.c_str(), test_case.m_line};
}

// Decorators run while static objects are initialised, in no particular order. doctest copies the
// test case that it gives to fill(), so the place is what identifies it later.
std::set<place>& forced_places() {
  static std::set<place> places;
  return places;
}

}  // namespace

void force_autotune::fill(doctest::detail::TestCase& test_case) const {
  forced_places().insert(place_of(test_case));
}

bool is_forced(const doctest::TestCaseData& test_case) {
  return forced_places().contains(place_of(test_case));
}

}  // namespace tune::testing
