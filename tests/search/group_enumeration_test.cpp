// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/search/space/group_enumeration.hpp"

#include <cstddef>
#include <doctest/doctest.h>
#include <vector>

namespace group_enumeration_test {

using tune::detail::group_parameters;
using tune::detail::restriction_outline;
using numbers = std::vector<std::size_t>;

TEST_CASE("parameters are grouped by the restrictions that read them, also through others") {
  const std::vector<restriction_outline> restrictions{
      {"r0", numbers{5, 1}}, {"r1", numbers{2}}, {"r2", numbers{1, 3}}, {"r3", numbers{}}};
  const auto groups = group_parameters(6, restrictions);
  CHECK(groups.size() == 4);
  CHECK(groups[0].parameters == numbers{0});
  CHECK(groups[0].restrictions.empty());
  CHECK(groups[1].parameters == numbers{1, 3, 5});
  CHECK(groups[1].restrictions == numbers{2, 0});
  CHECK(groups[2].parameters == numbers{2});
  CHECK(groups[2].restrictions == numbers{1});
  CHECK(groups[3].parameters == numbers{4});
}

TEST_CASE("a restriction without a list connects all parameters") {
  const auto groups = group_parameters(3, std::vector<restriction_outline>{{"all", {}}});
  CHECK(groups.size() == 1);
  CHECK(groups[0].parameters == numbers{0, 1, 2});
  CHECK(group_parameters(0, std::vector<restriction_outline>{{"all", {}}}).empty());
}

TEST_CASE("restrictions are asked by depth, then in the order given") {
  const std::vector<restriction_outline> restrictions{
      {"r0", {}}, {"r1", numbers{1}}, {"r2", numbers{}}, {"r3", numbers{0, 1}}};
  CHECK(tune::detail::asking_order(3, restrictions) == numbers{2, 1, 3, 0});
}

}  // namespace group_enumeration_test
