// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <doctest/doctest.h>
#include <vector>

#include "libtune/testing/devices.hpp"
#include "libtune/testing/run_tests.hpp"
#include "operations/workload.hpp"
#include "tests/operations/short_tuning.hpp"
#include "tests/operations/telescope/correlate_cases.hpp"

namespace correlate_long_test {

using namespace correlate_cases;  // NOLINT: helpers of this test
using instruction = correlate_instruction;

/// The instructions that a device has; dp4a is emulated where there is none.
std::vector<instruction> instructions_of(const tune::device& device) {
  std::vector<instruction> all{instruction::plain, instruction::dp4a};
  if (tune::operations::cuda_generation(device) >= 80) {
    all.insert(all.end(), {instruction::mma_k16, instruction::mma_k32});
  }
  return all;
}

LIBTUNE_DEVICE_TEST_CASE("every instruction gives exact visibilities, whatever the shape", device) {
  const tune::context context = device.create_context();
  for (const instruction item : instructions_of(device)) {
    CAPTURE(static_cast<int>(item));
    // One group; several groups with parts of tiles; batches shorter than a stage.
    correlates(context, {9, 2, 32}, {item, 1, 2, 4, 2, 3, 1, 0, true, false, 1}, 3, {0, 3});
    correlates(context, {37, 3, 80}, {item, 2, 2, 3, 4, 2, 1, 1, false, true, 2}, 3, {1, 3});
    correlates(context, {27, 1, 16}, {item, 1, 3, 2, 4, 4, 2, 0, true, false, 4}, 41, {2, 41});
    correlates(context, {37, 3, 80, 4}, {item, 2, 2, 3, 4, 2, 1, 1, false, true, 2}, 3, {1, 3});
    correlates(context, {27, 1, 16, 4}, {item, 1, 3, 2, 2, 4, 2, 0, true, false, 4}, 41, {2, 41});
    correlates(context, {1, 5, 16}, {item, 1, 1, 1, 1, 2, 1, 0, true, false, 1}, 1, {0, 1});
  }
}

LIBTUNE_DEVICE_TEST_CASE("products of four warps give exact visibilities", device) {
  if (tune::operations::cuda_generation(device) != 90) return;
  const tune::context context = device.create_context();
  constexpr instruction item = instruction::wgmma_k32;
  for (const bool atomics : {false, true}) {
    correlates(context, {9, 2, 32}, {item, 4, 4, 4, 2, 3, 1, 0, false, atomics, 1}, 3, {0, 3});
    correlates(context, {37, 3, 80}, {item, 4, 8, 2, 4, 2, 1, 0, false, atomics, 2}, 3, {1, 3});
    correlates(context, {67, 1, 16}, {item, 4, 4, 2, 4, 4, 2, 0, false, atomics, 4}, 41, {2, 41});
    correlates(context, {80, 5, 64}, {item, 4, 8, 2, 2, 3, 1, 0, false, atomics, 2}, 3, {0, 3});
    correlates(context, {251, 5, 48}, {item, 4, 8, 2, 2, 2, 1, 0, false, atomics, 2}, 2, {0, 2});
    correlates(context, {80, 5, 64, 4}, {item, 4, 8, 2, 2, 3, 1, 0, false, atomics, 2}, 3, {0, 3});
    correlates(context, {80, 5, 64, 4}, {item, 4, 4, 3, 4, 3, 1, 0, false, atomics, 2}, 3, {0, 3});
  }
}

LIBTUNE_DEVICE_TEST_CASE("the tiles that win on large devices are exact", device) {
  const tune::context context = device.create_context();
  const bool is_gpu = device.kind() == tune::device_kind::gpu;
  for (const instruction item : instructions_of(device)) {
    if (item == instruction::plain && is_gpu) continue;
    CAPTURE(static_cast<int>(item));
    const std::size_t channels = is_gpu ? 5 : 1;
    correlates(context, {80, channels, 64}, {item, 2, 2, 16, 4, 3, 1, 1, false, true, 2}, 3,
               {0, 3});
    correlates(context, {64, channels, 48}, {item, 1, 4, 12, 2, 4, 1, 0, true, false, 2}, 3,
               {0, 3});
    if (is_gpu)
      correlates(context, {251, channels, 48}, {item, 2, 4, 12, 2, 3, 1, 0, true, false, 2}, 2,
                 {0, 2});
  }
}

LIBTUNE_DEVICE_TEST_CASE("correlate can be tuned" * tune::testing::force_autotune(), device) {
  const tune::context context = device.create_context();
  tune::testing::tune_shortly(context);
  const correlate_key key{.antennas = 12, .channels = 2, .spectra = 64};
  const correlate_template made(context, key);
  CHECK(tune::operations::tuning_space(key, device).find(made.tuning()));
  correlates(made, context, key, 2, {0, 2});
  const tune::operations::correlate_reduce_template reduce(context, 2);
  CHECK(tune::operations::tuning_space(tune::operations::correlate_reduce_key{2})
            .find(reduce.tuning()));
}

TEST_CASE("every configuration for tensor cores compiles") {
  tune::testing::for_each_compile_target("cuda sm_90", [](const tune::context& context) {
    const correlate_key key{.antennas = 80, .channels = 512, .spectra = 256};
    // What the space leaves out, or has for other devices.
    const std::vector<correlate_tuning> others{
        {instruction::wgmma_k32, 4, 8, 2, 2, 3, 1, 0, false, true, 1},
        {instruction::mma_k32, 2, 2, 8, 2, 3, 1, 1, false, true, 1},
        {instruction::mma_k32, 2, 2, 8, 2, 2, 1, 0, true, true, 1}};
    for (const correlate_tuning& tuning : others) {
      for (const std::size_t bits : {8, 4}) {
        CHECK_NOTHROW(correlate_template(context, {80, 512, 256, bits}, tuning));
      }
    }
    const auto space = tune::operations::tuning_space(key, context.device());
    REQUIRE(space.size() > 0);
    for (const correlate_tuning& tuning : space) {
      if (tuning.waves != 1) continue;  // of no effect on a kernel
      CHECK_NOTHROW(correlate_template(context, key, tuning));
    }
  });
}

}  // namespace correlate_long_test
