// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/behind/heartbeat.hpp"

#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <doctest/doctest.h>
#include <memory>
#include <optional>
#include <thread>
#include <unistd.h>
#include <vector>

#include "libtune/extra/behind/gate_page.hpp"
#include "libtune/extra/behind/quiet_moments.hpp"
#include "libtune/extra/behind/tuning_behind.hpp"
#include "libtune/testing/allocation_counter.hpp"
#include "tests/store/child_process.hpp"

namespace heartbeat_test {

using namespace std::chrono_literals;
using tune::detail::frame_schedule;
using tune::detail::heartbeat_list;
using tune::detail::interval_tally;
using tune::detail::late_watch;
using tune::detail::quiet_moments;

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

/// How many of the frames are late that end in these intervals, of a period of 5 ms, 1 ms allowed.
int late_of(const std::vector<std::chrono::nanoseconds>& intervals) {
  frame_schedule schedule;
  int late = 0;
  for (const auto each : intervals) {
    late += schedule.is_late(each.count(), 5'000'000, 1'000'000) ? 1 : 0;
  }
  return late;
}

TEST_CASE("a frame whose work grows is not late, a schedule that slips is") {
  // A frame ends 2 ms later, the next one does not.
  CHECK(late_of({5ms, 5ms, 7ms, 3ms, 5ms, 5ms, 5ms}) == 0);
  CHECK(late_of({5ms, 5ms, 7ms, 5ms, 3ms, 5ms, 5ms}) == 0);
  // All frames after it end 2 ms later.
  CHECK(late_of({5ms, 5ms, 7ms, 5ms, 5ms, 5ms, 5ms, 5ms}) == 1);
  // Not by more than is allowed.
  CHECK(late_of({5ms, 5900us, 5ms, 5ms, 5ms, 5ms}) == 0);
  // It stops for a while.
  CHECK(late_of({5ms, 500ms, 5ms, 5ms, 5ms, 5ms}) == 1);
  // It cannot keep up.
  CHECK(late_of(std::vector<std::chrono::nanoseconds>(100, 5500us)) > 20);
  CHECK(late_of(std::vector<std::chrono::nanoseconds>(1000, 5040us)) == 0);
}

TEST_CASE("of a pipeline whose period is not known nothing is late") {
  frame_schedule schedule;
  for (int i = 0; i < 10; ++i) CHECK_FALSE(schedule.is_late(1'000'000 * (1 + i), 0, 0));
}

/// A pipeline and its late_watch.
struct pipeline {
  explicit pipeline(std::chrono::nanoseconds period = 0ns) : watch(period) {}

  std::optional<bool> look() {
    return watch.look({.alone = alone.read(),
                       .beside = beside.read(),
                       .late_alone = late_alone,
                       .late_beside = late_beside});
  }
  interval_tally alone;
  interval_tally beside;
  std::uint64_t late_alone = 0;
  std::uint64_t late_beside = 0;
  late_watch watch;
};

TEST_CASE("late frames beside the tuner are noticed, one of them is no sign") {
  pipeline app;
  add(app.beside, 60, 5ms);
  CHECK_FALSE(app.look());  // nothing is known
  add(app.alone, 100, 5ms);
  CHECK(app.look() == false);
  CHECK(app.watch.period() < 5200us);
  CHECK_FALSE(app.look());  // nothing is new
  add(app.beside, 60, 5ms);
  app.late_beside += 5;
  CHECK(app.look() == true);
  add(app.beside, 60, 5ms);
  CHECK(app.look() == false);
  add(app.beside, 60, 5ms);
  app.late_beside += 1;
  CHECK(app.look() == false);
}

TEST_CASE("an application that is late by itself is not held against the tuner") {
  pipeline app;
  add(app.alone, 1000, 5ms);
  app.late_alone = 100;
  add(app.beside, 100, 5ms);
  app.late_beside = 12;
  CHECK(app.look() == false);
  add(app.beside, 100, 5ms);
  app.late_beside += 40;
  CHECK(app.look() == true);
}

TEST_CASE("where the tuner has become slow, a few intervals beside it are enough") {
  pipeline app;
  add(app.alone, 100, 5ms);
  add(app.beside, 5, 5ms);
  CHECK(app.look() == false);
  add(app.alone, 96, 5ms);
  add(app.beside, 4, 9ms);
  app.late_beside = 4;
  CHECK_FALSE(app.look());  // of so few nothing is known
  add(app.beside, 1, 5ms);
  CHECK(app.look() == true);
}

TEST_CASE("an application that changes its pace is known anew") {
  pipeline app;
  add(app.alone, 100, 5ms);
  CHECK_FALSE(app.look());
  CHECK(app.watch.period() < 5200us);
  add(app.alone, 60, 8ms);
  CHECK_FALSE(app.look());
  CHECK(app.watch.period() >= 8ms);
  CHECK(pipeline(7ms).watch.period() == 7ms);  // unless it is declared
}

TEST_CASE("an application can say itself that a frame was late") {
  tune::heartbeat pulse(1h);
  const auto before = heartbeat_list::read();
  pulse.beat();
  pulse.beat();
  pulse.late();
  CHECK(heartbeat_list::read().late_alone == before.late_alone + 3);
  CHECK(heartbeat_list::shortest_period() == 1h);
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

TEST_CASE("a heartbeat tells when the device has work, and takes it back when it ends") {
  const tune::detail::quiet_moments& quiet = tune::detail::own_gate_page().quiet;
  const auto is_quiet = [&] {
    return quiet.left(std::chrono::steady_clock::now().time_since_epoch()).count() > 0;
  };
  {
    tune::heartbeat pulse;
    pulse.end();  // of nothing
    pulse.begin();
    pulse.end();
    while (quiet.usual().count() == 0) {
      pulse.begin();
      pulse.end();
      std::this_thread::sleep_for(1ms);
    }
    pulse.begin();
    CHECK_FALSE(is_quiet());
    pulse.begin();
    pulse.end();
    CHECK_FALSE(is_quiet());
  }
  // Long after the usual gap the application counts as one that rests.
  while (!is_quiet()) std::this_thread::sleep_for(1ms);
}

TEST_CASE("a forked process ends a heartbeat whose work was under way") {
  auto pulse = std::make_unique<tune::heartbeat>();
  pulse->begin();
  CHECK(tune::testing::in_forked_child([&] {
          pulse.reset();
          return 7;
        }) == 7);
  pulse->end();
}

TEST_CASE("a forked process leaves the messages of its parent to the tuner alone") {
  const tune::heartbeat pulse;
  const tune::detail::gate_page& page = tune::detail::own_gate_page();
  const auto held = page.holds.load();
  CHECK(tune::testing::in_forked_child([parent = ::getpid()] {
          const tune::behind_pause pause;
          const tune::idle_window window;
          std::_Exit(::getpid() != parent ? 7 : 0);
          return 0;
        }) == 7);
  CHECK(page.holds == held);
  CHECK(page.windows == 0);
}

/// Frames every 5 ms from 1 s on, each with so much work. @return the end of the last one's work
std::chrono::nanoseconds run(quiet_moments& quiet, std::chrono::nanoseconds from, int frames,
                             std::chrono::nanoseconds work) {
  for (int i = 0; i < frames; ++i) {
    quiet.begin(from + i * 5ms);
    quiet.end(from + i * 5ms + work);
  }
  return from + (frames - 1) * 5ms + work;
}

TEST_CASE("before an application has told of its work, nothing is known") {
  const quiet_moments quiet;
  CHECK(quiet.usual() == 0ns);
  CHECK(quiet.left(1s) == 0ns);
}

TEST_CASE("a quiet moment lasts as long as the gaps before it") {
  quiet_moments quiet;
  const auto end = run(quiet, 1s, 10, 3ms);
  CHECK(quiet.usual() == 2ms);
  CHECK(quiet.left(end) == 2ms);
  CHECK(quiet.left(end + 1500us) == 500us);
  CHECK(quiet.left(end + 3ms) == 0ns);
  quiet.begin(end + 2ms);
  CHECK(quiet.left(end + 2ms) == 0ns);
}

TEST_CASE("gaps that become shorter are believed at once, longer ones little by little") {
  quiet_moments quiet;
  auto end = run(quiet, 1s, 10, 3ms);
  end = run(quiet, end + 2ms, 2, 4ms);
  CHECK(quiet.left(end) == 1ms);
  end = run(quiet, end + 1ms, 3, 3ms);
  CHECK(quiet.left(end) > 1ms);
  CHECK(quiet.left(end) < 1500us);
  end = run(quiet, end + 2ms, 100, 3ms);
  CHECK(quiet.left(end) > 1900us);
}

TEST_CASE("the device is quiet when all that had begun has ended") {
  quiet_moments quiet;
  const auto end = run(quiet, 1s, 10, 3ms);
  quiet.begin(end + 2ms);
  quiet.begin(end + 3ms);
  quiet.end(end + 4ms);
  CHECK(quiet.left(end + 4ms) == 0ns);
  quiet.end(end + 5ms);
  CHECK(quiet.left(end + 5ms) == 2ms);
}

TEST_CASE("an application that rests leaves the device for any time") {
  quiet_moments quiet;
  const auto end = run(quiet, 1s, 10, 3ms);
  CHECK(quiet.left(end + 10s) == 2ms);
}

}  // namespace heartbeat_test
