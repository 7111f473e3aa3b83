// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Of libtune/kernel/transpose_tile.kernel.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <doctest/doctest.h>
#include <random>
#include <string>
#include <vector>

#include "libtune/kernel/compile.hpp"
#include "libtune/testing/devices.hpp"
#include "tests/kernel/library_kernels.hpp"
#include "tests/kernel/on_device.hpp"

namespace transpose_tile_test {

using on_device::buffer_of;
using on_device::contents;

using bytes = std::vector<unsigned char>;

/// A matrix, with paddings of the source and of the result in elements.
struct shape {
  std::uint32_t rows, columns;
  std::uint32_t row_padding = 0, column_padding = 0;
  std::uint32_t out_row_padding = 0, out_column_padding = 0;

  std::uint32_t in_stride() const { return columns + column_padding; }
  std::uint32_t out_stride() const { return rows + out_column_padding; }
  std::size_t in_size() const { return std::size_t{rows + row_padding} * in_stride(); }
  std::size_t out_size() const { return std::size_t{columns + out_row_padding} * out_stride(); }
};

constexpr shape shapes[] = {
    {4, 5},   {53, 7}, {53, 81, 1, 4, 2, 3}, {32, 64, 1, 4, 2, 3}, {1, 1}, {1, 100},
    {100, 1}, {48, 96}};

bytes random_bytes(std::size_t size) {
  std::mt19937 engine(1);
  bytes data(size);
  for (unsigned char& byte : data) byte = static_cast<unsigned char>(engine());
  return data;
}

/// Runs a transposing kernel; the result is preset to bytes of 0xA5.
bytes transposed(tune::command_queue& queue, const tune::program& program, const std::string& name,
                 const library_kernels::flip_shape& flip, const shape& matrix, const bytes& in) {
  const tune::buffer source = buffer_of(queue, in);
  const tune::buffer result = buffer_of(queue, bytes(matrix.out_size() * flip.bytes, 0xA5));
  auto kernel = program.create_kernel(name);
  kernel.set_arguments(result, source, matrix.rows, matrix.columns, matrix.in_stride(),
                       matrix.out_stride());
  const auto block = static_cast<std::size_t>(flip.block);
  queue.enqueue(kernel, {{tune::divide_up(matrix.columns, block * flip.vtx) * block,
                          tune::divide_up(matrix.rows, block * flip.vty) * block},
                         {block, block}});
  return contents<unsigned char>(queue, result);
}

LIBTUNE_DEVICE_TEST_CASE("elements of every size are transposed, and nothing else is touched",
                         device) {
  auto queue = device.create_context().create_command_queue();
  const tune::program program = tune::compile(queue.context(), library_kernels::transposes());
  for (const auto& flip : library_kernels::flips) {
    for (const shape& matrix : shapes) {
      CAPTURE(flip.bytes);
      CAPTURE(matrix.rows);
      CAPTURE(matrix.columns);
      const auto size = static_cast<std::size_t>(flip.bytes);
      const bytes in = random_bytes(matrix.in_size() * size);
      bytes expected(matrix.out_size() * size, 0xA5);
      for (std::size_t row = 0; row < matrix.rows; ++row) {
        for (std::size_t column = 0; column < matrix.columns; ++column) {
          std::memcpy(&expected[(column * matrix.out_stride() + row) * size],
                      &in[(row * matrix.in_stride() + column) * size], size);
        }
      }
      const std::string name = "flip_" + std::to_string(flip.bytes);
      CHECK(transposed(queue, program, name, flip, matrix, in) == expected);
    }
  }
}

LIBTUNE_DEVICE_TEST_CASE("a conversion with a gain can be part of the transpose", device) {
  auto queue = device.create_context().create_command_queue();
  const tune::program program = tune::compile(queue.context(), library_kernels::transposes());
  const shape matrix{53, 81, 1, 4, 2, 3};
  const bytes in = random_bytes(matrix.in_size() * sizeof(std::int16_t));
  const bytes out = transposed(queue, program, "scale", library_kernels::scaling, matrix, in);
  for (std::size_t row = 0; row < matrix.out_size() / matrix.out_stride(); ++row) {
    for (std::size_t column = 0; column < matrix.out_stride(); ++column) {
      float value = 0;
      std::memcpy(&value, &out[(row * matrix.out_stride() + column) * sizeof value], sizeof value);
      float expected = 0;
      std::memset(&expected, 0xA5, sizeof expected);
      if (row < matrix.columns && column < matrix.rows) {
        std::int16_t from = 0;
        std::memcpy(&from, &in[(column * matrix.in_stride() + row) * sizeof from], sizeof from);
        expected = 0.5f * static_cast<float>(from);
      }
      REQUIRE(value == expected);
    }
  }
}

LIBTUNE_DEVICE_TEST_CASE("coordinates beyond 32 bits are kept whole", device) {
  auto queue = device.create_context().create_command_queue();
  auto kernel = tune::compile(queue.context(), library_kernels::tiles()).create_kernel("far");
  // The tile has 6 of its 8 rows in a matrix of 5 columns.
  const std::uint64_t tile_row = std::uint64_t{5} << 32;
  const std::uint64_t rows = 8 * tile_row + 6;
  const tune::buffer result = buffer_of(queue, std::vector<std::uint32_t>(40, 7));
  kernel.set_arguments(result, tile_row, rows);
  // out is indexed by 8 * row + column - 8 * tile_row, where column counts from 8 * tile_row on.
  queue.enqueue(kernel, {{8, 8}, {8, 8}});
  const auto out = contents<std::uint32_t>(queue, result);
  for (std::uint64_t row = 0; row < 5; ++row) {
    for (std::uint64_t column = 0; column < 8; ++column) {
      CAPTURE(row);
      CAPTURE(column);
      const auto source_row = static_cast<std::uint32_t>((8 * tile_row + column) % 1000);
      const std::uint32_t expected =
          column < 6 ? 10 * source_row + static_cast<std::uint32_t>(row) : 7;
      CHECK(out[8 * row + column] == expected);
    }
  }
}

LIBTUNE_DEVICE_TEST_CASE("a kernel can hold two tiles, and use them again", device) {
  auto queue = device.create_context().create_command_queue();
  auto kernel = tune::compile(queue.context(), library_kernels::tiles()).create_kernel("two");
  std::vector<int> in(256);
  for (int i = 0; i < 256; ++i) in[i] = i;
  const tune::buffer source = buffer_of(queue, in);
  const tune::buffer result = buffer_of(queue, std::vector<int>(256));
  kernel.set_arguments(result, source);
  queue.enqueue(kernel, {{8, 8}, {8, 8}});
  const auto out = contents<int>(queue, result);
  for (int i = 0; i < 256; ++i) CHECK(out[i] == i / 64 * 64 + i % 8 * 8 + i / 8 % 8);
}

}  // namespace transpose_tile_test
