// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "tests/search/classic_spaces.hpp"

#include <cstddef>
#include <doctest/doctest.h>

namespace classic_spaces_test {

/// Checks the published counts, each stride-th configuration, and that lists of what restrictions
/// read make no difference.
template <class Tuning, class Allows>
void check_space(const tune::space<Tuning>& space, tune::space<Tuning> unrestricted, Allows allows,
                 std::size_t combinations, std::size_t configurations, std::size_t stride) {
  CHECK(space.core().cartesian_size() == combinations);
  CHECK(space.size() == configurations);
  std::size_t removed = 0;
  for (const tune::removal& item : space.core().removals()) removed += item.combinations;
  CHECK(removed + space.size() == space.core().cartesian_size());
  unrestricted.restrict(allows, "one that reads all");
  CHECK(unrestricted.size() == space.size());
  for (std::size_t i = 0; i < space.size(); i += stride) {
    CHECK(space.core().choice(i) == unrestricted.core().choice(i));
    CHECK(allows(space[i]));
    CHECK(space.find(space[i]) == i);
  }
}

TEST_CASE("the convolution space is as published, with or without lists") {
  check_space(tune::testing::convolution_space(), tune::testing::convolution_parameters(),
              tune::testing::convolution::allows, 15'492'096, 3424, 1);
}

TEST_CASE("the matrix multiplication space is as published, with or without lists") {
  check_space(tune::testing::gemm_space(), tune::testing::gemm_parameters(),
              tune::testing::gemm::allows, 1'327'104, 241'600, 997);
}

TEST_CASE("restrictions that are texts allow the same configurations, in the same order") {
  const auto check = [](const tune::search_space& texts, const tune::search_space& functions) {
    REQUIRE(texts.size() == functions.size());
    for (std::size_t i = 0; i < texts.size(); i += 97) {
      CHECK(texts.choice(i) == functions.choice(i));
    }
  };
  check(tune::testing::convolution_text_space(), tune::testing::convolution_space().core());
  check(tune::testing::gemm_text_space(), tune::testing::gemm_space().core());
}

}  // namespace classic_spaces_test
