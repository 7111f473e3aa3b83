// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/search/space/choice_graph.hpp"

#include <cstddef>
#include <cstdint>
#include <doctest/doctest.h>
#include <vector>

namespace choice_graph_test {

using tune::detail::choice_graph;
using edges = std::vector<choice_graph::edge>;

TEST_CASE("no edges are no choice, and equal edges one node") {
  choice_graph graph;
  CHECK(graph.add({}) == choice_graph::none);
  CHECK(graph.count(choice_graph::none) == 0);
  CHECK(graph.count(choice_graph::end) == 1);
  const auto last = graph.add(edges{{0, choice_graph::end}, {2, choice_graph::end}});
  CHECK(graph.count(last) == 2);
  CHECK(graph.add(edges{{0, choice_graph::end}, {2, choice_graph::end}}) == last);
  CHECK(graph.add(edges{{0, choice_graph::end}, {3, choice_graph::end}}) != last);
  CHECK(graph.edge_count() == 4);
}

TEST_CASE("an edge is found by its candidate, and by a number below it") {
  choice_graph graph;
  const auto pair = graph.add(edges{{4, choice_graph::end}, {5, choice_graph::end}});
  const auto one = graph.add(edges{{1, choice_graph::end}});
  const auto root = graph.add(edges{{1, pair}, {3, one}, {4, pair}});
  graph.finish();
  CHECK(graph.count(root) == 5);
  CHECK(graph.find(root, 3)->to == one);
  CHECK(graph.find(root, 4)->before == 3);
  for (const std::size_t missing : {0, 2, 5}) CHECK(graph.find(root, missing) == nullptr);
  std::vector<std::uint32_t> found;
  for (std::size_t i = 0; i < 5; ++i) found.push_back(graph.find_number(root, i).candidate);
  CHECK(found == std::vector<std::uint32_t>{1, 1, 3, 4, 4});
}

TEST_CASE("many nodes stay apart, and are found again") {
  choice_graph graph;
  std::vector<choice_graph::node> nodes;
  for (std::uint32_t i = 0; i < 5000; ++i) {
    nodes.push_back(
        graph.add(edges{{i / 70, choice_graph::end}, {100 + i % 70, choice_graph::end}}));
  }
  for (std::uint32_t i = 0; i < 5000; ++i) {
    CHECK(graph.edges(nodes[i])[0].candidate == i / 70);
    CHECK(graph.edges(nodes[i])[1].candidate == 100 + i % 70);
    CHECK(graph.add(edges{{i / 70, choice_graph::end}, {100 + i % 70, choice_graph::end}}) ==
          nodes[i]);
  }
}

}  // namespace choice_graph_test
