// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The cost of a choice among eight tunings by three sizes, for tuned ranges: alone, with features,
// with a check of the tuning's fit, and the same for a few sizes that a program uses repeatedly; by
// costs of three terms, for new sizes and for few. All sizes are counted.
#include <array>
#include <benchmark/benchmark.h>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "libtune/extra/ranged/portfolio_core.hpp"
#include "libtune/search/space/random_source.hpp"

namespace {

/// A tree of 16 leaves of equal depth.
tune::size_tree make_tree(std::size_t coordinates) {
  std::vector<tune::size_tree::node> nodes;
  for (std::uint32_t i = 0; i < 15; ++i) {
    nodes.push_back({.threshold = 100.0 * (1 + i % 7),
                     .coordinate = static_cast<std::int32_t>(i % coordinates),
                     .below = 2 * i + 1,
                     .above = 2 * i + 2});
  }
  for (std::uint32_t i = 0; i < 16; ++i) nodes.push_back({.coordinate = -1, .below = i % 8});
  return tune::size_tree(std::move(nodes));
}

void choose(benchmark::State& state, const tune::size_features& features,
            const std::function<bool(std::size_t)>& fits, std::size_t count = 4096,
            const std::vector<tune::cost_function>& costs = {}) {
  tune::detail::stored_portfolio stored;
  stored.ranges = {{1, 8192}, {1, 8192}, {1, 8192}};
  stored.configurations.resize(8);
  stored.tree = make_tree(features ? 7 : 4);
  if (!costs.empty()) stored.factors.resize(8, tune::cost_factors{1, 2, 3});
  const tune::detail::portfolio_core core(std::move(stored), features,
                                          [](const auto&, const auto&) {});
  tune::random_source random(1);
  std::vector<std::array<std::uint64_t, 3>> sizes(count);
  for (auto& each : sizes) each = {1 + random.below(8192), 1 + random.below(8192), 64};
  std::size_t at = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(core.choose(sizes[at], fits, costs));
    at = (at + 1) % sizes.size();
  }
}

void by_sizes(benchmark::State& state) { choose(state, {}, {}); }

void by_features(benchmark::State& state) {
  choose(state,
         [](std::span<const std::uint64_t> sizes) {
           const std::uint64_t tiles = (sizes[0] + 127) / 128;
           return tune::size_feature_list{static_cast<double>(tiles),
                                          static_cast<double>(sizes[1] % 16), 0, 0};
         },
         {});
}

void by_fit(benchmark::State& state) {
  choose(state, {}, [](std::size_t place) { return place != 3; });
}

void few_sizes(benchmark::State& state) { choose(state, {}, {}, 32); }

/// Returns costs by waves of tiles, as for a product of matrices.
std::vector<tune::cost_function> eight_costs() {
  std::vector<tune::cost_function> costs;
  for (std::uint64_t tile = 32; costs.size() < 8; tile += 32) {
    costs.emplace_back([tile](std::span<const std::uint64_t> sizes) {
      const std::uint64_t tiles = (sizes[0] + tile - 1) / tile * ((sizes[1] + tile - 1) / tile);
      const std::uint64_t waves = (tiles + 131) / 132;
      return tune::cost_terms{static_cast<double>(waves * tile * tile), static_cast<double>(tiles),
                              static_cast<double>(sizes[2])};
    });
  }
  return costs;
}

void by_costs(benchmark::State& state) { choose(state, {}, {}, 1 << 16, eight_costs()); }

void few_by_costs(benchmark::State& state) { choose(state, {}, {}, 32, eight_costs()); }

BENCHMARK(by_sizes);
BENCHMARK(few_sizes);
BENCHMARK(by_features);
BENCHMARK(by_fit);
BENCHMARK(by_costs);
BENCHMARK(few_by_costs);

}  // namespace
