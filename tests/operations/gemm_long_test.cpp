// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <doctest/doctest.h>
#include <random>
#include <utility>
#include <vector>

#include "libtune/testing/devices.hpp"
#include "libtune/testing/run_tests.hpp"
#include "tests/operations/gemm_cases.hpp"
#include "tests/operations/short_tuning.hpp"

namespace gemm_long_test {

using namespace gemm_cases;  // NOLINT: helpers of this test
using instruction = gemm_instruction;

const std::vector<std::pair<dtype, dtype>>& all_types() {
  static const std::vector<std::pair<dtype, dtype>> types{{dtype::float32, dtype::float32},
                                                          {dtype::float16, dtype::float16},
                                                          {dtype::float16, dtype::float32}};
  return types;
}

LIBTUNE_DEVICE_TEST_CASE("every layout of every type is multiplied, whatever the sizes", device) {
  const tune::context context = device.create_context();
  const auto queue = context.create_command_queue();
  for (const auto& [input, output] : all_types()) {
    for (const gemm_key& key : all_layouts(input, output)) {
      const gemm_template made(
          context, key,
          gemm_tuning{.tile_m = 32, .tile_n = 64, .part_n = 8, .stages = 3, .price = 64});
      for (const product_case& each : odd_cases()) multiplies(made, key, queue, each);
      multiplies(made, key, queue, {.m = 35, .n = 61, .k = 777, .alpha = 1, .beta = 1});
    }
  }
}

/// Large enough for several tiles, and small enough for the host.
const std::vector<product_case>& tensor_cases() {
  static const std::vector<product_case> cases{
      {.m = 128, .n = 256, .k = 64},
      {.m = 512, .n = 512, .k = 256, .alpha = 1, .beta = 0},
      {.m = 300, .n = 520, .k = 200, .alpha = 2, .beta = -1, .padding = 8},
      {.m = 270, .n = 301, .k = 1023, .alpha = 1, .beta = 1, .padding = 1}};
  return cases;
}

void check_tensor_tuning(const tune::context& context, const gemm_tuning& tuning,
                         const std::vector<gemm_key>& keys) {
  const auto queue = context.create_command_queue();
  for (const gemm_key& key : keys) {
    const gemm_template made(context, key, tuning);
    for (const product_case& each : odd_cases()) multiplies(made, key, queue, each);
    for (const product_case& each : tensor_cases()) multiplies(made, key, queue, each);
  }
}

/// A and B along k or not, which is what kernels differ by.
std::vector<gemm_key> four_layouts(dtype output) {
  std::vector<gemm_key> keys = all_layouts(dtype::float16, output);
  std::erase_if(keys, [](const gemm_key& key) { return key.c == gemm_layout::column_major; });
  return keys;
}

const gemm_key turned_mixed{.input = dtype::float16, .c = gemm_layout::column_major};

LIBTUNE_DEVICE_TEST_CASE("tensor cores multiply every layout", device) {
  if (cuda_generation(device) < 80) return;
  const tune::context context = device.create_context();
  check_tensor_tuning(context, {instruction::mma, 128, 64, 64, 32, 64, 3, 1, 0},
                      four_layouts(dtype::float16));
  check_tensor_tuning(context, {instruction::mma, 64, 128, 32, 64, 64, 2, 1, 64}, {turned_mixed});
}

LIBTUNE_DEVICE_TEST_CASE("tensor cores multiply floats of every layout by TF32", device) {
  if (cuda_generation(device) < 80) return;
  using tune::operations::gemm_precision;
  const tune::context context = device.create_context();
  std::vector<gemm_key> keys = all_layouts(dtype::float32, dtype::float32);
  for (gemm_key& key : keys) key.precision = gemm_precision::tf32;
  check_tensor_tuning(context, {instruction::tf32, 128, 64, 64, 32, 16, 3, 1, 0}, keys);
  check_tensor_tuning(context, {instruction::tf32, 64, 128, 32, 64, 32, 2, 1, 64}, {keys.front()});
  check_tensor_tuning(context, {instruction::tf32, 64, 256, 32, 64, 32, 3, 1, 0}, {keys.back()});
  for (gemm_key& key : keys) key.precision = gemm_precision::tf32x3;
  check_tensor_tuning(context, {instruction::tf32x3, 64, 64, 32, 32, 16, 3, 2, 0}, keys);
  check_tensor_tuning(context, {instruction::tf32x3, 128, 128, 64, 32, 32, 2, 1, 64},
                      {keys.front()});
}

LIBTUNE_DEVICE_TEST_CASE("tensor cores that four warps share multiply every layout", device) {
  if (cuda_generation(device) != 90) return;
  const tune::context context = device.create_context();
  check_tensor_tuning(context, {instruction::wgmma, 128, 256, 64, 256, 64, 3, 1, 0},
                      four_layouts(dtype::float16));
  check_tensor_tuning(context, {instruction::wgmma, 128, 128, 128, 64, 64, 3, 1, 64},
                      {turned_mixed});
  check_tensor_tuning(context, {instruction::wgmma, 64, 128, 64, 128, 64, 5, 1, 64},
                      {turned_mixed});
  check_tensor_tuning(context, {instruction::wgmma, 192, 192, 64, 192, 64, 4, 1, 0},
                      four_layouts(dtype::float32));
}

LIBTUNE_DEVICE_TEST_CASE("groups of a cluster share k where tiles are few", device) {
  if (cuda_generation(device) != 90) return;
  const tune::context context = device.create_context();
  const auto queue = context.create_command_queue();
  const std::size_t units = device.limits().compute_units;
  for (const gemm_key& key : four_layouts(dtype::float16)) {
    const gemm_template made(context, key, {instruction::wgmma, 64, 64, 64, 64, 64, 6, 2, 1 << 20});
    const std::size_t rows = 64 * units / 2;
    CHECK(made.instantiate(queue, 60, 50, 4100).cluster() == 8);
    CHECK(made.instantiate(queue, rows / 3, 50, 4100).cluster() == 4);
    CHECK(made.instantiate(queue, rows, 50, 4100).cluster() > 1);
    CHECK(made.instantiate(queue, rows * 8, 50, 4100).cluster() == 1);
    CHECK(made.instantiate(queue, 60, 50, 128).cluster() == 1);
    for (const std::size_t m : {std::size_t{59}, rows / 3 - 1, rows - 3}) {
      multiplies(made, key, queue, {.m = m, .n = 5, .k = 1604, .alpha = 2, .beta = 1});
      multiplies(made, key, queue, {.m = m, .n = 35, .k = 1051, .padding = 3});
    }
  }
  const gemm_template wide(context, turned_mixed,
                           {instruction::wgmma, 192, 192, 64, 192, 64, 4, 1, 1 << 20});
  CHECK(wide.instantiate(queue, 190, 200, 3000).cluster() == 8);
  multiplies(wide, turned_mixed, queue, {.m = 190, .n = 200, .k = 3000, .padding = 8});
}

LIBTUNE_DEVICE_TEST_CASE("a cluster makes two tiles side by side, if there is a second one",
                         device) {
  if (cuda_generation(device) != 90) return;
  const tune::context context = device.create_context();
  const auto queue = context.create_command_queue();
  for (const gemm_key& key : four_layouts(dtype::float16)) {
    const gemm_template made(context, key,
                             {instruction::wgmma, 64, 192, 64, 192, 64, 6, 1, 1 << 20});
    // Tiles of 7 x 5 by clusters of two groups each, and of 3 x 5 by clusters of four.
    const gemm pairs = made.instantiate(queue, 440, 900, 4100);
    CHECK(pairs.cluster() == 2);
    CHECK(pairs.tiles_of_cluster() == 2);
    const gemm fours = made.instantiate(queue, 180, 900, 4100);
    CHECK(fours.cluster() == 4);
    CHECK(fours.tiles_of_cluster() == 2);
    CHECK(made.instantiate(queue, 1900, 100, 4100).tiles_of_cluster() == 1);
    for (const std::size_t m : {440, 180}) {
      multiplies(made, key, queue, {.m = m, .n = 900, .k = 1604, .alpha = 2, .beta = 1});
      multiplies(made, key, queue, {.m = m, .n = 901, .k = 1051, .padding = 3});
    }
  }
}

/// Captures products of 60 x 56 elements in graphs, with different memory for A.
template <class T>
void multiplies_in_graphs(tune::command_queue queue, const gemm_key& key, gemm op) {
  const auto b = random_matrix<T>(key.b, 2000, 56, 0, 2);
  op.bind("b", on_device(queue, b));
  op.ensure_all_bound();
  for (const std::uint32_t seed : {5, 6}) {
    const auto a = random_matrix<T>(key.a, 60, 2000, 0, seed);
    op.bind("a", on_device(queue, a));
    host_array<T> c({60, 56});
    tune::operations::gemm_on_host(key, 1, 0, a, b, c);
    const auto graph = queue.capture([&] { op.run(); });
    REQUIRE(graph);
    for (int run = 0; run < 3; ++run) {
      op.buffer("c").zero(queue);
      queue.enqueue(*graph);
      const auto got = op.buffer("c").get<T>(queue);
      double most = 0;
      for (std::size_t i = 0; i < 60 * 56; ++i) {
        most = std::max(most, std::abs(static_cast<double>(static_cast<float>(c(i / 56, i % 56))) -
                                       static_cast<float>(got(i / 56, i % 56))));
      }
      CHECK(most < 0.1);
    }
  }
}

LIBTUNE_DEVICE_TEST_CASE(
    "a product by clusters is the same in a command graph, and with other memory", device) {
  if (cuda_generation(device) != 90) return;
  const tune::context context = device.create_context();
  auto queue = context.create_command_queue();
  const gemm_key key{.input = dtype::float16, .output = dtype::float16};
  const gemm_template made(context, key, {instruction::wgmma, 64, 64, 64, 64, 64, 6, 2, 1 << 20});
  gemm op = made.instantiate(queue, 60, 56, 2000);
  REQUIRE(op.cluster() == 8);
  multiplies_in_graphs<float16>(queue, key, std::move(op));
}

LIBTUNE_DEVICE_TEST_CASE(
    "a product whose parts are added is the same in a command graph, and with other memory",
    device) {
  if (cuda_generation(device) == 0) return;
  const tune::context context = device.create_context();
  auto queue = context.create_command_queue();
  const gemm_key key{.input = dtype::float32, .output = dtype::float32};
  const gemm_template made(context, key, {instruction::plain, 32, 32, 4, 4, 16, 4, 8, 1});
  gemm op = made.instantiate(queue, 60, 56, 2000);
  REQUIRE(op.parts() > 1);
  multiplies_in_graphs<float>(queue, key, std::move(op));
}

LIBTUNE_DEVICE_TEST_CASE("a group goes through several tiles", device) {
  if (cuda_generation(device) != 90) return;
  const tune::context context = device.create_context();
  const auto queue = context.create_command_queue();
  for (const gemm_key& key : four_layouts(dtype::float16)) {
    const gemm_template made(context, key, {instruction::wgmma, 64, 64, 64, 64, 64, 3, 1, 0});
    // More than 320 tiles, of which the last ones are not whole; copied in boxes, and one by one.
    for (const std::size_t padding : {8, 3}) {
      multiplies(made, key, queue, {.m = 1102, .n = 1160, .k = 70, .padding = padding});
    }
    // Rows of whole words, whose last one is not all of C; and few columns, with much of k.
    multiplies(made, key, queue, {.m = 1102, .n = 1155, .k = 67, .padding = 5});
    multiplies(made, key, queue, {.m = 1102, .n = 19, .k = 515, .padding = 5});
  }
  for (const gemm_tuning& wide :
       {gemm_tuning{instruction::wgmma, 128, 256, 64, 256, 64, 3, 1, 0},
        gemm_tuning{instruction::wgmma, 192, 192, 64, 192, 64, 3, 1, 0},
        gemm_tuning{instruction::wgmma, 128, 128, 64, 128, 64, 3, 2, 0},
        gemm_tuning{instruction::wgmma, 128, 128, 128, 64, 64, 3, 1, 0}}) {
    const gemm_key key{.input = dtype::float16, .output = dtype::float16};
    const gemm_template made(context, key, wide);
    for (const std::size_t n : {3, 61, 67, 131, 259, 510}) {
      const std::size_t padding = (n + 7) / 8 * 8 - n;
      multiplies(made, key, queue, {.m = 201, .n = n, .k = 136 - padding, .padding = padding});
    }
  }
}

LIBTUNE_DEVICE_TEST_CASE("the tiles that win on large devices are right", device) {
  const tune::context context = device.create_context();
  const auto queue = context.create_command_queue();
  const std::vector<gemm_tuning> tunings{{instruction::plain, 128, 128, 8, 8, 16, 3, 2, 0},
                                         {instruction::plain, 128, 128, 8, 16, 8, 4, 1, 64},
                                         {instruction::plain, 64, 64, 8, 8, 8, 3, 1, 64},
                                         {instruction::plain, 256, 16, 8, 4, 32, 2, 1, 64}};
  const bool is_gpu = device.kind() == tune::device_kind::gpu;
  for (const gemm_tuning& tuning : tunings) {
    // Compilers for CPUs take a minute for the larger parts.
    if (!is_gpu && tuning.tile_n > 64) continue;
    for (const gemm_layout layout : {gemm_layout::row_major, gemm_layout::column_major}) {
      const gemm_key key{.a = layout, .b = layout};
      const gemm_template made(context, key, tuning);
      for (const product_case& each : tensor_cases()) multiplies(made, key, queue, each);
    }
  }
}

LIBTUNE_DEVICE_TEST_CASE("gemm is tuned for ranges" * tune::testing::force_autotune(), device) {
  const tune::context context = device.create_context();
  tune::testing::tune_shortly(context);
  const gemm_key key{.m = {1, 64}, .n = {16, 64}, .k = {1, 300}};
  const gemm_template made(context, key);
  REQUIRE(made.choice());
  CHECK(made.choice()->facts().sizes > 0);
  // On GPUs one of the space stands in for the test default.
  const bool ends_with_default =
      tune::to_values(made.tunings().back()) == tune::to_values(gemm_tuning{});
  CHECK(ends_with_default == (device.kind() != tune::device_kind::gpu));
  const auto queue = context.create_command_queue();
  std::mt19937 engine(5);
  for (int i = 0; i < 20; ++i) {
    multiplies(made, key, queue,
               {.m = 1 + engine() % 100, .n = 1 + engine() % 100, .k = 1 + engine() % 400});
  }
}

LIBTUNE_DEVICE_TEST_CASE("configurations of every kind are right on small matrices", device) {
  const tune::context context = device.create_context();
  const auto queue = context.create_command_queue();
  for (const auto& [input, output] : all_types()) {
    const gemm_key key{.input = input, .output = output};
    const auto space = tune::operations::tuning_space(key, device);
    // Compilers for CPUs take seconds for each. Halves differ by how they are copied only, and take
    // them longest: a minute where an item computes 32 elements.
    const bool is_gpu = device.kind() == tune::device_kind::gpu;
    const bool is_float = input == dtype::float32;
    const std::size_t most = is_gpu ? 40 : is_float ? 7 : 1;
    const auto fewest = std::ranges::min_element(
        space, {}, [](const gemm_tuning& each) { return each.part_m * each.part_n * each.depth; });
    for (std::size_t i = 0; i < most; ++i) {
      gemm_tuning tuning =
          is_gpu || is_float ? space[(i * 2 + 1) * space.size() / (most * 2)] : *fewest;
      tuning.price = i % 2 == 0 ? 64 : 0;
      const gemm_template made(context, key, tuning);
      multiplies(made, key, queue, {.m = 75, .n = 131, .k = 267, .alpha = 1, .beta = 1});
    }
  }
}

TEST_CASE("configurations of gemm compile for CUDA") {
  tune::testing::for_each_compile_target("cuda sm_90", [](const tune::context& context) {
    for (const auto& [input, output] : all_types()) {
      const gemm_key key{.input = input, .output = output};
      const auto space = tune::operations::tuning_space(key, context.device());
      REQUIRE(space.size() >= 8);
      std::size_t number = 0;
      for (const gemm_tuning& tuning : space) {
        if (++number % 3 != 0) continue;
        CHECK_NOTHROW(gemm_template(context, key, tuning));
      }
    }
    for (const gemm_key& key : all_layouts(dtype::float16, dtype::float32)) {
      CHECK_NOTHROW(gemm_template(context, key, {instruction::wgmma, 128, 256, 64, 256, 64, 4}));
      CHECK_NOTHROW(gemm_template(context, key, {instruction::wgmma, 64, 192, 64, 192, 64, 3, 2}));
      CHECK_NOTHROW(gemm_template(context, key, {instruction::mma, 128, 128, 64, 32, 64, 3}));
    }
  });
}

}  // namespace gemm_long_test
