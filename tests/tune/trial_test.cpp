// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tune/trial.hpp"

#include <doctest/doctest.h>
#include <set>
#include <string>

TEST_CASE("every outcome has words of its own") {
  std::set<std::string> names;
  for (int i = 0; i <= static_cast<int>(tune::outcome::failed); ++i) {
    const std::string name(tune::outcome_name(static_cast<tune::outcome>(i)));
    CHECK_FALSE(name.empty());
    CHECK(names.insert(name).second);
  }
}
