// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/device/device.hpp"

#include <cstddef>
#include <doctest/doctest.h>

#include "libtune/device/device_identity.hpp"
#include "libtune/testing/devices.hpp"
#include "libtune/testing/fake_device.hpp"

namespace device_test {

using tune::complete_identity;
using tune::device_info;

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

constexpr std::size_t mebibyte = std::size_t{1} << 20;

device_info some_info() {
  return {.identity = {"name", "platform", "driver"},
          .backend = "API",
          .kind = tune::device_kind::gpu,
          .limits = {.max_work_group_size = 1024,
                     .max_work_group_extent = {1024, 512, 64},
                     .local_memory_bytes = 48 << 10,
                     .global_memory_bytes = 80 * 1024 * mebibyte,
                     .compute_units = 132,
                     .simd_group_size = 32,
                     .max_dynamic_local_memory_bytes = 227 << 10,
                     .registers_per_work_group = 65536,
                     .cache_bytes = 50 * mebibyte,
                     .clock_khz = 1'980'000,
                     .memory_clock_khz = 2'619'000,
                     .memory_bus_bits = 5120},
          .hardware = {.compute_capability = {{9, 0}}}};
}

TEST_CASE("the capabilities follow from the limits and the hardware") {
  CHECK(complete_identity(some_info()).capabilities ==
        tune::device_capabilities{.api = "API",
                                  .architecture = "sm_90",
                                  .work_group = 1024,
                                  .work_group_x = 1024,
                                  .work_group_y = 512,
                                  .work_group_z = 64,
                                  .local_memory_bytes = 48 << 10,
                                  .dynamic_local_memory_bytes = 227 << 10,
                                  .registers = 65536,
                                  .simd_group = 32});
}

TEST_CASE("the performance attributes follow from the limits") {
  CHECK(complete_identity(some_info()).performance ==
        tune::device_performance{.compute_units = 132,
                                 .memory_gib = 80,
                                 .cache_kib = 50 << 10,
                                 .memory_bus_bits = 5120,
                                 .clock_mhz = 1980,
                                 .memory_clock_mhz = 2619});
}

TEST_CASE("what a backend has set stays, and names are left alone") {
  device_info info = some_info();
  info.identity.capabilities.architecture = "gfx90a";
  info.identity.performance.compiler = "some compiler";
  const tune::device_identity identity = complete_identity(info);
  CHECK(identity.capabilities.architecture == "gfx90a");
  CHECK(identity.performance.compiler == "some compiler");
  CHECK(identity.name == "name");
  CHECK(identity.platform == "platform");
  CHECK(identity.driver_version == "driver");
}

TEST_CASE("a little more or less memory, as a new boot gives, is the same device") {
  device_info info = some_info();
  const auto identity = complete_identity(info);
  info.limits.global_memory_bytes -= 300 * mebibyte;
  CHECK(complete_identity(info) == identity);
  info.limits.global_memory_bytes -= 300 * mebibyte;
  CHECK(complete_identity(info) != identity);
  info.limits.global_memory_bytes = mebibyte;
  CHECK(complete_identity(info).performance.memory_gib == 1);
}

TEST_CASE("the clock of a CPU, which changes all the time, is no part of it") {
  device_info info = some_info();
  info.kind = tune::device_kind::cpu;
  CHECK(complete_identity(info).performance.clock_mhz == 0);
  CHECK(complete_identity(info).performance.memory_clock_mhz == 0);
  CHECK(complete_identity(info).performance.memory_gib == 0);
}

TEST_CASE("a device has the whole identity, whatever its backend has filled in") {
  const tune::testing::fake_device fake;
  CHECK(fake.device().identity().capabilities.work_group == 1024);
  CHECK(fake.device().identity().capabilities.api == "fake");
}

LIBTUNE_DEVICE_TEST_CASE("a real device tells its API, its architecture and its limits", device) {
  const tune::device_identity& identity = device.identity();
  CHECK(identity.capabilities.api == device.info().backend);
  CHECK_FALSE(identity.capabilities.architecture.empty());
  CHECK(identity.capabilities.work_group > 0);
  CHECK(identity.capabilities.simd_group > 0);
  CHECK_FALSE(identity.performance.compiler.empty());
  CHECK(identity.performance.compute_units > 0);
}

}  // namespace device_test
