// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "operations/transpose/transpose.hpp"

#include <complex>
#include <cstdint>
#include <cstring>
#include <doctest/doctest.h>
#include <type_traits>

#include "libtune/testing/devices.hpp"
#include "libtune/testing/run_tests.hpp"
#include "operations/transpose/reference.hpp"
#include "tests/operations/numbers.hpp"
#include "tests/operations/short_tuning.hpp"

namespace transpose_test {

using tune::dtype;
using tune::operations::tile_walk;
using tune::operations::transpose;
using tune::operations::transpose_template;
using tune::operations::transpose_tuning;

struct extra {
  std::size_t src_rows = 0;
  std::size_t src_columns = 0;
  std::size_t dest_rows = 0;
  std::size_t dest_columns = 0;
};

template <class T>
int count_different(const tune::host_array<T>& a, const tune::host_array<T>& b) {
  int different = 0;
  for (std::size_t row = 0; row < a.size()[0]; ++row) {
    for (std::size_t column = 0; column < a.size()[1]; ++column) {
      different += std::memcmp(&a(row, column), &b(row, column), sizeof(T)) != 0 ? 1 : 0;
    }
  }
  return different;
}

/// Also that the padding of dest is left alone.
template <class T>
void transposes(const transpose_template& made, const tune::context& context, std::size_t rows,
                std::size_t columns, const extra& more = {}) {
  CAPTURE(rows);
  CAPTURE(columns);
  const auto type = tune::element_type::of<T>();
  tune::command_queue queue = context.create_command_queue();
  transpose op = made.instantiate(queue, rows, columns);
  const tune::device_array src(
      context, {type, {rows, columns}, {rows + more.src_rows, columns + more.src_columns}});
  const tune::array_layout dest_layout(type, {columns, rows},
                                       {columns + more.dest_rows, rows + more.dest_columns});
  const tune::device_array dest(context, dest_layout);
  const auto given = random_integers<T>(rows, columns, 200);
  src.set(queue, given);
  dest.zero(queue);
  op.bind("src", src);
  op.bind("dest", dest);
  op.run();

  tune::host_array<T> whole(dest_layout.padded());
  queue.read(dest.buffer(), whole.data(), dest_layout.bytes());
  const auto expected = tune::operations::transpose_on_host(given);
  CHECK(count_different(expected, whole) == 0);
  int written = 0;
  const T zero{};
  for (std::size_t c = 0; c < whole.size()[0]; ++c) {
    for (std::size_t r = 0; r < whole.size()[1]; ++r) {
      if (c < columns && r < rows) continue;
      written += std::memcmp(&whole(c, r), &zero, sizeof(T)) != 0 ? 1 : 0;
    }
  }
  CHECK(written == 0);
}

template <class T>
void transposes_all(const tune::context& context, const transpose_tuning& tuning) {
  CAPTURE(tuning.vector);
  CAPTURE(tuning.tile);
  const transpose_template made(context, tune::element_type::of<T>(), tuning);
  const std::size_t edge = tuning.tile * tuning.vector;
  transposes<T>(made, context, 3, 5);
  transposes<T>(made, context, 2 * edge, 3 * edge);
  transposes<T>(made, context, edge + 4, 2 * edge + 8);
  transposes<T>(made, context, 2 * edge + 1, edge - 1);
  transposes<T>(made, context, 2 * edge, 2 * edge, {1, 3, 2, 1});
}

static_assert(std::is_nothrow_move_assignable_v<tune::operations::transpose>);

LIBTUNE_DEVICE_TEST_CASE("matrices of odd shapes and paddings are transposed", device) {
  const tune::context context = device.create_context();
  const transpose_template made(context, dtype::float32);
  const extra more{1, 4, 2, 3};
  transposes<float>(made, context, 4, 5, more);
  transposes<float>(made, context, 53, 7, more);
  transposes<float>(made, context, 53, 81, more);
  transposes<float>(made, context, 32, 64, more);
}

LIBTUNE_DEVICE_TEST_CASE("words of several elements are transposed in registers", device) {
  const tune::context context = device.create_context();
  using walk = tile_walk;
  transposes_all<std::uint8_t>(context, {16, 8, 16, 4, walk::along_columns});
  transposes_all<std::int16_t>(context, {32, 8, 32, 2, walk::diagonal});
  transposes_all<tune::float16>(context, {8, 8, 16, 4, walk::along_rows});
  transposes_all<float>(context, {16, 16, 16, 4, walk::diagonal});
  transposes_all<double>(context, {8, 16, 16, 2, walk::along_columns});
}

LIBTUNE_DEVICE_TEST_CASE("elements of any size are transposed", device) {
  const tune::context context = device.create_context();
  transposes_all<std::complex<float>>(context, {8, 8, 16, 1, tile_walk::along_rows});
  transposes_all<std::complex<double>>(context, {8, 4, 16, 1, tile_walk::diagonal});
}

LIBTUNE_DEVICE_TEST_CASE("a matrix without elements is transposed to one without", device) {
  const tune::context context = device.create_context();
  transpose op =
      transpose_template(context, dtype::float32).instantiate(context.create_command_queue(), 0, 5);
  CHECK_NOTHROW(op.run());
}

LIBTUNE_DEVICE_TEST_CASE("a matrix with too many tiles is an error", device) {
  const tune::context context = device.create_context();
  const transpose_template made(context, dtype::float32);
  CHECK_THROWS_WITH_AS(
      made.instantiate(context.create_command_queue(), std::size_t{1} << 31, std::size_t{1} << 31),
      doctest::Contains("a part at a time"), tune::argument_error);
}

LIBTUNE_DEVICE_TEST_CASE("transpose can be tuned" * tune::testing::force_autotune(), device) {
  const tune::context context = device.create_context();
  tune::testing::tune_shortly(context);
  const transpose_template made(context, dtype::float32);
  CHECK(tune::operations::tuning_space(tune::operations::transpose_key{}).find(made.tuning()));
}

TEST_CASE("the space of transpose has the test default, and what it says of words holds") {
  for (const std::size_t bytes : {1, 2, 4, 8, 16, 24}) {
    const auto space = tune::operations::tuning_space(tune::operations::transpose_key{bytes});
    CHECK(space.find(transpose_tuning{}).has_value());
    for (const transpose_tuning& tuning : space) {
      CHECK((tuning.vector == 1 || tuning.vector * bytes <= 16));
      CHECK(tuning.tile % tuning.block_x == 0);
      CHECK(tuning.tile % tuning.block_y == 0);
    }
  }
}

TEST_CASE("transpositions of every size compile for CUDA") {
  tune::testing::for_each_compile_target("cuda", [](const tune::context& context) {
    for (const std::size_t bytes : {1, 2, 3, 4, 8, 12, 16, 24}) {
      CAPTURE(bytes);
      CHECK_NOTHROW(transpose_template(context, tune::element_type::opaque(bytes)));
    }
    CHECK_NOTHROW(transpose_template(context, dtype::float32,
                                     transpose_tuning{16, 8, 16, 4, tile_walk::diagonal}));
  });
}

}  // namespace transpose_test
