// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/device/device.hpp"

#include <doctest/doctest.h>

#include "libtune/testing/fake_device.hpp"

namespace device_test {

TEST_CASE("a UUID is written in groups of hexadecimal digits") {
  std::array<std::byte, 16> bytes{};
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(0xF0 + i);
  CHECK(tune::uuid_text(bytes) == "f0f1f2f3-f4f5-f6f7-f8f9-fafbfcfdfeff");
}

TEST_CASE("a device's shortcuts repeat what is known of it") {
  const tune::testing::fake_device fake(
      {.identity = {"name", "platform", "driver"},
       .kind = tune::device_kind::accelerator,
       .limits = {.max_work_group_size = 7, .local_memory_bytes = 11, .simd_group_size = 13}});
  const tune::device device = fake.device();
  CHECK(device.name() == "name");
  CHECK(device.platform_name() == "platform");
  CHECK(device.driver_version() == "driver");
  CHECK(device.kind() == tune::device_kind::accelerator);
  CHECK(device.max_work_group_size() == 7);
  CHECK(device.local_memory_bytes() == 11);
  CHECK(device.simd_group_size() == 13);
}

TEST_CASE("handles are equal if they mean the same device") {
  const tune::testing::fake_device one;
  const tune::testing::fake_device another;
  CHECK(one.device() == one.device());
  CHECK_FALSE(one.device() == another.device());
}

TEST_CASE("kinds of devices have names") {
  CHECK(tune::device_kind_name(tune::device_kind::gpu) == "GPU");
  CHECK(tune::device_kind_name(tune::device_kind::accelerator) == "accelerator");
  CHECK(tune::device_kind_name(tune::device_kind::cpu) == "CPU");
  CHECK(tune::device_kind_name(tune::device_kind::other) == "other");
}

}  // namespace device_test
