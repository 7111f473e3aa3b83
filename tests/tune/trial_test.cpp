// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tune/trial.hpp"

#include <doctest/doctest.h>
#include <set>
#include <string>

namespace trial_test {

TEST_CASE("every outcome has words of its own") {
  std::set<std::string> names;
  for (int i = 0; i <= static_cast<int>(tune::outcome::out_of_memory); ++i) {
    const std::string name(tune::outcome_name(static_cast<tune::outcome>(i)));
    CHECK_FALSE(name.empty());
    CHECK(names.insert(name).second);
  }
}

TEST_CASE("an outcome is found again by its words, and by no others") {
  for (int i = 0; i < 12; ++i) {
    const auto result = static_cast<tune::outcome>(i);
    CHECK(tune::outcome_from_name(tune::outcome_name(result)) == result);
  }
  CHECK_FALSE(tune::outcome_from_name("exploded"));
  CHECK_FALSE(tune::outcome_from_name(""));
}

}  // namespace trial_test
