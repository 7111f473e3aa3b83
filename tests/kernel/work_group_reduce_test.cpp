// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
// Of libtune/kernel/work_group_reduce.kernel.
#include <algorithm>
#include <array>
#include <cstdint>
#include <doctest/doctest.h>
#include <random>
#include <string>
#include <vector>

#include "libtune/kernel/compile.hpp"
#include "libtune/testing/devices.hpp"
#include "tests/kernel/library_kernels.hpp"
#include "tests/kernel/on_device.hpp"
#include "tests/kernel/ranking_kernels.hpp"

namespace work_group_reduce_test {

using on_device::buffer_of;
using on_device::contents;

/// As numpy's RandomState(seed).randint(0, 1000, size).
std::vector<int> numbers_below_1000(std::size_t size, unsigned seed) {
  std::mt19937 engine(seed);
  std::vector<int> numbers(size);
  for (int& number : numbers) {
    do {
      number = static_cast<int>(engine() & 1023);
    } while (number > 999);
  }
  return numbers;
}

/// Launches one group of size * sets items.
void launch(tune::command_queue& queue, tune::kernel& kernel, int size, int sets) {
  const tune::work_size group{static_cast<std::size_t>(size), static_cast<std::size_t>(sets)};
  queue.enqueue(kernel, {group, group});
}

int reduced(const std::vector<int>& in, int first, int size, bool maximum) {
  int result = in[first];
  for (int i = first + 1; i < first + size; ++i) {
    result = maximum ? std::max(result, in[i]) : result + in[i];
  }
  return result;
}

void check_reductions(const std::vector<int>& out, const std::vector<int>& in, int size) {
  for (int variant = 0; variant < 8; ++variant) {
    const bool broadcast = (variant & 2) != 0;
    for (int i = 0; i < library_kernels::reduction_items / size * size; ++i) {
      if (!broadcast && i % size != 0) continue;
      CAPTURE(variant);
      CAPTURE(i);
      REQUIRE(out[256 * variant + i] == reduced(in, i / size * size, size, (variant & 4) != 0));
    }
  }
}

struct numbers {
  long long sum = 0;
  int maximum = -1;
  int place = 0;
  unsigned x = 0, y = 0, z = 0;
};

numbers numbers_of(const std::vector<int>& in, int first, int size) {
  numbers of;
  for (int i = 0; i < size; ++i) {
    const int v = in[first + i];
    of.sum += v;
    if (of.maximum < 0 || v / 100 > of.maximum / 100) of.place = i;
    of.maximum = std::max(of.maximum, v);
    of.x = std::max(of.x, static_cast<unsigned>(v % 256));
    of.y = std::max(of.y, static_cast<unsigned>(v / 4));
    of.z = std::max(of.z, static_cast<unsigned>(255 - v % 256));
  }
  return of;
}

LIBTUNE_DEVICE_TEST_CASE("every size of a set is reduced exactly, in every variant", device) {
  auto queue = device.create_context().create_command_queue();
  const tune::program program = tune::compile(queue.context(), library_kernels::reductions());
  const std::vector<int> in = numbers_below_1000(library_kernels::reduction_items, 1);
  CHECK(in[0] == 37);
  CHECK(in[1] == 235);
  const tune::buffer source = buffer_of(queue, in);
  for (const int size : library_kernels::reduction_sizes) {
    CAPTURE(size);
    const tune::buffer result = buffer_of(queue, std::vector<int>(8 * 256, -1));
    auto kernel = program.create_kernel("reduce_" + std::to_string(size));
    kernel.set_arguments(result, source);
    launch(queue, kernel, size, 256 / size);
    check_reductions(contents<int>(queue, result), in, size);
  }
}

LIBTUNE_DEVICE_TEST_CASE("vectors, 64-bit numbers and structs are reduced", device) {
  auto queue = device.create_context().create_command_queue();
  const tune::program program = tune::compile(queue.context(), library_kernels::types());
  constexpr int items = library_kernels::type_items;
  const std::vector<int> in = numbers_below_1000(items, 2);
  const tune::buffer source = buffer_of(queue, in);
  for (const int size : library_kernels::type_sizes) {
    const tune::buffer result =
        buffer_of(queue, std::vector<long long>(library_kernels::type_columns * items, -1));
    auto kernel = program.create_kernel("types_" + std::to_string(size));
    kernel.set_arguments(result, source);
    launch(queue, kernel, size, items / size);
    const auto out = contents<long long>(queue, result);
    for (int i = 0; i < items; ++i) {
      CAPTURE(size);
      CAPTURE(i);
      const numbers expected = numbers_of(in, i / size * size, size);
      REQUIRE(out[i] == expected.sum);
      REQUIRE(out[items + i] == -2 * expected.sum);
      REQUIRE(out[2 * items + i] ==
              (static_cast<long long>(expected.maximum) << 33) - expected.maximum);
      REQUIRE(out[3 * items + i] == 4 * expected.sum + size);
      REQUIRE(out[4 * items + i] == expected.maximum / 100);
      REQUIRE(out[5 * items + i] == expected.place);
      REQUIRE(out[6 * items + i] == expected.x + 256 * expected.y + 65536 * expected.z);
    }
  }
}

LIBTUNE_DEVICE_TEST_CASE("one scratch serves call after call, whatever macros the kernel has",
                         device) {
  auto queue = device.create_context().create_command_queue();
  tune::defines macros;
  for (const char* name : {"size", "type", "value", "index", "step", "mask"}) {
    macros.add(name, "broken");
  }
  const tune::program program = tune::compile(queue.context(), library_kernels::repeats(), macros);
  constexpr unsigned rounds = 50;
  for (const int size : library_kernels::repeat_sizes) {
    if (static_cast<std::size_t>(size) > device.max_work_group_size()) continue;
    CAPTURE(size);
    const auto n = static_cast<unsigned>(size);
    const tune::buffer result = buffer_of(queue, std::vector<unsigned>(n));
    auto kernel = program.create_kernel("repeat_" + std::to_string(size));
    kernel.set_arguments(result, rounds);
    launch(queue, kernel, size, 1);
    const unsigned expected = rounds * (n * (n - 1) / 2) + n * (rounds * (rounds - 1) / 2);
    CHECK(contents<unsigned>(queue, result) == std::vector<unsigned>(n, expected));
  }
}

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

}  // namespace work_group_reduce_test
