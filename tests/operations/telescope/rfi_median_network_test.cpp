// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <doctest/doctest.h>
#include <random>
#include <vector>

#include "operations/telescope/rfi/median_network.hpp"

namespace rfi_median_network_test {

using tune::operations::rfi::median_network;

TEST_CASE("a median network finds the medians of its windows and their neighbours") {
  std::mt19937 engine(7);
  for (const std::size_t width : {1, 3, 5, 7, 9, 13, 21, 33}) {
    for (const std::size_t windows : {1, 2, 3, 4, 8, 16}) {
      CAPTURE(width);
      CAPTURE(windows);
      const median_network plain(width, windows, false);
      const median_network wide(width, windows, true);
      REQUIRE(wide.inputs() == width + windows - 1);
      for (int round = 0; round < 50; ++round) {
        std::vector<float> elements(wide.inputs());
        for (float& element : elements) element = static_cast<float>(engine() % 20);
        const std::vector<float> middles = plain.evaluate(elements);
        const std::vector<float> found = wide.evaluate(elements);
        int wrong = 0;
        for (std::size_t i = 0; i < windows; ++i) {
          std::vector<float> window(elements.data() + i, elements.data() + i + width);
          std::sort(window.begin(), window.end());
          const std::size_t middle = width / 2;
          const std::size_t apart = width > 1 ? 1 : 0;
          wrong += middles[3 * i + 1] != window[middle] ? 1 : 0;
          wrong += found[3 * i] != window[middle - apart] ? 1 : 0;
          wrong += found[3 * i + 1] != window[middle] ? 1 : 0;
          wrong += found[3 * i + 2] != window[middle + apart] ? 1 : 0;
        }
        REQUIRE(wrong == 0);
      }
    }
  }
}

TEST_CASE("windows share the work of a median network") {
  CHECK(median_network(13, 1, false).operations() <= 92);
  CHECK(median_network(13, 8, false).operations() <= 8 * 18);
  CHECK(median_network(13, 8, true).operations() <= 8 * 28);
}

}  // namespace rfi_median_network_test
