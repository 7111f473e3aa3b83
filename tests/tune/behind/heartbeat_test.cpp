// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tune/behind/heartbeat.hpp"

#include <chrono>
#include <cmath>
#include <cstdint>
#include <doctest/doctest.h>
#include <optional>

#include "libtune/testing/allocation_counter.hpp"
#include "libtune/tune/behind/tuning_behind.hpp"

namespace heartbeat_test {

using namespace std::chrono_literals;
using tune::detail::heartbeat_list;
using tune::detail::interval_tally;
using tune::detail::late_watch;

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

/// A pipeline and its late_watch.
struct pipeline {
  explicit pipeline(std::chrono::nanoseconds period = 0ns) : watch(period) {}

  std::optional<bool> look(double slack = 0.2) {
    return watch.look({.alone = alone.read(), .beside = beside.read()}, slack);
  }
  interval_tally alone;
  interval_tally beside;
  late_watch watch;
};

TEST_CASE("frames that are later than the slack are noticed, those that grow within it are not") {
  pipeline app;
  add(app.beside, 60, 5ms);
  CHECK_FALSE(app.look());  // nothing is known
  add(app.alone, 100, 5ms);
  CHECK(app.look() == false);
  CHECK_FALSE(app.look());  // nothing is new
  add(app.beside, 30, 4100us);
  add(app.beside, 30, 5900us);
  CHECK(app.look() == false);
  add(app.beside, 55, 5ms);
  add(app.beside, 5, 6500us);
  CHECK(app.look() == true);
  add(app.beside, 60, 5ms);
  CHECK(app.look() == false);
  add(app.beside, 59, 5ms);
  add(app.beside, 1, 20ms);
  CHECK(app.look() == false);  // once is no sign
  add(app.beside, 60, 6500us);
  CHECK(app.look(0.5) == false);
}

TEST_CASE("an application that is late by itself is not held against the tuner") {
  pipeline app;
  add(app.alone, 90, 5ms);
  add(app.alone, 10, 9ms);
  add(app.beside, 88, 5ms);
  add(app.beside, 12, 9ms);
  CHECK(app.look() == false);
  add(app.beside, 60, 5ms);
  add(app.beside, 40, 9ms);
  CHECK(app.look() == true);
}

TEST_CASE("where the tuner has become slow, a few intervals beside it are enough") {
  pipeline app;
  add(app.alone, 100, 5ms);
  add(app.beside, 5, 5ms);
  CHECK(app.look() == false);
  add(app.alone, 96, 5ms);
  add(app.beside, 4, 9ms);
  CHECK_FALSE(app.look());  // of so few nothing is known
  add(app.beside, 1, 5ms);
  CHECK(app.look() == true);
}

TEST_CASE("an application that changes its pace is known anew") {
  pipeline app;
  add(app.alone, 100, 5ms);
  add(app.beside, 60, 5ms);
  CHECK(app.look() == false);
  add(app.beside, 60, 8ms);
  CHECK(app.look() == true);
  add(app.alone, 60, 8ms);
  add(app.beside, 60, 8ms);
  CHECK(app.look() == false);
}

TEST_CASE("a period that is declared need not be learned") {
  pipeline app(5ms);
  add(app.beside, 60, 4ms);
  CHECK(app.look() == false);
  add(app.beside, 60, 7ms);
  CHECK(app.look() == true);
}

TEST_CASE("the pipelines of a program are judged each by its own period") {
  const auto before = heartbeat_list::count();
  tune::heartbeat fast(1h);
  tune::heartbeat slow;
  CHECK(heartbeat_list::count() == before + 2);
  CHECK_FALSE(heartbeat_list::are_known());
  for (std::uint64_t i = 0; i <= late_watch::least; ++i) {
    fast.beat();
    slow.beat();
  }
  CHECK(heartbeat_list::are_known());
  CHECK_FALSE(heartbeat_list::look(0.2).value_or(false));
}

TEST_CASE("a heartbeat counts the intervals between its beats, and allocates nothing") {
  const auto before = tune::behind_report();
  {
    tune::heartbeat pulse;
    CHECK(heartbeat_list::count() >= 1);
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
