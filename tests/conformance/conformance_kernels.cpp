// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "tests/conformance/conformance_kernels.hpp"

#include <algorithm>
#include <cstdint>
#include <string>

#include "libtune/kernel/compile.hpp"

#include "conformance.kernel.hpp"

namespace tune::testing {
namespace {

std::uint32_t joined(std::size_t x, std::size_t y, std::size_t z) {
  return static_cast<std::uint32_t>(x + 100 * y + 10000 * z);
}

void add(fake_launch& launch) {
  const auto data = launch.buffer<std::int32_t>(0);
  const auto amount = launch.argument<std::int32_t>(1);
  const auto factor = static_cast<std::int32_t>(launch.integer("factor"));
  launch.for_each_item(
      [&](std::size_t x, std::size_t, std::size_t) { data[x] += amount * factor; });
}

void ids(fake_launch& launch) {
  const work_size& local = launch.range().local;
  std::size_t i = 0;
  launch.for_each_item([&](std::size_t x, std::size_t y, std::size_t z) {
    launch.buffer<std::uint32_t>(0)[i] = joined(x, y, z);
    launch.buffer<std::uint32_t>(1)[i] = joined(x % local.x, y % local.y, z % local.z);
    launch.buffer<std::uint32_t>(2)[i] = joined(x / local.x, y / local.y, z / local.z);
    ++i;
  });
}

void scalars(fake_launch& launch) {
  const auto out = launch.buffer<std::int64_t>(0);
  out[0] = launch.argument<std::uint8_t>(1);
  out[1] = launch.argument<std::int16_t>(2);
  out[2] = launch.argument<std::int32_t>(3);
  out[3] = static_cast<std::int64_t>(launch.argument<std::uint64_t>(4));
  out[4] = static_cast<std::int64_t>(launch.argument<float>(5) * 4.0F);
}

void reverse(fake_launch& launch) {
  const auto data = launch.buffer<std::int32_t>(0);
  const std::size_t group = launch.range().local.x;
  for (std::size_t first = 0; first < launch.range().global.x; first += group) {
    std::ranges::reverse(data.subspan(first, group));
  }
}

void busy(fake_launch& launch) {
  const auto data = launch.buffer<float>(0);
  const auto rounds = launch.argument<std::int32_t>(1);
  launch.for_each_item([&](std::size_t x, std::size_t, std::size_t) {
    for (std::int32_t i = 0; i < rounds; ++i) data[x] = data[x] * 0.5F + 1.0F;
  });
}

std::size_t tile_bytes(const fake_macros& macros) {
  return static_cast<std::size_t>(macros.integer("reverse_group")) * sizeof(std::int32_t);
}

work_size reversed_group(const fake_macros& macros) {
  return {static_cast<std::size_t>(macros.integer("reverse_group"))};
}

}  // namespace

program build_conformance_program(const context& context, int factor) {
  const kernel_source source{"conformance.kernel", std::string(embedded::conformance_kernel)};
  return compile(
      context, source,
      defines().add("factor", factor).add("reverse_group", static_cast<int>(reverse_group)));
}

void add_conformance_kernels(const fake_device& device) {
  const fake_parameter buffer = fake_parameter::buffer();
  const fake_parameter int32 = fake_parameter::scalar<std::int32_t>();
  device.add_kernel("add", {.parameters = {buffer, int32}, .run = add});
  device.add_kernel("ids", {.parameters = {buffer, buffer, buffer}, .run = ids});
  device.add_kernel("scalars", {.parameters = {buffer, fake_parameter::scalar<std::uint8_t>(),
                                               fake_parameter::scalar<std::int16_t>(), int32,
                                               fake_parameter::scalar<std::uint64_t>(),
                                               fake_parameter::scalar<float>()},
                                .run = scalars});
  device.add_kernel("reverse", {.parameters = {buffer},
                                .run = reverse,
                                .local_memory_bytes = tile_bytes,
                                .max_work_group_size = reverse_group,
                                .required_work_group_size = reversed_group});
  device.add_kernel("reverse_dynamic", {.parameters = {buffer}, .run = reverse});
  device.add_kernel("busy", {.parameters = {buffer, int32}, .run = busy});
}

}  // namespace tune::testing
