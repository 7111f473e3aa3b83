// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include <array>
#include <doctest/doctest.h>
#include <vector>

#include "libtune/device/cuda/interop.hpp"
#include "libtune/testing/allocation_counter.hpp"
#include "tests/conformance/conformance_requirements.hpp"
#include "tests/device/cuda/fake_machine.hpp"

namespace fill_test {

struct bench {
  bench() { fake_cuda::reset(); }
  ~bench() { fake_cuda::reset(); }

  void fill(const tune::fill_region& region, std::size_t pattern_bytes) {
    std::array<std::byte, 64> pattern{};
    for (std::size_t i = 0; i < pattern.size(); ++i) pattern.at(i) = static_cast<std::byte>(i);
    queue.fill(memory, region, std::span(pattern).first(pattern_bytes));
  }

  tune::context context = fake_cuda::make_device().create_context();
  tune::command_queue queue = context.create_command_queue();
  tune::buffer memory = context.create_buffer(4096);
};

TEST_CASE_FIXTURE(bench, "the driver fills what it can, in one command") {
  fill({.row_bytes = 63}, 1);
  CHECK(fake_cuda::calls("cuMemsetD8Async") == 1);
  fill({.row_bytes = 62}, 2);
  CHECK(fake_cuda::calls("cuMemsetD16Async") == 1);
  fill({.row_pitch_bytes = 64, .row_bytes = 64, .rows = 8}, 4);
  CHECK(fake_cuda::calls("cuMemsetD32Async") == 1);
  fill({.row_pitch_bytes = 100, .row_bytes = 64, .rows = 8}, 4);
  CHECK(fake_cuda::calls("cuMemsetD2D32Async") == 1);
  fill({.offset_bytes = 1, .row_pitch_bytes = 101, .row_bytes = 64, .rows = 8}, 1);
  CHECK(fake_cuda::calls("cuMemsetD2D8Async") == 1);
  fill({.slice_pitch_bytes = 66, .row_bytes = 64, .slices = 8}, 2);
  CHECK(fake_cuda::calls("cuMemsetD2D16Async") == 1);
  fill({.row_bytes = 64}, 1);
  CHECK(fake_cuda::calls("cuMemsetD32Async") == 2);
  CHECK(fake_cuda::calls("cuLaunchKernel") == 0);
  CHECK(fake_cuda::calls("cuLibraryLoadData") == 0);
}

COMPILER_TEST_CASE_FIXTURE(bench, "a kernel fills the rest, in one command, and is compiled once") {
  int launches = 0;
  for (const std::size_t size : {8, 12, 24, 3}) {
    fill({.row_bytes = 48}, size);
    CHECK(fake_cuda::calls("cuLaunchKernel") == ++launches);
  }
  fill({.offset_bytes = 2, .row_bytes = 64}, 4);
  fill({.row_pitch_bytes = 34, .row_bytes = 32, .rows = 8}, 4);
  fill({.row_pitch_bytes = 32, .slice_pitch_bytes = 512, .row_bytes = 16, .rows = 8, .slices = 2},
       1);
  CHECK(fake_cuda::calls("cuLaunchKernel") == launches + 3);
  CHECK(fake_cuda::calls("cuLibraryLoadData") == 1);
}

COMPILER_TEST_CASE_FIXTURE(bench,
                           "a fill that takes a kernel allocates nothing once that is there") {
  fill({.row_bytes = 48}, 12);
  fake_cuda::reset();
  const tune::testing::allocation_counter counter;
  for (int i = 0; i < 10; ++i) fill({.row_bytes = 48}, 12);
  const auto allocations = counter.count();
  CHECK(fake_cuda::calls("cuLaunchKernel") == 10);
  // The fake driver's own: the names that it counts calls by.
  CHECK(allocations <= 4);
}

COMPILER_TEST_CASE("rows that the driver refuses are filled by a kernel") {
  fake_cuda::reset();
  fake_cuda::settings().refuses_rows = true;
  for (const auto& item : tune::testing::fill_requirements()) {
    DOCTEST_SUBCASE(item.sentence) { item.check(fake_cuda::make_device()); }
  }
  fake_cuda::reset();
}

COMPILER_TEST_CASE_FIXTURE(bench, "memory that begins anywhere is filled as any other") {
  const auto address = tune::cuda::native_handle(memory);
  const std::vector<std::uint32_t> pattern{1, 2, 3};
  for (const std::size_t shift : {1, 2, 4, 8}) {
    CAPTURE(shift);
    queue.zero(memory, 4096);
    const tune::buffer odd = tune::cuda::wrap_memory(context, address + shift, 120);
    queue.fill(odd, 120, std::as_bytes(std::span(pattern)));
    std::vector<std::uint32_t> values(30);
    queue.read(odd, values.data(), 120);
    for (std::size_t i = 0; i < values.size(); ++i) CHECK(values[i] == i % 3 + 1);
    std::uint8_t after = 1;
    queue.read(memory, &after, 1, shift + 120);
    CHECK(after == 0);
  }
}

COMPILER_TEST_CASE_FIXTURE(bench,
                           "a kernel that cannot be launched names the fill and the device") {
  fake_cuda::settings().failures["cuLaunchKernel"] = CUDA_ERROR_ILLEGAL_ADDRESS;
  CHECK_THROWS_WITH_AS(fill({.row_bytes = 48}, 12), doctest::Contains("launch of a fill"),
                       tune::device_error);
}

}  // namespace fill_test
