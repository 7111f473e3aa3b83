// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/device/cuda/tensor_map.hpp"

#include <array>
#include <cstdint>
#include <doctest/doctest.h>
#include <vector>

#include "libtune/base/error.hpp"
#include "libtune/device/cuda/interop.hpp"
#include "libtune/kernel/compile.hpp"
#include "libtune/testing/devices.hpp"
#include "libtune/testing/fake_device.hpp"
#include "libtune/testing/run_tests.hpp"
#include "tests/device/cuda/fake_machine.hpp"

namespace tensor_map_test {

using size = std::array<std::size_t, 2>;

/// Rows of 16-bit elements.
struct rows {
  size all{10, 100};
  size padded{10, 104};
  size box{8, 64};
  std::size_t element_bytes = 2;
  std::size_t swizzle_bytes = 128;

  tune::cuda::tensor_map of(const tune::buffer& memory) const {
    return tune::cuda::make_tensor_map(memory, {.element_bytes = element_bytes,
                                                .size = all,
                                                .padded = padded,
                                                .box = box,
                                                .swizzle_bytes = swizzle_bytes});
  }
};

COMPILER_TEST_CASE("a tensor map describes axes with the fastest first, and strides in bytes") {
  const tune::context context = fake_cuda::make_device().create_context();
  const tune::buffer memory = context.create_buffer(4096);
  const tune::cuda::tensor_map map = rows{}.of(memory);
  const std::vector<std::uint64_t> words(map.words.begin(), map.words.begin() + 8);
  CHECK(words ==
        std::vector<std::uint64_t>{CU_TENSOR_MAP_DATA_TYPE_UINT16, CU_TENSOR_MAP_SWIZZLE_128B,
                                   tune::cuda::native_handle(memory), 100, 64, 208, 10, 8});
}

COMPILER_TEST_CASE("what the engine cannot copy is refused, with the numbers") {
  const tune::context context = fake_cuda::make_device().create_context();
  const tune::buffer memory = context.create_buffer(4096);
  const auto refuses = [&](const rows& given, const char* says) {
    CHECK_THROWS_WITH_AS(static_cast<void>(given.of(memory)), doctest::Contains(says),
                         tune::argument_error);
  };
  refuses({.padded = {10, 101}},
          "the stride of axis 0 is 202 bytes, which is not a multiple of 16");
  refuses({.padded = {10, 99}}, "axis 1 has 100 elements, 99 with padding");
  refuses({.box = {257, 64}}, "the box has 257 elements along axis 0; 1 to 256 are possible");
  refuses({.box = {8, 72}},
          "rows of its box have 144 bytes; they are multiples of 16, and no longer");
  refuses({.box = {8, 4}, .swizzle_bytes = 0}, "rows of its box have 8 bytes");
  refuses({.element_bytes = 3}, "elements of 3 bytes");
  refuses({.swizzle_bytes = 48}, "swizzle 48 bytes");
  CHECK_THROWS_WITH_AS(static_cast<void>(tune::cuda::make_tensor_map(memory, {.element_bytes = 2})),
                       doctest::Contains("one to five"), tune::argument_error);
  const tune::buffer brief = context.create_buffer(2 * (9 * 104 + 100) - 1);
  CHECK_THROWS_WITH_AS(static_cast<void>(rows{}.of(brief)),
                       doctest::Contains("beyond the 2071 bytes of the buffer"),
                       tune::argument_error);
  refuses({.all = {std::size_t{1} << 56, 100}, .padded = {std::size_t{1} << 56, 104}},
          "beyond the 4096 bytes");
  const auto odd = tune::cuda::wrap_memory(context, tune::cuda::native_handle(memory) + 8, 2000);
  CHECK_THROWS_WITH_AS(static_cast<void>(rows{}.of(odd)),
                       doctest::Contains("not a multiple of 16 bytes"), tune::argument_error);
  fake_cuda::settings().failures["cuTensorMapEncodeTiled"] = CUDA_ERROR_INVALID_VALUE;
  refuses({}, "cuTensorMapEncodeTiled: ");
  fake_cuda::settings().failures.clear();
}

TEST_CASE("a buffer that is not of CUDA has no tensor map") {
  const tune::testing::fake_device fake;
  const tune::buffer memory = fake.device().create_context().create_buffer(4096);
  CHECK_THROWS_AS(static_cast<void>(rows{}.of(memory)), tune::argument_error);
}

// One group copies a box, whose columns change places by the swizzle, and writes it as it came.
const tune::kernel_source copying{"copying.kernel", R"(
typedef struct __align__(128) { ulong words[16]; } tensor_map;
KERNEL REQD_WORK_GROUP_SIZE(32, 1, 1)
void copy_box(GLOBAL ushort* to, uint row, uint column, const __grid_constant__ tensor_map map) {
  __shared__ __align__(1024) ushort box[8 * 64];
  __shared__ ulong barrier;
  const uint here = (uint)__cvta_generic_to_shared(box);
  const uint arrived = (uint)__cvta_generic_to_shared(&barrier);
  if (get_local_id(0) == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(arrived) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(arrived), "n"(8 * 128) : "memory");
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];"
        ::"r"(here), "l"(&map), "r"(column), "r"(row), "r"(arrived) : "memory");
  }
  BARRIER();
  uint done = 0;
  while (done == 0) {
    asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0; selp.u32 %0, 1, 0, p; }"
        : "=r"(done) : "r"(arrived) : "memory");
  }
  for (uint i = get_local_id(0); i < 8 * 64; i += 32) {
    const uint of = i / 64, word = i % 64 / 8;
    to[i] = box[of * 64 + (word ^ of % 8) * 8 + i % 8];
  }
})"};

LIBTUNE_DEVICE_TEST_CASE("the engine copies boxes, with zeros beyond the array", device) {
  const auto has = device.info().hardware.compute_capability;
  if (device.info().backend != "CUDA" || !has || has->major < 9) return;
  const tune::context context = device.create_context();
  auto queue = context.create_command_queue();
  std::vector<std::uint16_t> array(10 * 104);
  for (std::size_t i = 0; i < array.size(); ++i) array[i] = static_cast<std::uint16_t>(i);
  const tune::buffer memory = context.create_buffer(array.size() * 2);
  queue.write(memory, array.data(), array.size() * 2);
  const tune::buffer copied = context.create_buffer(8 * 64 * 2);
  auto kernel = tune::compile(context, copying).create_kernel("copy_box");
  kernel.set_arguments(copied, std::uint32_t{4}, std::uint32_t{64}, rows{}.of(memory));
  queue.enqueue(kernel, {{32}, {32}});
  std::vector<std::uint16_t> got(8 * 64);
  queue.read(copied, got.data(), got.size() * 2);
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    const std::size_t row = 4 + i / 64;
    const std::size_t column = 64 + i % 64;
    const bool is_inside = row < 10 && column < 100;
    wrong += got[i] == (is_inside ? array[row * 104 + column] : 0) ? 0 : 1;
  }
  CHECK(wrong == 0);
}

}  // namespace tensor_map_test
