// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cstdint>
#include <doctest/doctest.h>
#include <thread>
#include <vector>

#include "libtune/operation/operation.hpp"

namespace version_test {

TEST_CASE("versions grow, and no two threads get the same one") {
  std::vector<std::vector<std::uint64_t>> taken(4, std::vector<std::uint64_t>(1000));
  std::vector<std::thread> threads;
  for (auto& mine : taken) {
    threads.emplace_back(
        [&mine] { std::generate(mine.begin(), mine.end(), [] { return tune::next_version(); }); });
  }
  for (auto& thread : threads) thread.join();
  std::vector<std::uint64_t> all;
  for (const auto& mine : taken) {
    CHECK(std::is_sorted(mine.begin(), mine.end()));
    all.insert(all.end(), mine.begin(), mine.end());
  }
  std::sort(all.begin(), all.end());
  CHECK(std::adjacent_find(all.begin(), all.end()) == all.end());
}

}  // namespace version_test
