// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "operations/gemm/gemm.hpp"

#include <algorithm>
#include <doctest/doctest.h>
#include <set>
#include <type_traits>
#include <vector>

#include "libtune/testing/devices.hpp"
#include "libtune/testing/fake_device.hpp"
#include "libtune/testing/run_tests.hpp"
#include "operations/gemm/gemm_space.hpp"
#include "tests/operations/gemm_cases.hpp"

namespace gemm_test {

using namespace gemm_cases;  // NOLINT: helpers of this test

static_assert(std::is_nothrow_move_assignable_v<gemm>);

LIBTUNE_DEVICE_TEST_CASE("products of odd sizes are those of the host", device) {
  const tune::context context = device.create_context();
  const auto queue = context.create_command_queue();
  // Both operands turned, and none, whose tile is not square.
  const gemm_key turned{.b = gemm_layout::column_major};
  const gemm_key straight{.a = gemm_layout::column_major};
  const gemm_template one(context, turned);
  const gemm_template other(context, straight,
                            gemm_tuning{.tile_m = 16, .tile_n = 64, .part_n = 8, .stages = 3});
  for (const product_case& each : odd_cases()) {
    multiplies(one, turned, queue, each);
    multiplies(other, straight, queue, each);
  }
}

LIBTUNE_DEVICE_TEST_CASE("k is divided where there are few tiles", device) {
  const tune::context context = device.create_context();
  const auto queue = context.create_command_queue();
  const gemm_key key{.c = gemm_layout::column_major};
  const gemm_template made(context, key, gemm_tuning{.price = 64});
  CHECK(made.instantiate(queue, 32, 32, 127).parts() == 1);
  CHECK(made.instantiate(queue, 32, 32, 1030).parts() > 1);
  CHECK(made.instantiate(queue, 1 << 14, 1 << 14, 1030).parts() == 1);
  multiplies(made, key, queue, {.m = 33, .n = 7, .k = 1030, .alpha = 2, .beta = 0, .padding = 3});
  multiplies(made, key, queue, {.m = 5, .n = 66, .k = 515, .alpha = 1, .beta = 1});
  // From two parts to as many as the device likes, which one, two or more items add.
  std::size_t most = 0;
  for (const std::size_t k : {260, 390, 650, 1160, 2190, 4240, 8320}) {
    most = std::max(most, made.instantiate(queue, 6, 9, k).parts());
    multiplies(made, key, queue, {.m = 6, .n = 9, .k = k, .alpha = 1, .beta = 0.5F});
  }
  CHECK(most > 4);
}

LIBTUNE_DEVICE_TEST_CASE("k is divided for the tiles of a last wave that is nearly empty", device) {
  const tune::context context = device.create_context();
  const auto queue = context.create_command_queue();
  const gemm_key key{};
  const gemm_template made(context, key, gemm_tuning{.resident = 1, .price = 1});
  // One tile more than compute units, at the border of C.
  const std::size_t units = device.limits().compute_units;
  const std::size_t m = 32 * units + 5;
  const gemm op = made.instantiate(queue, m, 30, 1030);
  CHECK(op.parts() > 1);
  CHECK(op.divided_tiles() > 0);
  if (units > 1) CHECK(op.divided_tiles() <= units + 1);
  multiplies(made, key, queue, {.m = m, .n = 30, .k = 1030, .alpha = 2, .beta = 1, .padding = 3});
  CHECK(made.instantiate(queue, 32 * units, 32, 1030).parts() == 1);
}

LIBTUNE_DEVICE_TEST_CASE("halves are summed as floats", device) {
  const tune::context context = device.create_context();
  const auto queue = context.create_command_queue();
  const gemm_key key{.input = dtype::float16, .output = dtype::float16};
  const gemm_template made(context, key);
  for (const product_case& each : odd_cases()) multiplies(made, key, queue, each);
  const gemm_key mixed{.input = dtype::float16};
  multiplies(gemm_template(context, mixed), mixed, queue, {.m = 40, .n = 31, .k = 29, .beta = 2});
}

LIBTUNE_DEVICE_TEST_CASE("sums of nothing are 0, and no elements are no work", device) {
  const tune::context context = device.create_context();
  tune::command_queue queue = context.create_command_queue();
  const gemm_template made(context, gemm_key{});
  CHECK_NOTHROW(made.instantiate(queue, 0, 4, 4).run());
  CHECK_NOTHROW(made.instantiate(queue, 4, 0, 4).run());
  gemm op = made.instantiate(queue, 3, 5, 0);
  op.ensure_bound("c");
  host_array<float> c({3, 5});
  c.fill(2);
  op.buffer("c").set(queue, c);
  op.set_factors(1, 3);
  op.run();
  const auto got = op.buffer("c").get<float>(queue);
  for (std::size_t i = 0; i < 15; ++i) CHECK(got(i / 5, i % 5) == 6);
}

LIBTUNE_DEVICE_TEST_CASE("wrong types, tunings and sizes are errors that say what is wrong",
                         device) {
  const tune::context context = device.create_context();
  const tune::command_queue queue = context.create_command_queue();
  CHECK_THROWS_WITH_AS(gemm_template(context, {.output = dtype::float16}),
                       doctest::Contains("cannot make float16 of float32"), tune::argument_error);
  const auto refuses = [&](const gemm_tuning& tuning, const char* says) {
    CHECK_THROWS_WITH_AS(gemm_template(context, {}, tuning), doctest::Contains(says),
                         tune::argument_error);
  };
  refuses({.tile_m = 48}, "impossible");
  refuses({.part_m = 2}, "impossible");
  refuses({.tile_m = 16, .tile_n = 16, .part_m = 8}, "impossible");
  refuses({.depth = 12}, "impossible");
  refuses({.stages = 1}, "impossible");
  refuses({gemm_instruction::mma, 64, 64, 32, 32, 64, 2}, "float16 only");
  refuses({gemm_instruction::tf32, 64, 64, 32, 32, 16, 2},
          "its products of tf32 need inputs of float32 and a key that permits them");
  refuses({gemm_instruction::mma, 64, 64, 32, 16, 64, 2}, "impossible");
  refuses({gemm_instruction::wgmma, 64, 320, 64, 64, 64, 2}, "impossible");
  const gemm_template made(context, gemm_key{});
  CHECK_THROWS_WITH_AS(made.instantiate(queue, 1, std::size_t{1} << 31, 1),
                       doctest::Contains("n = 2147483648"), tune::argument_error);
  CHECK_THROWS_WITH_AS(made.instantiate(queue, 1ULL << 30, 1ULL << 30, 1),
                       doctest::Contains("work groups"), tune::argument_error);
}

LIBTUNE_DEVICE_TEST_CASE("gemm has configurations to search on any device", device) {
  CHECK(tune::operations::tuning_space(gemm_key{}, device).size() > 2);
}

TEST_CASE("gemm has configurations to search on GPUs with little local memory") {
  for (const std::size_t kibibytes : {32, 48, 64, 99, 163, 227}) {
    CAPTURE(kibibytes);
    tune::testing::fake_device_options options;
    options.limits.max_dynamic_local_memory_bytes = kibibytes << 10;
    const tune::testing::fake_device fake(options);
    for (const gemm_layout a : {gemm_layout::row_major, gemm_layout::column_major}) {
      const gemm_key key{.a = a};
      const auto space = tune::operations::tuning_space(key, fake.device());
      CHECK(space.size() > 2);
      CHECK(space.size() < 10);
      const auto fallback = tune::to_values(tune::operations::gemm_fallback(key, fake.device()));
      CHECK(std::ranges::any_of(
          space, [&](const gemm_tuning& each) { return tune::to_values(each) == fallback; }));
    }
  }
}

TEST_CASE("only a key that permits it gives products of floats less precision") {
  using tune::operations::gemm_precision;
  using instruction = gemm_instruction;
  const auto instructions = [](const gemm_key& key, const tune::device& device) {
    std::set<instruction> found;
    for (const gemm_tuning& each : tune::operations::tuning_space(key, device)) {
      CHECK_NOTHROW(tune::operations::check_tuning(key, each));
      found.insert(each.instruction);
    }
    return found;
  };
  const gemm_key three{.precision = gemm_precision::tf32x3};
  const gemm_key one{.precision = gemm_precision::tf32};
  tune::testing::for_each_compile_target("cuda sm_90", [&](const tune::context& context) {
    const tune::device device = context.device();
    CHECK(instructions({}, device) == std::set{instruction::plain});
    CHECK(instructions(three, device) == std::set{instruction::plain, instruction::tf32x3});
    CHECK(instructions(one, device) ==
          std::set{instruction::plain, instruction::tf32x3, instruction::tf32});
    // Halves have exact products in any case.
    CHECK(instructions({.input = dtype::float16, .precision = gemm_precision::tf32}, device) ==
          std::set{instruction::wgmma});
    // The configurations with exact products are the same.
    const auto count = [&](const gemm_key& key) {
      return std::ranges::count(tune::operations::tuning_space(key, device), instruction::plain,
                                &gemm_tuning::instruction);
    };
    CHECK(count(one) == count({}));
    const gemm_tuning least{instruction::tf32, 64, 64, 32, 32, 16, 2, 1, 0};
    CHECK_THROWS_WITH_AS(gemm_template(context, three, least),
                         doctest::Contains("which has inputs of float32 and the precision tf32x3"),
                         tune::argument_error);
  });
  const tune::testing::fake_device without_tensor_cores;
  CHECK(instructions(one, without_tensor_cores.device()) == std::set{instruction::plain});
}

TEST_CASE("no configuration of gemm asks for more local memory than the device has") {
  tune::testing::for_each_compile_target("cuda sm_90", [](const tune::context& context) {
    using tune::operations::gemm_precision;
    const std::size_t has = context.device().limits().max_dynamic_local_memory_bytes;
    for (const gemm_key& key : {gemm_key{}, gemm_key{.input = dtype::float16},
                                gemm_key{.precision = gemm_precision::tf32}}) {
      const auto space = tune::operations::tuning_space(key, context.device());
      CHECK(space.size() >= 8);
      std::size_t most = 0;
      for (const gemm_tuning& each : space) {
        const auto needed = space.resources_of(each);
        REQUIRE(needed);
        most = std::max(most, needed->dynamic_local_memory_bytes * each.resident);
      }
      CHECK(most <= has);
      CHECK(most > has / 2);
    }
    // 289 KiB.
    CHECK_THROWS_WITH_AS(
        gemm_template(context, {.input = dtype::float16},
                      gemm_tuning{gemm_instruction::wgmma, 128, 256, 64, 128, 64, 6, 1, 0}),
        doctest::Contains("needs 295936 bytes of local memory, the device has 232448"),
        tune::argument_error);
  });
}

}  // namespace gemm_test
