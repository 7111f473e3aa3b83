// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "tests/search/classic_spaces.hpp"

#include <cstddef>
#include <doctest/doctest.h>
#include <vector>

namespace classic_spaces_test {

using tune::testing::convolution_tuning;
using tune::testing::gemm_tuning;

/// Calls visit for every combination of the two extended sizes with the others.
template <class Visit>
void for_each_convolution(Visit visit) {
  const std::vector<int> extended = tune::testing::convolution::extended_sizes();
  convolution_tuning c;
  for (c.tbx = 8; c.tbx <= 64; c.tbx *= 2) {
    for (c.tby = 8; c.tby <= 64; c.tby *= 2) {
      for (c.local = 0; c.local <= 2; ++c.local) {
        for (c.wptx = 1; c.wptx <= 8; c.wptx *= 2) {
          for (c.wpty = 1; c.wpty <= 8; c.wpty *= 2) {
            for (c.vector = 1; c.vector <= 4; c.vector *= 2) {
              for (c.unroll = 1; c.unroll <= 7; c.unroll += 6) {
                for (c.padding = 0; c.padding <= 1; ++c.padding) {
                  for (const int width : extended) {
                    c.tbx_xl = width;
                    for (const int height : extended) {
                      c.tby_xl = height;
                      visit(c);
                    }
                  }
                }
              }
            }
          }
        }
      }
    }
  }
}

TEST_CASE("the convolution space is what brute force finds, in its order") {
  const auto space = tune::testing::convolution_space();
  CHECK(space.core().cartesian_size() == 15'492'096);
  CHECK(space.size() == 3424);
  std::size_t visited = 0;
  std::size_t allowed = 0;
  std::size_t misplaced = 0;
  for_each_convolution([&](const convolution_tuning& c) {
    ++visited;
    if (!tune::testing::convolution::allows(c)) return;
    if (space.find(c) != allowed) ++misplaced;
    ++allowed;
  });
  CHECK(visited == space.core().cartesian_size());
  CHECK(allowed == space.size());
  CHECK(misplaced == 0);
}

TEST_CASE("the matrix multiplication space is what brute force finds, with or without lists") {
  const auto space = tune::testing::gemm_space();
  CHECK(space.core().cartesian_size() == 1'327'104);
  CHECK(space.size() == 241'600);
  std::size_t removed = 0;
  for (const tune::removal& item : space.core().removals()) removed += item.combinations;
  CHECK(removed + space.size() == space.core().cartesian_size());

  auto same = tune::testing::gemm_parameters();
  same.restrict(tune::testing::gemm::allows, "one that reads all");
  CHECK(same.size() == space.size());
  for (std::size_t i = 0; i < space.size(); i += 997) {
    CHECK(space.core().choice(i) == same.core().choice(i));
    CHECK(tune::testing::gemm::allows(space[i]));
  }
}

}  // namespace classic_spaces_test
