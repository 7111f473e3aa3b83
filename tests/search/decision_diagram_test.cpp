// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/search/space/decision_diagram.hpp"

#include <cstddef>
#include <cstdint>
#include <doctest/doctest.h>
#include <utility>
#include <vector>

namespace decision_diagram_test {

using tune::detail::decision_diagram;
using tune::detail::valid_configurations;
using edges = std::vector<decision_diagram::edge>;
using choice = std::vector<std::size_t>;

TEST_CASE("no edges are no choice, and equal edges one node") {
  decision_diagram diagram;
  CHECK(diagram.add({}) == decision_diagram::none);
  CHECK(diagram.count(decision_diagram::none) == 0);
  CHECK(diagram.count(decision_diagram::end) == 1);
  const auto last = diagram.add(edges{{0, decision_diagram::end}, {2, decision_diagram::end}});
  CHECK(diagram.count(last) == 2);
  CHECK(diagram.add(edges{{0, decision_diagram::end}, {2, decision_diagram::end}}) == last);
  CHECK(diagram.add(edges{{0, decision_diagram::end}, {3, decision_diagram::end}}) != last);
  CHECK(diagram.edge_count() == 4);
}

TEST_CASE("an edge is found by its candidate, and by a number below it") {
  decision_diagram diagram;
  const auto pair = diagram.add(edges{{4, decision_diagram::end}, {5, decision_diagram::end}});
  const auto one = diagram.add(edges{{1, decision_diagram::end}});
  const auto root = diagram.add(edges{{1, pair}, {3, one}, {4, pair}});
  diagram.finish();
  CHECK(diagram.count(root) == 5);
  CHECK(diagram.find(root, 3)->to == one);
  CHECK(diagram.find(root, 4)->before == 3);
  for (const std::size_t missing : {0, 2, 5}) CHECK(diagram.find(root, missing) == nullptr);
  std::vector<std::uint32_t> found;
  for (std::size_t i = 0; i < 5; ++i) found.push_back(diagram.find_number(root, i).candidate);
  CHECK(found == std::vector<std::uint32_t>{1, 1, 3, 4, 4});
}

TEST_CASE("many nodes stay apart, and are found again") {
  decision_diagram diagram;
  std::vector<decision_diagram::node> nodes;
  for (std::uint32_t i = 0; i < 5000; ++i) {
    nodes.push_back(
        diagram.add(edges{{i / 70, decision_diagram::end}, {100 + i % 70, decision_diagram::end}}));
  }
  for (std::uint32_t i = 0; i < 5000; ++i) {
    CHECK(diagram.edges(nodes[i])[0].candidate == i / 70);
    CHECK(diagram.edges(nodes[i])[1].candidate == 100 + i % 70);
    CHECK(diagram.add(edges{{i / 70, decision_diagram::end},
                            {100 + i % 70, decision_diagram::end}}) == nodes[i]);
  }
}

TEST_CASE("groups that interleave are numbered like nested loops all the same") {
  // Of the parameters 0, 1 and 2, the first and the last have to be equal, and are 0 or 1; the one
  // between may be 0, 1 or 2.
  decision_diagram diagram;
  const auto is_0 = diagram.add(edges{{0, decision_diagram::end}});
  const auto is_1 = diagram.add(edges{{1, decision_diagram::end}});
  const auto ends = diagram.add(edges{{0, is_0}, {1, is_1}});
  const auto between = diagram.add(
      edges{{0, decision_diagram::end}, {1, decision_diagram::end}, {2, decision_diagram::end}});
  diagram.finish();
  const valid_configurations valid(std::move(diagram), {0, 1, 0}, {ends, between});
  const std::vector<choice> expected{{0, 0, 0}, {0, 1, 0}, {0, 2, 0},
                                     {1, 0, 1}, {1, 1, 1}, {1, 2, 1}};
  CHECK(valid.size() == expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    CHECK(valid.choice(i) == expected[i]);
    CHECK(valid.number(expected[i]) == i);
  }
  CHECK_FALSE(valid.number(choice{0, 0, 1}));
}

TEST_CASE("a group without choices leaves none to the others") {
  CHECK(valid_configurations({}, {0, 0}, {decision_diagram::none}).size() == 0);
  CHECK_FALSE(valid_configurations({}, {0, 0}, {decision_diagram::none}).number(choice{0, 0}));
  CHECK(valid_configurations({}, {}, {}).size() == 1);
}

}  // namespace decision_diagram_test
