// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "examples/guide/guide.hpp"

#include <doctest/doctest.h>
#include <type_traits>

#include "libtune/testing/devices.hpp"
#include "libtune/testing/run_tests.hpp"

namespace guide_test {

static_assert(std::is_nothrow_move_assignable_v<guide::gain>);

struct tile_tuning {
  std::size_t block = 8;
  std::size_t tile = 16;
};
LIBTUNE_FIELDS(tile_tuning, block, tile)

TEST_CASE("the guide's space leaves out what its restriction forbids") {
  // clang-format off
  // [space]
  tune::space<tile_tuning> space;
  space.add(&tile_tuning::block, {8, 16, 32});
  space.add(&tile_tuning::tile, {16, 32, 48});
  space.restrict([](const tile_tuning& t) { return t.tile % t.block == 0; },
                 "whole blocks in a tile", &tile_tuning::tile, &tile_tuning::block);
  space.needs([](const tile_tuning& t) {
    return tune::resources{.work_group = {t.block, 1, 1}, .local_memory_bytes = 4 * t.tile};
  });
  space.limit("registers", {.most = 64});
  // [space]
  // clang-format on
  CHECK(space.size() == 7);
}

LIBTUNE_DEVICE_TEST_CASE("the guide's pipeline adds the channels of each sample", device) {
  const tune::context context = device.create_context();
  tune::command_queue queue = context.create_command_queue();
  constexpr std::size_t channels = 6;
  constexpr std::size_t samples = 700;
  tune::host_array<float> voltages({channels, samples});
  tune::host_array<float> factors({channels});
  tune::host_array<float> expected({samples});
  for (std::size_t c = 0; c < channels; ++c) {
    factors(c) = static_cast<float>(c + 1);
    for (std::size_t s = 0; s < samples; ++s) {
      voltages(c, s) = static_cast<float>((s * 7 + c) % 5);
      expected(s) += factors(c) * voltages(c, s);
    }
  }
  const auto check = [&](const tune::operation& pipeline) {
    const auto sums = pipeline.buffer("sum:dest").get<float>(queue);
    int wrong = 0;
    for (std::size_t s = 0; s < samples; ++s) wrong += sums(s) != expected(s) ? 1 : 0;
    CHECK(wrong == 0);
  };
  // clang-format off
  // [use]
  tune::operation_sequence pipeline = guide::make_pipeline(queue, channels, samples);
  pipeline.ensure_all_bound();
  pipeline.buffer("gain:factors").set(queue, factors);
  pipeline.buffer("gain:src").set(queue, voltages);
  pipeline.run();
  tune::host_array<float> sums = pipeline.buffer("sum:dest").get<float>(queue);
  // [use]
  // clang-format on
  CHECK(sums(3) == expected(3));
  check(pipeline);
  pipeline.buffer("sum:dest").zero(queue);
  // clang-format off
  // [replay]
  tune::captured_operation replay(pipeline);
  for (int block = 0; block < 3; ++block) replay.run();
  // [replay]
  // clang-format on
  check(pipeline);
}

LIBTUNE_DEVICE_TEST_CASE("the guide's operation can be tuned" * tune::testing::force_autotune(),
                         device) {
  CHECK(guide::gain_template::autotune(device.create_context()).wgs >= 32);
}

TEST_CASE("the guide's template compiles for CUDA") {
  tune::testing::for_each_compile_target(
      "cuda", [](const tune::context& context) { CHECK_NOTHROW(guide::gain_template{context}); });
}

}  // namespace guide_test
