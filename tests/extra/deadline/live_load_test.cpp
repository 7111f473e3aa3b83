// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "tests/extra/deadline/live_load.hpp"

#include <doctest/doctest.h>

namespace live_load_test {

using sample::disaster;
using sample::live_load;

void compare(std::uint64_t first, std::uint64_t last) {
  std::size_t with = 0, without = 0, kept = 0;
  for (std::uint64_t seed = first; seed <= last; ++seed) {
    CAPTURE(seed);
    std::mt19937_64 random(seed);
    std::uniform_real_distribution<double> uniform(0, 1);
    live_load observed{.seed = seed,
                       .load = 0.1 + 0.5 * uniform(random),
                       .deadline = 1 + 2 * uniform(random),
                       .strength = 4,
                       .frames = 40000};
    const sample::service one = observed.run();
    const sample::service other = observed.run_without();
    const sample::disturbances machine(seed, 40, observed.strength);
    for (std::size_t n = 0; n < one.late.size(); ++n) {
      // A stop makes frames late with and without, though not always as many.
      constexpr double wake = 0.05;
      const double ready = static_cast<double>(n) * live_load::period;
      const bool is_stopped =
          machine.is_stopped_in(ready - wake, ready + observed.deadline * live_load::period);
      if (one.late[n] && !other.late[n] && !is_stopped) FAIL_CHECK(n);
    }
    CHECK(observed.most_living <= 2);
    with += one.late_frames();
    without += other.late_frames();
    kept += observed.counts.kept;
  }
  CHECK(without > 0);
  CHECK(with <= without);
  CHECK(kept > 0);
  MESSAGE("late frames with live knobs: " << with << ", without: " << without << "; kept " << kept);
}

TEST_CASE("on a disturbed machine only stops of it make frames late, and no more than without") {
  compare(1, 6);
}

TEST_CASE("on many disturbed machines only stops make frames late, and no more than without" *
          doctest::skip()) {
  compare(1, 1000);
}

TEST_CASE("where a rehearsal would delay frames, nothing is rehearsed") {
  live_load observed{.load = 0.9, .deadline = 3, .strength = 0, .frames = 20000};
  SUBCASE("with a period") {
    CHECK(observed.run().late_frames() == 0);
    CHECK(observed.most_living == 1);
  }
  SUBCASE("without") {
    observed.options.period = sample::seconds(0);
    observed.others = disaster{.work = 5};
    CHECK(observed.run().late_frames() > 0);
  }
}

TEST_CASE("candidates that are disasters cost no late frame") {
  for (const disaster& each : {disaster{.work = 5}, disaster{.slow_each = 50}}) {
    for (const double load : {0.1, 0.3, 0.37}) {
      CAPTURE(each.work);
      CAPTURE(load);
      live_load observed{
          .load = load, .deadline = 3, .strength = 0, .frames = 20000, .others = each};
      CHECK(observed.run().late_frames() == 0);
      CHECK(observed.counts.candidate_late == 0);
      CHECK(observed.counts.kept == 0);
      CHECK(observed.counts.refused + observed.counts.taken_back > 0);
    }
  }
}

}  // namespace live_load_test
