// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include "libtune/extra/bare/bare_kernel.hpp"
#include "libtune/testing/fake_device.hpp"

namespace bare_sample {

struct scaling {
  float factor;
  std::uint32_t count;
};

/// A device with the kernel "scale": output, input, struct. It is right unless width is 4, and the
/// faster the larger the work group is.
inline tune::testing::fake_device scaling_device() {
  tune::testing::fake_device device;
  device.add_kernel("scale", 3, [](tune::testing::fake_launch& launch) {
    const auto to = launch.buffer<float>(0);
    const auto from = launch.buffer<float>(1);
    const auto by = launch.argument<scaling>(2);
    const auto width = static_cast<std::size_t>(launch.integer("width"));
    launch.for_each_item([&](std::size_t x, std::size_t, std::size_t) {
      for (std::size_t i = x * width; i < (x + 1) * width && i < by.count; ++i) {
        to[i] = width == 4 ? 0 : by.factor * from[i];
      }
    });
  });
  device.set_time([](const tune::testing::fake_launch& launch) {
    return std::chrono::nanoseconds(100000 / launch.integer("block_size_x") +
                                    launch.integer("width"));
  });
  return device;
}

inline std::vector<float> counted(std::size_t count) {
  std::vector<float> numbers(count);
  std::iota(numbers.begin(), numbers.end(), 1.0F);
  return numbers;
}

inline std::vector<float> doubled(std::vector<float> numbers) {
  for (float& each : numbers) each *= 2;
  return numbers;
}

inline tune::bare_kernel scaling_kernel(std::size_t count = 1000) {
  const auto numbers = counted(count);
  tune::bare_kernel kernel({.name = "scale", .source = "a kernel", .problem_size = {count}});
  kernel.parameter("block_size_x", {32, 64, 128}).parameter("width", {1, 2, 4});
  kernel.divide_grid_x({"block_size_x", "width"});
  kernel.arguments(tune::out(numbers, "to"), tune::in(numbers, "from"),
                   scaling{2.0F, static_cast<std::uint32_t>(count)});
  return kernel.answer(0, doubled(numbers));
}

inline tune::configuration chosen(int block, int width) {
  return {{"block_size_x", block}, {"width", width}};
}

struct on_device {
  tune::testing::fake_device fake = scaling_device();
  tune::context context = fake.device().create_context();
  tune::command_queue queue = context.create_command_queue();
};

}  // namespace bare_sample
