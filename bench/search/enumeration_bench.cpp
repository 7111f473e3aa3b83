// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Question: how fast does a space find the configurations that its restrictions allow?
//
// Method: a stencil with time tiling, of the size and kind of the largest spaces in the field: 37 x
// 6 x 10 x 10 x 5 x 11 x 3 = 3,663,000 combinations and three restrictions (work items in a group,
// whole tiles in time, local memory of the halo). Each iteration builds the space and reads its
// size, which enumerates it, in one thread. The rate counts combinations of the Cartesian product,
// visited or not. Three cases differ in the declarations of the restrictions: without any,
// every combination is visited and tested; with the members that they read, whole branches are
// skipped; and the same rules as loops written by hand are the bound. A fourth case has the rules
// as texts (expression), read again each time. "allowed" is the same for all four, or the benchmark
// ends with an error. sample_thousand: drawing configurations and making structs of them, after the
// enumeration.

#include <benchmark/benchmark.h>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "libtune/extra/bare/expression.hpp"
#include "libtune/search/space/space.hpp"

namespace {

struct stencil_tuning {
  int block_x = 32;
  int block_y = 1;
  int tile_x = 1;
  int tile_y = 1;
  int steps_unrolled = 1;
  int steps = 1;
  int blocks_per_unit = 0;
};

}  // namespace

LIBTUNE_FIELDS(stencil_tuning, block_x, block_y, tile_x, tile_y, steps_unrolled, steps,
               blocks_per_unit)

namespace {

constexpr std::size_t combinations = std::size_t{37} * 6 * 10 * 10 * 5 * 11 * 3;

bool group_fits(const stencil_tuning& t) {
  const int items = t.block_x * t.block_y;
  return items >= 32 && items <= 1024;
}

bool steps_divide(const stencil_tuning& t) { return t.steps % t.steps_unrolled == 0; }

bool halo_fits(const stencil_tuning& t) {
  const int width = t.block_x * t.tile_x + 2 * t.steps;
  const int height = t.block_y * t.tile_y + 2 * t.steps;
  return width * height * 3 * 4 <= 48 * 1024;
}

std::vector<int> widths() {
  std::vector<int> all{1, 2, 4, 8, 16};
  for (int width = 32; width <= 1024; width += 32) all.push_back(width);
  return all;
}

std::vector<int> up_to(int last) {
  std::vector<int> all;
  for (int i = 1; i <= last; ++i) all.push_back(i);
  return all;
}

tune::space<stencil_tuning> unrestricted() {
  using t = stencil_tuning;
  tune::space<t> space;
  space.add(&t::block_x, widths()).add(&t::block_y, {1, 2, 4, 8, 16, 32});
  space.add(&t::tile_x, up_to(10)).add(&t::tile_y, up_to(10));
  space.add(&t::steps_unrolled, up_to(5)).add(&t::steps, up_to(11));
  space.add(&t::blocks_per_unit, {0, 1, 2});
  return space;
}

tune::space<stencil_tuning> without_lists() {
  auto space = unrestricted();
  space.restrict(group_fits, "group fits").restrict(steps_divide, "whole tiles in time");
  space.restrict(halo_fits, "halo fits");
  return space;
}

tune::space<stencil_tuning> with_lists() {
  using t = stencil_tuning;
  auto space = unrestricted();
  space.restrict(group_fits, "group fits", &t::block_x, &t::block_y);
  space.restrict(steps_divide, "whole tiles in time", &t::steps_unrolled, &t::steps);
  space.restrict(halo_fits, "halo fits", &t::block_x, &t::block_y, &t::tile_x, &t::tile_y,
                 &t::steps);
  return space;
}

std::size_t as_texts() {
  const std::vector<tune::parameter> parameters = unrestricted().core().parameters();
  std::vector<tune::restriction> restrictions;
  for (const char* text :
       {"32 <= block_x * block_y <= 1024", "steps % steps_unrolled == 0",
        "(block_x * tile_x + 2 * steps) * (block_y * tile_y + 2 * steps) * 3 * 4 "
        "<= 48 * 1024"}) {
    for (tune::restriction& part : tune::expression(text).restrictions(parameters)) {
      restrictions.push_back(std::move(part));
    }
  }
  return tune::search_space(parameters, std::move(restrictions)).size();
}

std::size_t by_hand() {
  std::vector<stencil_tuning> allowed;
  const std::vector<int> all_widths = widths();
  stencil_tuning t;
  for (const int block_x : all_widths) {
    t.block_x = block_x;
    for (t.block_y = 1; t.block_y <= 32; t.block_y *= 2) {
      if (!group_fits(t)) continue;
      for (t.tile_x = 1; t.tile_x <= 10; ++t.tile_x) {
        for (t.tile_y = 1; t.tile_y <= 10; ++t.tile_y) {
          for (t.steps_unrolled = 1; t.steps_unrolled <= 5; ++t.steps_unrolled) {
            for (t.steps = 1; t.steps <= 11; ++t.steps) {
              if (!steps_divide(t) || !halo_fits(t)) continue;
              for (t.blocks_per_unit = 0; t.blocks_per_unit <= 2; ++t.blocks_per_unit) {
                allowed.push_back(t);
              }
            }
          }
        }
      }
    }
  }
  return allowed.size();
}

template <class Count>
void enumerate(benchmark::State& state, Count count) {
  const std::size_t expected = by_hand();
  for (auto _ : state) {
    std::size_t allowed = count();
    benchmark::DoNotOptimize(allowed);
    if (allowed != expected) {
      state.SkipWithError("the spaces differ");
      return;
    }
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(combinations));
  state.counters["allowed"] = static_cast<double>(expected);
}

void sample_thousand(benchmark::State& state) {
  const auto space = with_lists();
  benchmark::DoNotOptimize(space.size());
  std::uint64_t seed = 0;
  for (auto _ : state) benchmark::DoNotOptimize(space.sample(1000, seed++));
  state.SetItemsProcessed(state.iterations() * 1000);
}

}  // namespace

BENCHMARK_CAPTURE(enumerate, without_member_lists, [] {
  return without_lists().size();
})->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(enumerate, with_member_lists, [] {
  return with_lists().size();
})->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(enumerate, as_texts, as_texts)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(enumerate, loops_by_hand, by_hand)->Unit(benchmark::kMillisecond);
BENCHMARK(sample_thousand);
