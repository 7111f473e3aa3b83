// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tune/behind/heartbeat.hpp"

#include <chrono>
#include <cmath>
#include <cstdint>
#include <doctest/doctest.h>

#include "libtune/testing/allocation_counter.hpp"
#include "libtune/tune/behind/tuning_behind.hpp"

namespace heartbeat_test {

using namespace std::chrono_literals;
using tune::detail::interval_tally;
using tune::detail::tail_watch;

void add(interval_tally& to, int times, std::chrono::nanoseconds length) {
  for (int i = 0; i < times; ++i) to.add(length.count());
}

TEST_CASE("a length is in one class, and the classes are 3 % wide") {
  for (std::int64_t ns = 256; ns < 30'000'000'000; ns += 1 + ns / 7) {
    CAPTURE(ns);
    const std::size_t of = interval_tally::class_of(ns);
    const double end = static_cast<double>(interval_tally::end_of(of).count());
    CHECK(end >= static_cast<double>(ns));
    CHECK(end <= 1.04 * static_cast<double>(ns) + 1);
    CHECK(interval_tally::class_of(interval_tally::end_of(of).count()) == of + 1);
  }
  CHECK(interval_tally::class_of(0) == 0);
  CHECK(interval_tally::class_of(std::int64_t{1} << 60) == interval_tally::classes - 1);
}

TEST_CASE("quantiles are those of the intervals, within a class") {
  interval_tally tally;
  CHECK(tally.read().quantile(0.5) == 0ns);
  add(tally, 998, 5ms);
  add(tally, 2, 9ms);
  const auto all = tally.read();
  CHECK(all.total() == 1000);
  CHECK(all.longest == 9ms);
  CHECK(std::abs(static_cast<double>(all.quantile(0.5).count()) / 5e6 - 1) < 0.04);
  CHECK(all.quantile(0.999) == 9ms);
  add(tally, 10, 1ms);
  const auto later = tally.read().since(all);
  CHECK(later.total() == 10);
  CHECK(later.longest <= 1040us);
}

TEST_CASE("a longer tail beside the tuner is noticed, a few late frames more are not") {
  interval_tally alone;
  interval_tally beside;
  tail_watch watch;
  const auto look = [&] { return watch.look({.alone = alone.read(), .beside = beside.read()}); };
  add(beside, 200, 5ms);
  CHECK_FALSE(look());
  add(alone, 1000, 5ms);
  CHECK(look() == false);
  CHECK_FALSE(look());
  add(beside, 195, 5ms);
  add(beside, 5, 6ms);
  CHECK(look() == true);
  add(beside, 200, 5ms);
  CHECK(look() == false);
  add(beside, 199, 5ms);
  add(beside, 1, 20ms);
  CHECK(look() == false);
}

TEST_CASE("a heartbeat counts the intervals between its beats, and allocates nothing") {
  const auto before = tune::behind_report();
  {
    tune::heartbeat pulse;
    CHECK(tune::heartbeat_list::count() >= 1);
    const tune::testing::allocation_counter counter;
    for (int i = 0; i < 11; ++i) pulse.beat();
    pulse.rest();
    for (int i = 0; i < 6; ++i) pulse.beat();
    CHECK(counter.count() == 0);
    CHECK(tune::behind_report().alone.count == before.alone.count + 15);
  }
  CHECK(tune::behind_report().alone.count == before.alone.count + 15);
}

TEST_CASE("intervals in which the tuner used the device are counted apart") {
  auto& page = tune::detail::own_gate_page();
  const auto before = tune::behind_report();
  tune::heartbeat pulse;
  pulse.beat();
  pulse.beat();
  page.inside = 1;
  pulse.beat();  // it began
  page.inside = 0;
  page.slices += 1;
  pulse.beat();  // it ended
  pulse.beat();
  page.slices += 1;
  pulse.beat();  // it began and ended
  const auto after = tune::behind_report();
  CHECK(after.beside.count == before.beside.count + 3);
  CHECK(after.alone.count == before.alone.count + 2);
}

}  // namespace heartbeat_test
