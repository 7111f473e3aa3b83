// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/deadline/knob_turns.hpp"

#include <doctest/doctest.h>
#include <vector>

namespace knob_turns_test {

using tune::detail::knob_fault;
using tune::detail::knob_turns;

TEST_CASE("in every window a candidate has at most its share of the frames and one turn") {
  for (const double share : {0.01, 0.05, 0.25}) {
    for (const std::size_t longest : {1, 4, 7}) {
      knob_turns turns({.alarm = 1, .share = share, .longest = longest, .rest = 100});
      turns.begin();
      std::vector<std::size_t> before{0};
      for (int n = 0; n < 20000; ++n) {
        const bool is_its = turns.next(true);
        before.push_back(before.back() + (is_its ? 1 : 0));
        turns.end(is_its, 0.5);
      }
      for (const std::size_t window : {1, 100, 1000}) {
        const double most = share * static_cast<double>(window) + static_cast<double>(longest);
        for (std::size_t n = window; n < before.size(); ++n) {
          if (static_cast<double>(before[n] - before[n - window]) > most) FAIL_CHECK(n);
        }
      }
      CHECK(static_cast<double>(before.back()) > 0.9 * share * 20000);
    }
  }
}

TEST_CASE("the first turns have a single frame, and wait until it has ended") {
  knob_turns turns({.alarm = 1, .share = 0.5, .longest = 8, .rest = 100});
  turns.begin();
  std::size_t given = 0;
  for (int n = 0; n < 8; ++n) given += turns.next(true) ? 1 : 0;
  CHECK(given == 1);
  CHECK(turns.is_disturbed());
  turns.end(true, 0.5);
  for (int n = 0; n < 8; ++n) given += turns.next(true) ? 1 : 0;
  CHECK(given == 2);
}

TEST_CASE("no turn begins while the machine is not calm") {
  knob_turns turns({.alarm = 1, .share = 0.5, .longest = 1, .rest = 20});
  turns.begin();
  for (int n = 0; n < 100; ++n) CHECK(!turns.next(false));
  turns.end(false, 2);
  CHECK(turns.fault() == knob_fault::none);
  for (int n = 0; n < 19; ++n) CHECK(!turns.next(true));
  CHECK(turns.next(true));
}

TEST_CASE("faults are told apart, and end the turns") {
  knob_turns turns({.alarm = 1, .share = 0.5, .longest = 1, .rest = 20});
  turns.begin();
  while (!turns.next(true)) {
  }
  knob_fault expected = knob_fault::none;
  SUBCASE("of the candidate") {
    turns.end(true, 1.1);
    expected = knob_fault::near_deadline;
  }
  SUBCASE("beside it") {
    turns.end(false, 1.1);
    expected = knob_fault::disturbs;
  }
  SUBCASE("of a frame that does not end") {
    for (int n = 0; n < 100; ++n) CHECK(!turns.next(true));
    expected = knob_fault::never_ends;
  }
  CHECK(turns.fault() == expected);
  for (int n = 0; n < 100; ++n) CHECK(!turns.next(true));
  turns.begin();
  CHECK(turns.fault() == knob_fault::none);
}

}  // namespace knob_turns_test
