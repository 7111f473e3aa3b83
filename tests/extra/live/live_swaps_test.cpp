// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// 1,000 swaps on the virtual clock of a fake device, whose times drift, jump and are disturbed.
#include <doctest/doctest.h>
#include <map>
#include <random>
#include <set>

#include "tests/extra/live/live_bench.hpp"
#include "tests/extra/live/service_noise.hpp"

namespace live_swaps_test {

using live_sample::bench;
using tune::live_change;

TEST_CASE("of 1,000 swaps no regression is kept, and none goes back and forth twice") {
  std::mt19937_64 random(11);
  std::uniform_real_distribution<double> amount(0.01, 0.20);
  int gains = 0, kept_gains = 0, wrong = 0, tries = 0;
  for (std::uint64_t key = 0; key < 100; ++key) {
    bench b({.block_epochs = 4, .watch_every = 0, .warm = false});
    tune::testing::service_noise noise(key + 1);
    b.fake.set_time([&](const auto& launch) {
      return std::chrono::nanoseconds(std::llround(noise.next(
          launch.integer("mark") == 1 ? 1e6 : static_cast<double>(launch.integer("time")))));
    });
    int time = 1'000'000;
    std::map<int, int> tried;
    for (int candidate = 2; candidate <= 11; ++candidate) {
      const bool better = random() % 2 == 0;
      const bool tie = random() % 4 == 0;
      const double change = amount(random);
      const double ratio = better ? 1 - change : tie ? 1 : 1 + change;
      const int new_time = static_cast<int>(std::lround(time * ratio));
      gains += better ? 1 : 0;
      // Each is published again and again, as by several tuners.
      for (int again = 0; again < 3; ++again) {
        b.publish({.mark = candidate, .time = new_time});
        b.settle();
      }
      const bool kept = b.mark() == candidate;
      if (kept && !better) ++wrong;
      if (kept && better) ++kept_gains;
      if (kept) time = new_time;
    }
    CHECK(b.core->is_idle());
    int last = 1;
    for (const tune::live_event& event : b.heard->events) {
      const int mark = tune::from_values<live_sample::step_tuning>(event.after).mark;
      if (event.change == live_change::trying) ++tried[mark];
      if (event.change == live_change::kept) last = mark;
    }
    CHECK(last == b.mark());
    CHECK(tried.size() == 10);
    for (const auto& [mark, times] : tried) {
      CHECK(times == 1);
      tries += times;
    }
  }
  MESSAGE(tries, " swaps, ", kept_gains, " of ", gains, " gains kept");
  CHECK(tries == 1000);
  CHECK(wrong == 0);
  CHECK(kept_gains > gains * 9 / 10);
}

}  // namespace live_swaps_test
