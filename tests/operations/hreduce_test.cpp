// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "operations/hreduce/hreduce.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <doctest/doctest.h>
#include <functional>
#include <limits>
#include <type_traits>

#include "libtune/testing/devices.hpp"
#include "libtune/testing/run_tests.hpp"
#include "libtune/verify/comparison.hpp"
#include "operations/hreduce/reference.hpp"
#include "tests/operations/numbers.hpp"
#include "tests/operations/short_tuning.hpp"

struct hreduce_test_pair {
  std::uint32_t sum;
  std::uint32_t product;
};
LIBTUNE_ELEMENT(hreduce_test_pair)

using tune::dtype;
using tune::host_array;
using tune::operations::column_range;
using tune::operations::hreduce;
using tune::operations::hreduce_on_host;
using tune::operations::hreduce_template;
using tune::operations::hreduce_tuning;
using tune::operations::max_of;
using tune::operations::min_of;
using tune::operations::reduction;
using tune::operations::sum_of;

namespace {

template <class T>
host_array<T> reduce(const hreduce_template& made, tune::command_queue queue,
                     const host_array<T>& src, const column_range& columns) {
  hreduce op = made.instantiate(queue, src.size()[0], src.size()[1], columns);
  op.bind("src", {queue.context(), src.layout()});
  op.ensure_all_bound();
  op.buffer("src").set(queue, src);
  op.run();
  return op.buffer("dest").template get<T>(queue);
}

template <class T>
void check_equal(const host_array<T>& expected, const host_array<T>& got) {
  const auto compared = tune::compare(expected.layout(), expected.data(), got.layout(), got.data(),
                                      {.absolute = 0, .relative = 0});
  CHECK_MESSAGE(compared.matches(), compared.describe());
}

/// The value type of T on the host is Value.
template <class T, class Value, class Combine>
void reduces(const tune::context& context, const reduction& how, const Value& identity,
             Combine&& combine, const hreduce_tuning& tuning) {
  CAPTURE(how.type.name());
  CAPTURE(how.operation);
  CAPTURE(tuning.wgsx);
  const hreduce_template made(context, how, 100, tuning);
  tune::command_queue queue = context.create_command_queue();
  const std::size_t step = tuning.wgsx * tuning.vector * tuning.items;
  for (const std::size_t columns : {std::size_t{8}, step + 3, 3 * step}) {
    const auto src = random_integers<T>(7, columns, 3);
    for (const column_range& range :
         {column_range{0, columns}, column_range{1, columns - 1}, column_range{2, 4}}) {
      check_equal(hreduce_on_host<T>(src, range, identity, combine),
                  reduce(made, queue, src, range));
    }
  }
}

const auto larger = [](auto a, auto b) { return a > b ? a : b; };
const auto smaller = [](auto a, auto b) { return a < b ? a : b; };

}  // namespace

static_assert(std::is_nothrow_move_assignable_v<tune::operations::hreduce>);

LIBTUNE_DEVICE_TEST_CASE("columns of rows are added", device) {
  const tune::context context = device.create_context();
  const hreduce_template made(context, sum_of(dtype::uint32));
  tune::command_queue queue = context.create_command_queue();
  for (const auto& [rows, columns, range] :
       {std::tuple(129, 173, column_range{67, 128}), std::tuple(7, 8, column_range{1, 7})}) {
    const auto src = random_integers<std::uint32_t>(rows, columns, 1000);
    check_equal(hreduce_on_host<std::uint32_t>(src, range, std::uint32_t{0}, std::plus<>()),
                reduce(made, queue, src, range));
  }
}

LIBTUNE_DEVICE_TEST_CASE("numbers of every type are reduced, in words or not", device) {
  const tune::context context = device.create_context();
  reduces<float>(context, sum_of(dtype::float32), 0.0F, std::plus<>(), {64, 2, 4, 2});
  reduces<std::int16_t>(context, min_of(dtype::int16), std::int16_t{32767}, smaller, {32, 4, 2, 1});
  reduces<std::uint64_t>(context, max_of(dtype::uint64), std::uint64_t{0}, larger, {32, 2, 2, 4});
  reduces<double>(context, max_of(dtype::float64), -std::numeric_limits<double>::infinity(), larger,
                  {128, 1, 1, 2});
  reduces<tune::float16>(context, sum_of(dtype::float16), 0.0F, std::plus<>(), {64, 1, 1, 2});
  reduces<tune::bfloat16>(context, min_of(dtype::bfloat16), std::numeric_limits<float>::infinity(),
                          smaller, {32, 2, 1, 1});
  reduces<std::complex<float>>(context, sum_of(dtype::complex64), std::complex<float>(),
                               std::plus<>(), {64, 2, 1, 2});
}

LIBTUNE_DEVICE_TEST_CASE("few long rows are reduced in parts", device) {
  const tune::context context = device.create_context();
  tune::command_queue queue = context.create_command_queue();
  const hreduce_template made(context, sum_of(dtype::uint32), 100'000, hreduce_tuning{32, 2, 2, 1});
  constexpr std::size_t columns = 100'003;
  for (const std::size_t rows : {std::size_t{1}, std::size_t{3}}) {
    const auto src = random_integers<std::uint32_t>(rows, columns, 1000);
    const column_range range{5, columns - 1};
    hreduce op = made.instantiate(queue, rows, columns, range);
    CHECK(op.slot_names().size() == 3);  // src, dest and partial
    check_equal(hreduce_on_host<std::uint32_t>(src, range, std::uint32_t{0}, std::plus<>()),
                reduce(made, queue, src, range));
  }
}

LIBTUNE_DEVICE_TEST_CASE("rows are not divided for less than a second launch takes", device) {
  const tune::context context = device.create_context();
  tune::command_queue queue = context.create_command_queue();
  const hreduce_template made(context, sum_of(dtype::uint32), 2048, hreduce_tuning{32, 1, 1, 1});
  const auto slots = [&](std::size_t rounds) {
    return made.instantiate(queue, 1, 32 * rounds, {0, 32 * rounds}).slot_names().size();
  };
  CHECK(slots(16) == 2);  // two parts would save 8 rounds
  CHECK(slots(23) == 2);
  CHECK(slots(24) == 3);  // three parts save 16
  const auto src = random_integers<std::uint32_t>(1, 32 * 24, 1000);
  const column_range all{0, 32 * 24};
  check_equal(hreduce_on_host<std::uint32_t>(src, all, std::uint32_t{0}, std::plus<>()),
              reduce(made, queue, src, all));
}

LIBTUNE_DEVICE_TEST_CASE("parts of float16 are not rounded in between", device) {
  const tune::context context = device.create_context();
  tune::command_queue queue = context.create_command_queue();
  const hreduce_template made(context, sum_of(dtype::float16), 32768, hreduce_tuning{32, 1, 1, 1});
  host_array<tune::float16> src({1, 32768});
  src.fill(tune::float16(1.0F));
  CHECK(static_cast<float>(reduce(made, queue, src, {0, 32768})(0)) == 32768.0F);
}

LIBTUNE_DEVICE_TEST_CASE("structs are reduced by an expression of their own", device) {
  const tune::context context = device.create_context();
  const reduction how{.type = tune::element_type::of<hreduce_test_pair>(),
                      .operation = "join(a, b)",
                      .identity = "unit_pair()",
                      .definitions = R"(
typedef struct { uint sum; uint product; } hreduce_test_pair;
DEVICE_FN hreduce_test_pair unit_pair() { hreduce_test_pair u; u.sum = 0; u.product = 1; return u; }
DEVICE_FN hreduce_test_pair join(hreduce_test_pair a, hreduce_test_pair b) {
  a.sum += b.sum; a.product *= b.product; return a;
})"};
  tune::command_queue queue = context.create_command_queue();
  host_array<hreduce_test_pair> src({2, 100});
  for (std::size_t c = 0; c < 100; ++c) {
    const auto n = static_cast<std::uint32_t>(c);
    src(0, c) = {n, 2 * n + 1};
    src(1, c) = {1, 1};
  }
  const auto combine = [](hreduce_test_pair a, const hreduce_test_pair& b) {
    return hreduce_test_pair{a.sum + b.sum, a.product * b.product};
  };
  check_equal(hreduce_on_host<hreduce_test_pair>(src, {0, 100}, hreduce_test_pair{0, 1}, combine),
              reduce(hreduce_template(context, how), queue, src, {0, 100}));
}

LIBTUNE_DEVICE_TEST_CASE("NaN is no maximum where there is a number", device) {
  const tune::context context = device.create_context();
  tune::command_queue queue = context.create_command_queue();
  host_array<float> src({1, 3});
  src(0, 0) = std::nanf("");
  src(0, 1) = -5;
  src(0, 2) = -7;
  CHECK(reduce(hreduce_template(context, max_of(dtype::float32)), queue, src, {0, 3})(0) == -5);
}

LIBTUNE_DEVICE_TEST_CASE("a range outside of the columns is an error", device) {
  const tune::context context = device.create_context();
  const hreduce_template made(context, sum_of(dtype::float32));
  tune::command_queue queue = context.create_command_queue();
  for (const column_range& wrong : {column_range{3, 3}, column_range{4, 3}, column_range{0, 9}}) {
    CHECK_THROWS_WITH_AS(made.instantiate(queue, 2, 8, wrong), doctest::Contains("columns"),
                         tune::argument_error);
  }
}

LIBTUNE_DEVICE_TEST_CASE("hreduce can be tuned" * tune::testing::force_autotune(), device) {
  const tune::context context = device.create_context();
  tune::testing::tune_shortly(context);
  const hreduce_template made(context, sum_of(dtype::float32), 1000);
  CHECK(tune::operations::tuning_space(tune::operations::hreduce_key{}).find(made.tuning()));
}

TEST_CASE("the space of hreduce has the test default, and vectors only where kernel text has") {
  tune::operations::hreduce_key key;
  CHECK(tune::operations::tuning_space(key).find(hreduce_tuning{}).has_value());
  for (const char* type : {"float16", "complex64", "app::state"}) {
    key.type = type;
    for (const hreduce_tuning& tuning : tune::operations::tuning_space(key)) {
      CHECK(tuning.vector == 1);
    }
  }
}

TEST_CASE("reductions of every type compile for CUDA") {
  tune::testing::for_each_compile_target("cuda sm_90", [](const tune::context& context) {
    for (const dtype type : {dtype::int8, dtype::uint16, dtype::int32, dtype::uint64,
                             dtype::float16, dtype::bfloat16, dtype::float32, dtype::float64}) {
      CAPTURE(tune::dtype_name(type));
      CHECK_NOTHROW(hreduce_template(context, sum_of(type)));
      CHECK_NOTHROW(hreduce_template(context, min_of(type)));
    }
    CHECK_NOTHROW(hreduce_template(context, max_of(dtype::float32), 1 << 20));
  });
}
