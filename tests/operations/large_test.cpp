// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Arrays of more than 2^32 elements, on devices that have room for them.
#include <array>
#include <cstddef>
#include <cstdint>
#include <doctest/doctest.h>

#include "libtune/testing/devices.hpp"
#include "libtune/testing/run_tests.hpp"
#include "operations/fill/fill.hpp"
#include "operations/hreduce/hreduce.hpp"
#include "operations/telescope/rfi/background.hpp"
#include "operations/telescope/rfi/noise_estimate.hpp"
#include "operations/telescope/rfi/threshold_sum.hpp"
#include "operations/transpose/transpose.hpp"

namespace large_test {

using tune::dtype;
using namespace tune::operations;  // NOLINT: all that it has is tested here

constexpr std::size_t gibibyte = std::size_t{1} << 30;

bool has_room(const tune::device& device) {
  const bool has = device.kind() == tune::device_kind::gpu &&
                   device.limits().global_memory_bytes >= 32 * gibibyte &&
                   device.limits().max_allocation_bytes >= 5 * gibibyte;
  if (!has) tune::testing::skip(device.name() + " is no GPU with 32 GiB");
  return has;
}

std::uint8_t byte_at(tune::command_queue& queue, const tune::device_array& array,
                     std::size_t index) {
  std::uint8_t byte = 0;
  queue.read(array.buffer(), &byte, 1, index);
  return byte;
}

LIBTUNE_DEVICE_TEST_CASE("more than 2^32 elements are filled", device) {
  if (!has_room(device)) return;
  const tune::context context = device.create_context();
  tune::command_queue queue = context.create_command_queue();
  constexpr std::size_t size = 4 * gibibyte + 5;
  const fill_template made(context, dtype::uint8, fill_tuning{.wgs = 256, .vector = 8, .items = 2});
  fill op = made.instantiate(queue, {size});
  op.ensure_all_bound();
  op.buffer("data").zero(queue);
  op.set_value(std::uint8_t{7});
  op.run();
  for (const std::size_t index :
       {std::size_t{0}, 2 * gibibyte, 4 * gibibyte - 1, 4 * gibibyte, size - 1}) {
    CHECK(byte_at(queue, op.buffer("data"), index) == 7);
  }
}

LIBTUNE_DEVICE_TEST_CASE("more than 2^32 elements are transposed", device) {
  if (!has_room(device)) return;
  const tune::context context = device.create_context();
  tune::command_queue queue = context.create_command_queue();
  constexpr std::size_t rows = 65539;
  constexpr std::size_t columns = 65544;
  const transpose_template made(context, dtype::uint8,
                                transpose_tuning{16, 16, 32, 4, tile_walk::along_columns});
  transpose op = made.instantiate(queue, rows, columns);
  op.ensure_all_bound();
  const tune::device_array src = op.buffer("src");
  const tune::device_array dest = op.buffer("dest");
  src.zero(queue);
  using place = std::array<std::size_t, 2>;
  const auto places = {place{0, 1}, place{32768, 65543}, place{65538, 0}, place{65538, 65543}};
  std::uint8_t mark = 1;
  for (const auto& [row, column] : places) {
    queue.write(src.buffer(), &mark, 1, src.layout().place(row, column));
    ++mark;
  }
  op.run();
  mark = 1;
  for (const auto& [row, column] : places) {
    CHECK(byte_at(queue, dest, dest.layout().place(column, row)) == mark);
    ++mark;
  }
}

LIBTUNE_DEVICE_TEST_CASE("rows of more than 2^31 elements are reduced", device) {
  if (!has_room(device)) return;
  const tune::context context = device.create_context();
  tune::command_queue queue = context.create_command_queue();
  constexpr std::size_t columns = 2 * gibibyte + 11;
  const hreduce_template made(context, max_of(dtype::uint8), columns, hreduce_tuning{256, 1, 4, 2});
  hreduce op = made.instantiate(queue, 2, columns, {3, columns});
  op.ensure_all_bound();
  const tune::device_array src = op.buffer("src");
  src.zero(queue);
  const std::uint8_t first = 5, last = 9, outside = 200;
  queue.write(src.buffer(), &outside, 1, src.layout().place(0, 2));
  queue.write(src.buffer(), &first, 1, src.layout().place(0, 3));
  queue.write(src.buffer(), &last, 1, src.layout().place(1, columns - 1));
  op.run();
  const auto dest = op.buffer("dest").get<std::uint8_t>(queue);
  CHECK(dest(0) == first);
  CHECK(dest(1) == last);
}

LIBTUNE_DEVICE_TEST_CASE("more than 2^32 samples are flagged", device) {
  using namespace tune::operations::rfi;  // NOLINT: the subject
  if (device.kind() != tune::device_kind::gpu ||
      device.limits().global_memory_bytes < 64 * gibibyte ||
      device.limits().max_allocation_bytes < 17 * gibibyte) {
    tune::testing::skip(device.name() + " is no GPU with 64 GiB");
    return;
  }
  const tune::context context = device.create_context();
  tune::command_queue queue = context.create_command_queue();
  constexpr std::size_t channels = 65540;
  constexpr std::size_t baselines = 65600;
  constexpr std::size_t c = channels - 10;
  constexpr std::size_t b = baselines - 1;
  const float spike = 5.0F;
  auto background = background_median_filter_template(
                        context, {3, true, flag_use::no_flags, data_order::baseline_major})
                        .instantiate(queue, channels, baselines);
  background.ensure_all_bound();
  const tune::device_array vis = background.buffer("vis");
  vis.zero(queue);
  queue.write(vis.buffer(), &spike, sizeof(spike), vis.layout().place(c, b) * sizeof(float));
  background.run();
  const tune::device_array deviations = background.buffer("deviations");
  float deviation = 0.0F;
  queue.read(deviations.buffer(), &deviation, sizeof(float),
             deviations.layout().place(b, c) * sizeof(float));
  CHECK(deviation == spike);

  auto noise = noise_estimate_template(context, data_order::baseline_major, channels)
                   .instantiate(queue, channels, baselines);
  noise.bind("deviations", deviations);
  noise.run();
  CHECK(noise.buffer("noise").get<float>(queue)(b) == 1.4826F * spike);

  auto threshold = threshold_sum_template(context, {.order = data_order::channel_major})
                       .instantiate(queue, channels, baselines);
  threshold.bind("deviations", deviations);
  threshold.ensure_all_bound();
  threshold.buffer("noise").fill(queue, 0.1F);
  threshold.run();
  const tune::device_array flags = threshold.buffer("flags");
  CHECK(byte_at(queue, flags, flags.layout().place(c, b)) == 1);
  CHECK(byte_at(queue, flags, flags.layout().place(c - 1, b)) == 0);
  CHECK(byte_at(queue, flags, flags.layout().place(c, b - 1)) == 0);
}

}  // namespace large_test
