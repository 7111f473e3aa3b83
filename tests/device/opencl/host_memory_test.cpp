// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/device/opencl/host_memory.hpp"

#include <doctest/doctest.h>

#include "libtune/base/error.hpp"
#include "libtune/device/context.hpp"
#include "tests/conformance/conformance_requirements.hpp"
#include "tests/device/opencl/first_device.hpp"

namespace host_memory_test {

using tune::managed_memory_kind;

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

}  // namespace host_memory_test
