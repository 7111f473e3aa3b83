// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "operations/telescope/correlate/correlate.hpp"

#include <doctest/doctest.h>
#include <limits>
#include <set>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "libtune/testing/devices.hpp"
#include "libtune/testing/run_tests.hpp"
#include "operations/telescope/correlate/tile_plan.hpp"
#include "tests/operations/telescope/correlate_cases.hpp"

namespace correlate_test {

using namespace correlate_cases;  // NOLINT: helpers of this test
using tune::operations::absent_im;
using tune::operations::absent_re;
using tune::operations::correlate_reduce;
using tune::operations::correlate_reduce_template;

static_assert(std::is_nothrow_move_assignable_v<correlate>);
static_assert(std::is_nothrow_move_assignable_v<correlate_reduce>);

LIBTUNE_DEVICE_TEST_CASE("visibilities of ranges of batches are exact", device) {
  const tune::context context = device.create_context();
  const correlate_key key{.antennas = 11, .channels = 3, .spectra = 48};
  const correlate_template made(context, key);
  correlates(made, context, key, 4, {0, 4});
  correlates(made, context, key, 4, {1, 3});
  correlates(made, context, key, 4, {2, 2});
}

LIBTUNE_DEVICE_TEST_CASE("visibilities of voltages with 4 bits are exact", device) {
  const tune::context context = device.create_context();
  const correlate_key key{.antennas = 11, .channels = 3, .spectra = 48, .bits = 4};
  const correlate_template made(context, key);
  correlates(made, context, key, 4, {0, 4});
  correlates(context, key, {correlate_instruction::dp4a, 1, 2, 2, 2, 3, 1, 0, true, false, 2}, 3,
             {1, 3});
}

LIBTUNE_DEVICE_TEST_CASE("extreme voltages do not overflow, in one run or in many", device) {
  const tune::context context = device.create_context();
  // More than sums of 32 bits can hold.
  const correlate_key key{.antennas = 2, .channels = 1, .spectra = 1 << 17};
  tune::command_queue queue = context.create_command_queue();
  correlate op = correlate_template(context, key).instantiate(queue, 1);
  op.ensure_all_bound();
  host_array<std::int8_t> in({1, 2, 1, key.spectra, 2, 2});
  in.fill(127);
  for (std::size_t t = 0; t < key.spectra; ++t) {
    for (std::size_t p = 0; p < 2; ++p) in(0, 1, 0, t, p, 0) = -127;
  }
  op.buffer("in").set(queue, in);
  host_array<std::int64_t> before({op.copies(), 1, 3, 4, 2});
  before.fill(-(std::int64_t{1} << 40));
  op.buffer("visibilities").set(queue, before);
  op.run();
  const auto got = sum_of_copies(op);
  const std::int64_t full = std::int64_t{2} * 127 * 127 * (1 << 17);
  REQUIRE(full > std::numeric_limits<std::int32_t>::max());
  const std::int64_t start = -(static_cast<std::int64_t>(op.copies()) << 40);
  for (std::size_t p = 0; p < 4; ++p) {
    CHECK(got(0, 0, 0, p, 0) == start + full);
    CHECK(got(0, 0, 0, p, 1) == start);
    CHECK(got(0, 0, 1, p, 0) == start);
    CHECK(got(0, 0, 1, p, 1) == start - full);
    CHECK(got(0, 0, 2, p, 0) == start + full);
  }
}

LIBTUNE_DEVICE_TEST_CASE("dumps are clamped, and absent baselines marked and not counted", device) {
  const tune::context context = device.create_context();
  tune::command_queue queue = context.create_command_queue();
  const correlate_reduce_template made(context, 3);
  constexpr std::size_t baselines = baseline_count(5);
  for (const std::size_t copies : {1, 3}) {
    correlate_reduce op = made.instantiate(queue, 5, 2, copies);
    op.ensure_all_bound();
    host_array<std::int64_t> visibilities({copies, 2, baselines, 4, 2});
    constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
    const std::vector<std::int64_t> numbers{0, most, most + 1,   -most, -most - 1,
                                            5, -7,   most << 20, 1,     -(most << 20)};
    for (std::size_t i = 0; i < visibilities.layout().bytes() / sizeof(std::int64_t); ++i) {
      visibilities.data()[i] = numbers[i * 7 % 11 % numbers.size()];
    }
    host_array<std::uint8_t> absent({baselines});
    absent.fill(0);
    absent(2) = 1;
    absent(14) = 255;
    op.buffer("visibilities").set(queue, visibilities);
    op.buffer("absent").set(queue, absent);
    const auto expected = tune::operations::reduce_on_host(visibilities, absent);
    REQUIRE(expected.clamped(0) > 0);
    for (int run = 0; run < 2; ++run) {
      op.run();
      CHECK(op.buffer("clamped").get<std::uint32_t>(queue)(0) == expected.clamped(0));
    }
    const auto out = op.buffer("out").get<std::int32_t>(queue);
    for (std::size_t c = 0; c < 2; ++c) {
      for (std::size_t i = 0; i < 4 * baselines; ++i) {
        CAPTURE(i);
        REQUIRE(out(c, i, 0) == expected.out(c, i, 0));
        REQUIRE(out(c, i, 1) == expected.out(c, i, 1));
      }
    }
    CHECK(out(1, 8, 0) == absent_re);
    CHECK(out(1, 59, 1) == absent_im);
  }
}

LIBTUNE_DEVICE_TEST_CASE("what cannot be correlated is an error", device) {
  const tune::context context = device.create_context();
  tune::command_queue queue = context.create_command_queue();
  CHECK_THROWS_WITH_AS(correlate_template(context, {4, 1, 24}), doctest::Contains("multiple of 16"),
                       tune::argument_error);
  CHECK_THROWS_AS(correlate_template(context, {0, 1, 16}), tune::argument_error);
  CHECK_THROWS_WITH_AS(correlate_template(context, {4, 1, 16}, correlate_tuning{.stages = 1}),
                       doctest::Contains("stages"), tune::argument_error);
  CHECK_THROWS_WITH_AS(correlate_template(context, {1024, 1, 16}), doctest::Contains("tiles"),
                       tune::argument_error);
  correlate op = correlate_template(context, {4, 1, 16}).instantiate(queue, 3);
  for (const batch_range& wrong : {batch_range{2, 1}, batch_range{0, 4}}) {
    CHECK_THROWS_WITH_AS(op.set_batches(wrong), doctest::Contains("batches"), tune::argument_error);
  }
  const auto version = op.version();
  op.set_batches({0, 3});
  CHECK(op.version() == version);
  op.set_batches({0, 2});
  CHECK(op.version() != version);
  const std::string tuning =
      "tuning.instruction=plain, tuning.tile_m=1, tuning.tile_n=1, tuning.warps=4, tuning.steps=1, "
      "tuning.stages=2, tuning.resident=1, tuning.slack=0, tuning.prepares=false, "
      "tuning.atomics=false, "
      "tuning.waves=2";
  CHECK(tune::to_string(op.parameters()) ==
        "shape=(3, 4, 1, 16), bits=8, begin=0, end=2, copies=1, " + tuning);
  const correlate_reduce_template reduce(context);
  CHECK_THROWS_AS(reduce.instantiate(queue, 4, 0), tune::argument_error);
  CHECK_THROWS_WITH_AS(reduce.instantiate(queue, 4, 70000), doctest::Contains("65535"),
                       tune::argument_error);
}

TEST_CASE("tiles cover every baseline once, and groups stage what their tiles need") {
  for (const std::size_t antennas : {1, 8, 11, 64, 80, 129, 256}) {
    for (const auto& blocks_of :
         {std::pair<std::size_t, std::size_t>{1, 1}, {2, 2}, {2, 4}, {3, 5}}) {
      const std::size_t m = blocks_of.first;
      const std::size_t n = blocks_of.second;  // clang 15 cannot capture structured bindings
      for (const std::size_t warps : {1, 4, 12}) {
        CAPTURE(antennas);
        CAPTURE(n);
        CAPTURE(warps);
        const auto plan = tune::operations::plan_tiles(antennas, m, n, warps);
        CHECK(plan.warps() <= warps);
        CHECK(plan.groups.size() ==
              tune::operations::group_count(tune::operations::tile_count(antennas, m, n), warps));
        std::set<std::pair<std::size_t, std::size_t>> blocks;
        for (const auto& group : plan.groups) {
          const std::set<std::size_t> staged(group.staged.begin(), group.staged.end());
          for (const auto& tile : group.tiles) {
            for (std::size_t i = 0; i < m; ++i) {
              REQUIRE(staged.contains(tile.m_block + i));
              for (std::size_t j = 0; j < n; ++j) {
                REQUIRE(staged.contains(tile.n_block + j));
                if (tile.n_block + j > tile.m_block + i) continue;
                REQUIRE(blocks.emplace(tile.m_block + i, tile.n_block + j).second);
              }
            }
          }
        }
        for (std::size_t i = 0; i < (antennas + 7) / 8; ++i) {
          for (std::size_t j = 0; j <= i; ++j) REQUIRE(blocks.contains({i, j}));
        }
      }
    }
  }
}

TEST_CASE("correlations compile for CUDA") {
  tune::testing::for_each_compile_target("cuda sm_90", [](const tune::context& context) {
    for (const auto instruction :
         {correlate_instruction::plain, correlate_instruction::dp4a, correlate_instruction::mma_k16,
          correlate_instruction::mma_k32}) {
      CHECK_NOTHROW(correlate_template(context, {20, 4, 64},
                                       correlate_tuning{.instruction = instruction,
                                                        .tile_m = 1,
                                                        .tile_n = 2,
                                                        .warps = 4,
                                                        .steps = 2,
                                                        .stages = 3}));
    }
    CHECK_NOTHROW(correlate_reduce_template{context});
  });
}

}  // namespace correlate_test
