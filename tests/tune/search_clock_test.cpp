// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tune/engine/search_clock.hpp"

#include <chrono>
#include <doctest/doctest.h>

#include "libtune/testing/fake_device.hpp"

namespace search_clock_test {

using namespace std::chrono_literals;
using tune::run_time;
using tune::search_end;

struct watch {
  explicit watch(const tune::tuning_budget& budget) : clock(budget, now) {}

  tune::testing::fake_clock time;
  tune::wall_clock now = [this] { return time.now(); };
  tune::search_clock clock;
};

constexpr run_time some_time{1000};

TEST_CASE("without limits a search never ends early") {
  watch w({});
  w.time.advance(1000h);
  CHECK_FALSE(w.clock.why_end(1'000'000, some_time));
  CHECK_FALSE(w.clock.is_over(some_time));
  CHECK_FALSE(w.clock.left());
}

TEST_CASE("a tenth of the time is kept for comparing the best") {
  watch w({.time = 10s});
  w.time.advance(8s);
  CHECK_FALSE(w.clock.why_end(5, some_time));
  CHECK(w.clock.left() == 2s);
  w.time.advance(1s);
  CHECK(w.clock.why_end(5, some_time) == search_end::time);
  CHECK_FALSE(w.clock.is_over(some_time));
  w.time.advance(2s);
  CHECK(w.clock.is_over(some_time));
  CHECK(w.clock.left() == 0s);
}

TEST_CASE("time never ends a search that has found nothing yet") {
  watch w({.time = 1s});
  w.time.advance(5s);
  CHECK_FALSE(w.clock.why_end(5, std::nullopt));
  CHECK_FALSE(w.clock.is_over(std::nullopt));
}

TEST_CASE("trials end it when so many have begun, whatever they came to") {
  watch w({.trials = 3});
  CHECK_FALSE(w.clock.why_end(2, std::nullopt));
  CHECK(w.clock.why_end(3, std::nullopt) == search_end::trials);
}

TEST_CASE("a target ends it as soon as one is good enough") {
  watch w({.target = run_time(1000)});
  CHECK_FALSE(w.clock.why_end(3, run_time(1001)));
  CHECK(w.clock.why_end(3, run_time(1000)) == search_end::target);
}

}  // namespace search_clock_test
