// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/process/child_environment.hpp"

#include <algorithm>
#include <array>
#include <doctest/doctest.h>

#include "libtune/testing/fixtures.hpp"

namespace child_environment_test {

using tune::detail::environment_of_child;
using tune::detail::uncut_list;

std::size_t count(const std::vector<std::string>& environment, const std::string& variable) {
  return static_cast<std::size_t>(std::ranges::count(environment, variable));
}

TEST_CASE("a list that was cut at a colon is whole again for a child") {
  CHECK(uncut_list("libpocl.so.2:libnvidia-opencl.so.1", "libpocl.so.2") ==
        "libpocl.so.2:libnvidia-opencl.so.1");
  CHECK(uncut_list("a:b:c", "a:b") == "a:b:c");
  CHECK(uncut_list(":b", "") == ":b");
}

TEST_CASE("a list that the application has changed stays as it is") {
  CHECK(uncut_list("a:b", "a:b") == "a:b");
  CHECK(uncut_list("a:b", "b") == "b");
  CHECK(uncut_list("ab:c", "a") == "a");
  CHECK(uncut_list("a", "a:b") == "a:b");
  CHECK(uncut_list(std::nullopt, "a") == "a");
}

TEST_CASE("a child finds this process's environment, and what it is given in its place") {
  const tune::testing::scoped_environment kept("LIBTUNE_TEST_KEPT", "1=2");
  const tune::testing::scoped_environment replaced("LIBTUNE_TEST", "old");
  const std::array<std::string, 2> given{"LIBTUNE_TEST=new", "LIBTUNE_TEST_MORE="};
  const auto environment = environment_of_child(given);
  CHECK(count(environment, "LIBTUNE_TEST_KEPT=1=2") == 1);
  CHECK(count(environment, "LIBTUNE_TEST=new") == 1);
  CHECK(count(environment, "LIBTUNE_TEST=old") == 0);
  CHECK(count(environment, "LIBTUNE_TEST_MORE=") == 1);
}

}  // namespace child_environment_test
