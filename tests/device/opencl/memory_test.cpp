// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/device/opencl/memory.hpp"

#include <cstddef>
#include <doctest/doctest.h>
#include <vector>

#include "libtune/base/error.hpp"
#include "libtune/device/context.hpp"
#include "libtune/device/opencl/queue.hpp"
#include "tests/conformance/conformance_requirements.hpp"
#include "tests/device/opencl/first_device.hpp"

namespace memory_test {

using tune::managed_memory_kind;

constexpr std::size_t row_bytes = 4;
constexpr std::size_t pitch = 8;

/// Rows of four bytes that fill every second place of a buffer for so many.
tune::detail::copy_request rows_to(const tune::buffer& memory, std::vector<std::byte>& host,
                                   std::size_t rows, std::size_t slices = 1) {
  return {.source = {.host = host.data(), .row_pitch_bytes = pitch, .slice_pitch_bytes = 0},
          .destination = {.buffer = memory.impl().get(),
                          .row_pitch_bytes = pitch,
                          .slice_pitch_bytes = rows * pitch},
          .row_bytes = row_bytes,
          .rows = rows,
          .slices = slices,
          .blocking = false};
}

const cl::CommandQueue& handle_of(const tune::command_queue& queue) {
  return static_cast<const tune::opencl::opencl_queue&>(*queue.impl()).handle();
}

// The check of the end lies in front of the backend, so that only a driver can be the reason here.
TEST_CASE("a tall copy that the driver refuses for a reason ends with that reason") {
  const auto device = opencl_tests::first_device();
  if (!device) return;
  const tune::context context = device->create_context();
  tune::command_queue queue = context.create_command_queue();
  const std::size_t rows = 400'000;
  const tune::buffer memory = context.create_buffer(4 * pitch);
  std::vector<std::byte> host(rows * pitch);
  CHECK_THROWS_AS(
      tune::opencl::enqueue_copy(handle_of(queue), rows_to(memory, host, rows), device->info()),
      tune::device_error);
  CHECK_THROWS_AS(
      tune::opencl::enqueue_copy(handle_of(queue), rows_to(memory, host, 2, rows), device->info()),
      tune::device_error);
  queue.finish();
}

// A device that passes for one without the better kinds of managed memory.
std::optional<tune::device> device_with(managed_memory_kind most) {
  const auto device = opencl_tests::first_device();
  if (!device) return std::nullopt;
  return tune::device(std::make_shared<tune::opencl::opencl_device>(
      opencl_tests::handle_of(*device), device->platform_name(), most));
}

void check_memory(managed_memory_kind kind) {
  const auto device = device_with(kind);
  if (!device || device->info().managed_memory != kind) return;
  for (const auto& item : tune::testing::memory_requirements()) {
    DOCTEST_SUBCASE(item.sentence) { item.check(*device); }
  }
}

TEST_CASE("coarse-grained shared memory is mapped, and does all that managed memory has to do") {
  check_memory(managed_memory_kind::mapped);
}

TEST_CASE("a device without shared memory has no managed memory, and says what to do") {
  check_memory(managed_memory_kind::none);
  const auto device = device_with(managed_memory_kind::none);
  if (!device) return;
  CHECK_THROWS_WITH_AS(device->create_context().create_managed_buffer(4),
                       doctest::Contains("use a buffer and copies"), tune::device_error);
}

}  // namespace memory_test
