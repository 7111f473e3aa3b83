// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Question: how fast are well-known spaces of the literature built, and what do a sample and the
// neighbours of a configuration cost, even in a space that is too large for a list?
//
// Method: the 2D convolution (15,492,096 combinations, 3,424 allowed) and matrix multiplication
// (1,327,104, 241,600 allowed) of tests/search/classic_spaces.hpp, written as users write them,
// each restriction with the members that it reads. build/...: declare the space and read its size,
// in one thread. without_member_lists does the same for the multiplication with one restriction
// that reads everything; tried_one_by_one tests all its combinations in plain nested order, which
// is the bound for an enumeration of the product. "huge" is ten triples of four candidates each in
// ascending order, 4^30 = 10^18 combinations with 20^10 allowed. The other cases work on a finished
// space, at configurations or points drawn once with a fixed seed. Different counts end a case with
// an error.

#include <benchmark/benchmark.h>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "libtune/search/space/neighbours.hpp"
#include "tests/search/classic_spaces.hpp"

namespace {

using tune::neighbourhood;
using tune::detail::random_source;

template <class Make>
void build(benchmark::State& state, Make make, std::size_t allowed) {
  for (auto _ : state) {
    std::size_t found = make().size();
    benchmark::DoNotOptimize(found);
    if (found != allowed) {
      state.SkipWithError("the count is wrong");
      return;
    }
  }
  state.counters["allowed"] = static_cast<double>(allowed);
}

auto gemm_without_lists() {
  auto space = tune::testing::gemm_parameters();
  space.restrict(tune::testing::gemm::allows);
  return space;
}

auto gemm_one_by_one() {
  std::vector<tune::testing::gemm_tuning> allowed;
  for (const auto& tuning : tune::testing::gemm_parameters()) {
    if (tune::testing::gemm::allows(tuning)) allowed.push_back(tuning);
  }
  return allowed;
}

tune::search_space huge_space() {
  std::vector<tune::parameter> parameters;
  std::vector<tune::restriction> restrictions;
  for (std::size_t i = 0; i < 30; ++i) {
    parameters.push_back({"p" + std::to_string(i), {}});
    for (std::int64_t j = 0; j < 4; ++j) parameters.back().candidates.emplace_back(j);
    if (i % 3 == 0) continue;
    restrictions.push_back({"ascends",
                            [i](std::span<const std::size_t> at) { return at[i - 1] <= at[i]; },
                            std::vector{i - 1, i}});
  }
  return tune::search_space(std::move(parameters), std::move(restrictions));
}

constexpr std::size_t huge_allowed = 10'240'000'000'000;  // 20^10

tune::search_space core_of(int which) {
  if (which == 0) return tune::testing::convolution_space().core();
  if (which == 1) return tune::testing::gemm_space().core();
  return huge_space();
}

void list_neighbours(benchmark::State& state, neighbourhood kind) {
  const auto space = core_of(static_cast<int>(state.range(0)));
  const auto centres = space.sample(256, 1);
  std::size_t i = 0;
  std::size_t found = 0;
  for (auto _ : state) found += tune::neighbours(space, centres[i++ % 256], kind).size();
  state.counters["neighbours"] = static_cast<double>(found) / static_cast<double>(i);
}

void draw_neighbour(benchmark::State& state, neighbourhood kind) {
  const auto space = core_of(static_cast<int>(state.range(0)));
  const auto centres = space.sample(256, 1);
  random_source random(2);
  std::size_t i = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(tune::random_neighbour(space, centres[i++ % 256], kind, random));
  }
}

void repair(benchmark::State& state) {
  const auto space = core_of(static_cast<int>(state.range(0)));
  random_source random(3);
  std::vector<std::vector<double>> points(256);
  for (auto& point : points) {
    for (const tune::parameter& item : space.parameters()) {
      point.push_back(static_cast<double>(random.below(item.candidates.size() * 16)) / 16);
    }
  }
  benchmark::DoNotOptimize(space.size());
  std::size_t i = 0;
  for (auto _ : state) benchmark::DoNotOptimize(tune::closest(space, points[i++ % 256]));
}

void sample_thousand(benchmark::State& state) {
  const auto space = core_of(static_cast<int>(state.range(0)));
  benchmark::DoNotOptimize(space.size());
  std::uint64_t seed = 0;
  for (auto _ : state) {
    for (const std::size_t index : space.sample(1000, seed++)) {
      benchmark::DoNotOptimize(space.choice(index));
    }
  }
  state.SetItemsProcessed(state.iterations() * 1000);
}

// 0: convolution, 1: multiplication, 2: huge
void all_spaces(benchmark::internal::Benchmark* made) { made->Arg(0)->Arg(1)->Arg(2); }

}  // namespace

BENCHMARK_CAPTURE(build, convolution, tune::testing::convolution_space, 3424)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(build, gemm, tune::testing::gemm_space, 241600)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(build, convolution_of_texts, tune::testing::convolution_text_space, 3424)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(build, gemm_of_texts, tune::testing::gemm_text_space, 241600)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(build, gemm_without_member_lists, gemm_without_lists, 241600)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(build, gemm_tried_one_by_one, gemm_one_by_one, 241600)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(build, huge, huge_space, huge_allowed)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(list_neighbours, hamming, neighbourhood::hamming)->Apply(all_spaces);
BENCHMARK_CAPTURE(list_neighbours, adjacent, neighbourhood::adjacent)->Arg(0)->Arg(1);
BENCHMARK_CAPTURE(draw_neighbour, hamming, neighbourhood::hamming)->Apply(all_spaces);
BENCHMARK_CAPTURE(draw_neighbour, adjacent, neighbourhood::adjacent)->Apply(all_spaces);
BENCHMARK(repair)->Apply(all_spaces);
BENCHMARK(sample_thousand)->Apply(all_spaces);
