// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "tests/operations/telescope/numpy_random.hpp"

#include <doctest/doctest.h>

namespace numpy_random_test {

TEST_CASE("uniform numbers are numpy's") {
  numpy_random random(1);
  CHECK(random.random_sample() == 0.417022004702574);
  CHECK(random.random_sample() == 0.7203244934421581);
}

TEST_CASE("normal numbers are numpy's") {
  numpy_random random(1);
  for (const double expected : {1.6243453636632417, -0.6117564136500754, -0.5281717522634557}) {
    CHECK(random.standard_normal() == doctest::Approx(expected).epsilon(1e-15));
  }
}

TEST_CASE("whole numbers are numpy's") {
  numpy_random random(1);
  for (const int expected : {37, 235, 908, 72, 767, 905, 715, 645}) {
    CHECK(random.randint(0, 1000) == expected);
  }
}

}  // namespace numpy_random_test
