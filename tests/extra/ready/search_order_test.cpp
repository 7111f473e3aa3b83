// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// How a time is divided among searches, as plain numbers.
#include "libtune/extra/ready/search_order.hpp"

#include <chrono>
#include <cmath>
#include <doctest/doctest.h>
#include <vector>

namespace search_order_test {

using tune::detail::expected_search;
using tune::detail::next_search;
using tune::detail::search_in_order;
using tune::detail::shortest_search;
using seconds = std::chrono::duration<double>;

/// A course of searches on a virtual clock.
struct course {
  std::vector<std::size_t> order{};
  std::vector<double> times{};
  std::vector<std::size_t> left{};
  double end = 0;
};

/// @param used  the part of its time that each search uses
course run(const std::vector<expected_search>& searches, double time, double used = 1) {
  course made;
  made.left = search_in_order(
      searches, [&] { return seconds(time - made.end); },
      [&](std::size_t index, seconds part) {
        made.order.push_back(index);
        made.times.push_back(part.count());
        made.end += used * part.count();
      });
  return made;
}

TEST_CASE("the search that saves most for each second comes first") {
  const std::vector<expected_search> searches{{.saving = 0.1, .pace = seconds(5)},
                                              {.saving = 0.4, .pace = seconds(5)},
                                              {.saving = 0.3, .pace = seconds(1)}};
  const course made = run(searches, 60);
  CHECK(made.order == std::vector<std::size_t>{2, 1, 0});
  CHECK(made.left.empty());
}

TEST_CASE("searches that take all they may end in time") {
  std::vector<expected_search> searches;
  for (int i = 0; i < 20; ++i) searches.push_back({.saving = 0.5 / (i + 1), .pace = seconds(5)});
  for (const double time : {0.5, 3.0, 17.0, 60.0, 600.0}) {
    CAPTURE(time);
    const course made = run(searches, time);
    CHECK(made.end <= time + 1e-9);
    CHECK(made.order.size() + made.left.size() == searches.size());
    for (const double each : made.times) CHECK(each >= shortest_search.count());
    // Nothing is left of the time that another search could use.
    if (!made.left.empty()) CHECK(time - made.end < shortest_search.count());
  }
  CHECK(run(searches, 0.5).order.empty());
  CHECK(run(searches, 600).left.empty());
}

TEST_CASE("what a search leaves of its time goes to the others") {
  const std::vector<expected_search> searches(10, {.saving = 0.1, .pace = seconds(5)});
  const course all = run(searches, 20);
  const course brief = run(searches, 20, 0.2);
  CHECK(brief.times.front() == doctest::Approx(all.times.front()));
  CHECK(brief.times.back() > 2 * all.times.back());
}

TEST_CASE("a key that saves nothing is left where others can use the time") {
  const std::vector<expected_search> searches{{.saving = 0, .pace = seconds(5)},
                                              {.saving = 0.2, .pace = seconds(5)}};
  const auto next = next_search(searches, seconds(20));
  REQUIRE(next);
  CHECK(next->index == 1);
  CHECK(next->time == seconds(20));
  CHECK(run(searches, 20).left == std::vector<std::size_t>{0});
}

TEST_CASE("the division saves more than equal parts") {
  const std::vector<expected_search> searches{{.saving = 0.4, .pace = seconds(8)},
                                              {.saving = 0.1, .pace = seconds(2)},
                                              {.saving = 0.05, .pace = seconds(4)},
                                              {.saving = 0.01, .pace = seconds(1)}};
  const course made = run(searches, 24);
  double left = 0;
  double left_of_equal = 0;
  for (std::size_t i = 0; i < made.order.size(); ++i) {
    left += searches[made.order[i]].left_after(seconds(made.times[i]));
  }
  for (const std::size_t index : made.left) left += searches[index].saving;
  for (const expected_search& each : searches) left_of_equal += each.left_after(seconds(6));
  CHECK(left < 0.75 * left_of_equal);
}

}  // namespace search_order_test
