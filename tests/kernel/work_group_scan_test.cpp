// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Of libtune/kernel/work_group_scan.kernel.
#include <array>
#include <cstdint>
#include <doctest/doctest.h>
#include <random>
#include <string>
#include <vector>

#include "libtune/kernel/compile.hpp"
#include "libtune/testing/devices.hpp"
#include "tests/kernel/on_device.hpp"
#include "tests/kernel/ranking_kernels.hpp"

namespace work_group_scan_test {

using on_device::buffer_of;
using on_device::contents;

/// The columns of library_kernels::scans() of one item, from what the items of its set before it
/// have.
std::array<int, library_kernels::scan_columns> expected_of(const std::vector<int>& in, int first,
                                                           int item) {
  int sum = 0;
  std::uint16_t offset = 0;
  const auto add = [&](int i) {
    sum += in[i];
    const auto factor = static_cast<std::uint32_t>(2 * in[i] + 1);
    offset = static_cast<std::uint16_t>(offset * factor + static_cast<std::uint32_t>(in[i]));
  };
  for (int i = first; i < item; ++i) add(i);
  const int sum_before = sum;
  const int offset_before = offset;
  add(item);
  return {sum, sum_before, sum, sum_before, offset, offset_before, 2 * sum};
}

LIBTUNE_DEVICE_TEST_CASE("sets of every size are scanned exactly, in order", device) {
  auto queue = device.create_context().create_command_queue();
  const tune::program program = tune::compile(queue.context(), library_kernels::scans());
  constexpr int items = library_kernels::scan_items;
  std::mt19937 engine(1);
  std::vector<int> in(items);
  for (int& number : in) number = static_cast<int>(engine() % 1000);
  const tune::buffer source = buffer_of(queue, in);
  for (const int size : library_kernels::scan_sizes) {
    const tune::buffer result =
        buffer_of(queue, std::vector<int>(library_kernels::scan_columns * items, -1));
    auto kernel = program.create_kernel("scan_" + std::to_string(size));
    kernel.set_arguments(result, source);
    const tune::work_size group{static_cast<std::size_t>(size),
                                static_cast<std::size_t>(items / size)};
    queue.enqueue(kernel, {group, group});
    const auto out = contents<int>(queue, result);
    for (int i = 0; i < items; ++i) {
      const auto expected = expected_of(in, i / size * size, i);
      for (int column = 0; column < library_kernels::scan_columns; ++column) {
        CAPTURE(size);
        CAPTURE(i);
        CAPTURE(column);
        REQUIRE(out[static_cast<std::size_t>(column * items + i)] == expected[column]);
      }
    }
  }
}

}  // namespace work_group_scan_test
