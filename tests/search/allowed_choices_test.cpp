// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/search/space/allowed_choices.hpp"

#include <cstddef>
#include <doctest/doctest.h>
#include <utility>
#include <vector>

namespace allowed_choices_test {

using tune::detail::allowed_choices;
using tune::detail::choice_graph;
using tune::detail::choice_walk;
using edges = std::vector<choice_graph::edge>;
using choice = std::vector<std::size_t>;

/// Of the parameters 0, 1 and 2, the first and the last have to be equal, and are 0 or 1; the one
/// between may be 0, 1 or 2.
allowed_choices equal_ends() {
  choice_graph graph;
  const auto is_0 = graph.add(edges{{0, choice_graph::end}});
  const auto is_1 = graph.add(edges{{1, choice_graph::end}});
  const auto ends = graph.add(edges{{0, is_0}, {1, is_1}});
  const auto between =
      graph.add(edges{{0, choice_graph::end}, {1, choice_graph::end}, {2, choice_graph::end}});
  graph.finish();
  return allowed_choices(std::move(graph), {0, 1, 0}, {ends, between});
}

TEST_CASE("groups that interleave are numbered like nested loops all the same") {
  const allowed_choices allowed = equal_ends();
  const std::vector<choice> expected{{0, 0, 0}, {0, 1, 0}, {0, 2, 0},
                                     {1, 0, 1}, {1, 1, 1}, {1, 2, 1}};
  CHECK(allowed.size() == expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    CHECK(allowed.choice(i) == expected[i]);
    CHECK(allowed.number(expected[i]) == i);
  }
  CHECK_FALSE(allowed.number(choice{0, 0, 1}));
}

TEST_CASE("a walk goes back to where it was") {
  const allowed_choices allowed = equal_ends();
  choice_walk walk(allowed);
  walk.enter(*walk.find(1));
  const auto before = walk.enter(*walk.find(2));
  CHECK(walk.edges().size() == 1);
  CHECK(walk.number() == 5);
  walk.go_back(before);
  CHECK(walk.parameter() == 1);
  walk.enter(*walk.find(0));
  CHECK(walk.number() == 3);
  CHECK_FALSE(walk.done());
  walk.enter(walk.edges()[0]);
  CHECK(walk.done());
  CHECK(walk.number() == 3);
}

TEST_CASE("a group without choices leaves none to the others") {
  CHECK(allowed_choices({}, {0, 0}, {choice_graph::none}).size() == 0);
  CHECK_FALSE(allowed_choices({}, {0, 0}, {choice_graph::none}).number(choice{0, 0}));
  CHECK(allowed_choices({}, {}, {}).size() == 1);
}

}  // namespace allowed_choices_test
