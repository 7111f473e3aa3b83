// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "operations/fill/fill.hpp"

#include <complex>
#include <cstdint>
#include <cstring>
#include <doctest/doctest.h>
#include <type_traits>
#include <vector>

#include "libtune/testing/devices.hpp"
#include "libtune/testing/run_tests.hpp"
#include "tests/operations/short_tuning.hpp"

struct fill_test_state {
  std::uint32_t words[6];
};
LIBTUNE_ELEMENT(fill_test_state)

using tune::dtype;
using tune::operations::fill;
using tune::operations::fill_template;
using tune::operations::fill_tuning;

namespace {

/// Every element in memory, padding included.
template <class T>
std::vector<T> all_elements(tune::command_queue queue, const tune::device_array& array) {
  std::vector<T> elements(array.layout().bytes() / sizeof(T));
  queue.read(array.buffer(), elements.data(), array.layout().bytes());
  return elements;
}

template <class T>
int count_others(tune::command_queue queue, const tune::device_array& array, const T& value) {
  int others = 0;
  for (const T& item : all_elements<T>(queue, array)) {
    others += std::memcmp(&item, &value, sizeof(T)) != 0 ? 1 : 0;
  }
  return others;
}

template <class T>
void fills(const tune::context& context, const T& value, const fill_tuning& tuning) {
  CAPTURE(tuning.vector);
  CAPTURE(tuning.items);
  CAPTURE(sizeof(T));
  const fill_template made(context, tune::element_type::of<T>(), tuning);
  tune::command_queue queue = context.create_command_queue();
  for (const std::size_t size : {std::size_t{1}, std::size_t{1023}, std::size_t{2048}}) {
    fill op = made.instantiate(queue, {size});
    op.set_value(value);
    // Larger than the array, so that what is written beyond its end is seen.
    const tune::buffer memory = context.create_buffer((size + 64) * sizeof(T));
    const tune::device_array whole(memory, {tune::element_type::of<T>(), {size + 64}});
    whole.zero(queue);
    op.bind("data", {memory, {tune::element_type::of<T>(), {size}}});
    op.run();
    CHECK(count_others(queue, whole, value) == 64);
  }
}

}  // namespace

static_assert(std::is_nothrow_move_assignable_v<tune::operations::fill>);

LIBTUNE_DEVICE_TEST_CASE("every element is filled, the padding too", device) {
  const tune::context context = device.create_context();
  tune::command_queue queue = context.create_command_queue();
  fill op = fill_template(context, dtype::uint32).instantiate(queue, {75, 63});
  op.bind("data", {context, {dtype::uint32, {75, 63}, {80, 73}}});
  op.set_value(std::uint32_t{0xDEADBEEF});
  op.run();
  CHECK(all_elements<std::uint32_t>(queue, op.buffer("data")).size() == 80 * 73);
  CHECK(count_others(queue, op.buffer("data"), std::uint32_t{0xDEADBEEF}) == 0);
}

LIBTUNE_DEVICE_TEST_CASE("without a value arrays are filled with zeros", device) {
  const tune::context context = device.create_context();
  tune::command_queue queue = context.create_command_queue();
  fill op = fill_template(context, dtype::float64).instantiate(queue, {3, 5, 7});
  op.ensure_all_bound();
  const std::vector<std::byte> ones(op.buffer("data").layout().bytes(), std::byte{1});
  queue.write(op.buffer("data").buffer(), ones.data(), ones.size());
  op.run();
  CHECK(count_others(queue, op.buffer("data"), 0.0) == 0);
}

LIBTUNE_DEVICE_TEST_CASE("elements of every size are filled, to the end and no further", device) {
  const tune::context context = device.create_context();
  fills<std::uint8_t>(context, 200, {.wgs = 64, .vector = 16, .items = 2});
  fills<std::int16_t>(context, -1234, {.wgs = 64, .vector = 4, .items = 1});
  fills<float>(context, 1.5F, {.wgs = 128, .vector = 4, .items = 8});
  fills<std::complex<float>>(context, {1, -2}, {.wgs = 64, .vector = 2, .items = 4});
  fills<std::complex<double>>(context, {3, 4}, {.wgs = 64, .vector = 1, .items = 1});
  fills<fill_test_state>(context, {{1, 2, 3, 4, 5, 6}}, {.wgs = 64, .vector = 1, .items = 2});
}

LIBTUNE_DEVICE_TEST_CASE("a value of another type is an error", device) {
  const tune::context context = device.create_context();
  fill op =
      fill_template(context, dtype::float32).instantiate(context.create_command_queue(), {16});
  CHECK_THROWS_WITH_AS(op.set_value(1.0),
                       "fill writes elements of float32, and the value is of "
                       "float64",
                       tune::type_error);
  const std::vector<std::byte> five(5);
  CHECK_THROWS_AS(op.set_value_bytes(five), tune::argument_error);
}

LIBTUNE_DEVICE_TEST_CASE("an empty array is filled with nothing", device) {
  const tune::context context = device.create_context();
  fill op =
      fill_template(context, dtype::float32).instantiate(context.create_command_queue(), {0, 4});
  CHECK_NOTHROW(op.run());
}

LIBTUNE_DEVICE_TEST_CASE("fill can be tuned" * tune::testing::force_autotune(), device) {
  const tune::context context = device.create_context();
  tune::testing::tune_shortly(context);
  const fill_template made(context, dtype::uint16);
  CHECK(tune::operations::tuning_space({.element_bytes = 2}).find(made.tuning()).has_value());
}

TEST_CASE("the space of fill has the test default, and words of 16 bytes at most") {
  for (const std::size_t bytes : {1, 2, 4, 8, 16, 12, 24}) {
    const auto space = tune::operations::tuning_space(tune::operations::fill_key{bytes});
    CHECK(space.find(fill_tuning{}).has_value());
    for (const fill_tuning& tuning : space) {
      CHECK((tuning.vector == 1 || tuning.vector * bytes <= 16));
    }
  }
}

TEST_CASE("fills of every size compile for CUDA") {
  tune::testing::for_each_compile_target("cuda", [](const tune::context& context) {
    for (const std::size_t bytes : {1, 2, 3, 4, 8, 12, 16, 24}) {
      CAPTURE(bytes);
      CHECK_NOTHROW(fill_template(context, tune::element_type::opaque(bytes)));
    }
    CHECK_NOTHROW(fill_template(context, dtype::float32, fill_tuning{256, 4, 8}));
  });
}
