// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "operations/percentile5/percentile5.hpp"

#include <bit>
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <doctest/doctest.h>
#include <limits>
#include <random>
#include <type_traits>
#include <vector>

#include "libtune/testing/devices.hpp"
#include "libtune/testing/run_tests.hpp"
#include "operations/percentile5/reference.hpp"

namespace percentile5_test {

using tune::dtype;
using tune::host_array;
using tune::operations::column_range;
using tune::operations::percentile5;
using tune::operations::percentile5_on_host;
using tune::operations::percentile5_template;
using tune::operations::percentile5_tuning;
using complex = std::complex<float>;

struct extra {
  std::size_t src_rows = 0, src_columns = 0, dest_rows = 0, dest_columns = 0;
};

bool close(float expected, float got, float relative) {
  if (std::isnan(expected)) return std::isnan(got);
  return expected == got || std::abs(got - expected) <= relative * std::abs(expected);
}

/// Compares the percentiles by the device with those by the host, exactly or, of complex numbers,
/// to one part in a million. Also checks that the padding of dest is left alone.
template <class T>
void ranks(const percentile5_template& made, const tune::context& context, const host_array<T>& src,
           const column_range& range, const extra& more = {}) {
  tune::command_queue queue = context.create_command_queue();
  const std::size_t rows = src.size()[0], columns = src.size()[1];
  CAPTURE(rows);
  CAPTURE(columns);
  percentile5 op = made.instantiate(queue, rows, columns, range);
  const auto type = tune::element_type::of<T>();
  const tune::device_array given(
      context, {type, {rows, columns}, {rows + more.src_rows, columns + more.src_columns}});
  const tune::array_layout layout(dtype::float32, {5, rows},
                                  {5 + more.dest_rows, rows + more.dest_columns});
  const tune::device_array dest(context, layout);
  // Numbers that would be found if padding were looked at.
  const std::vector<T> outside(given.layout().bytes() / sizeof(T), T(-INFINITY));
  queue.write(given.buffer(), outside.data(), given.layout().bytes());
  given.set(queue, src);
  dest.fill(queue, -77.0F);
  op.bind("src", given);
  op.bind("dest", dest);
  op.run();
  host_array<float> whole(layout.padded());
  queue.read(dest.buffer(), whole.data(), layout.bytes());
  const auto expected = percentile5_on_host(src, range);
  constexpr float relative = std::is_same_v<T, float> ? 0.0F : 1e-6F;
  for (std::size_t k = 0; k < whole.size()[0]; ++k) {
    for (std::size_t row = 0; row < whole.size()[1]; ++row) {
      CAPTURE(k);
      CAPTURE(row);
      if (k < 5 && row < rows) {
        REQUIRE_MESSAGE(close(expected(k, row), whole(k, row), relative),
                        expected(k, row) << " is expected, not " << whole(k, row));
      } else {
        REQUIRE(whole(k, row) == -77.0F);
      }
    }
  }
}

template <class T, class Draw>
host_array<T> drawn(std::size_t rows, std::size_t columns, Draw&& draw) {
  host_array<T> src({rows, columns});
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::size_t column = 0; column < columns; ++column) src(row, column) = draw(row);
  }
  return src;
}

template <class T>
host_array<T> uniform(std::size_t rows, std::size_t columns) {
  std::mt19937 engine(1);
  const auto number = [&] { return static_cast<float>(engine() >> 8) * 0x1p-24F; };
  return drawn<T>(rows, columns, [&](std::size_t) {
    if constexpr (std::is_same_v<T, float>) {
      return number();
    } else {
      return T(number() - 0.5F, number() - 0.5F);
    }
  });
}

static_assert(std::is_nothrow_move_assignable_v<percentile5>);

LIBTUNE_DEVICE_TEST_CASE("percentiles of whole and partial rows are exact", device) {
  const tune::context context = device.create_context();
  const percentile5_template real(context, 5000);
  const percentile5_template absolute(context, 5000, false);
  const extra more{1, 3, 2, 5};
  ranks(absolute, context, uniform<complex>(64, 1), {0, 1}, more);
  ranks(real, context, uniform<float>(31, 4029), {0, 4009}, more);
  ranks(absolute, context, uniform<complex>(30, 4030), {100, 4030}, more);
  ranks(absolute, context, uniform<complex>(19, 6031), {123, 4001}, more);
  ranks(real, context, uniform<float>(28, 4032), {0, 4032}, more);
}

LIBTUNE_DEVICE_TEST_CASE("thousands of long rows are ranked", device) {
  if (device.kind() != tune::device_kind::gpu) {
    tune::testing::skip("slow where there is no GPU");
    return;
  }
  const tune::context context = device.create_context();
  ranks(percentile5_template(context, 5000), context, uniform<float>(4095, 4029), {0, 4009});
  ranks(percentile5_template(context, 5000, false), context, uniform<complex>(2343, 6031),
        {123, 4001});
}

/// Rows with whatever is hard to rank, one kind after the other.
host_array<float> hard_rows(std::size_t rows, std::size_t columns) {
  std::mt19937 engine(3);
  constexpr float infinity = std::numeric_limits<float>::infinity();
  return drawn<float>(rows, columns, [&](std::size_t row) {
    const auto word = static_cast<std::uint32_t>(engine());
    const float number = static_cast<float>(word >> 8) * 0x1p-24F;
    switch (row % 9) {
      case 0: return std::bit_cast<float>(word);  // any number, NaN or infinity
      case 1: return number - 0.5F;
      case 2: return word % 3 == 0 ? 0.0F : word % 7 == 0 ? -0.0F : number;
      case 3: return word % 11 == 0 ? 1e6F * number : 1 + 1e-5F * number;
      case 4: return float(NAN);
      case 5: return word % 2 == 0 ? infinity : -infinity;
      case 6: return 42.0F;
      case 7: return word % 40 == 0 ? number : std::bit_cast<float>(0x3f800000 + word % 100);
      default: return word % 5 == 0 ? float(NAN) : std::numeric_limits<float>::max() * number;
    }
  });
}

LIBTUNE_DEVICE_TEST_CASE("every way of ranking takes any numbers, and leaves NaN out", device) {
  const tune::context context = device.create_context();
  for (const percentile5_tuning& tuning :
       {percentile5_tuning{64, 4, 1, 256, 0, true}, percentile5_tuning{32, 2, 4, 512, 0, false},
        percentile5_tuning{128, 1, 1, 256, 2, true},
        percentile5_tuning{256, 1, 4, 1024, 0, true}}) {
    CAPTURE(tuning.size);
    const percentile5_template made(context, 700, true, tuning);
    for (const std::size_t columns : {1, 2, 5, 64, 700, 2000}) {
      ranks(made, context, hard_rows(19, columns), {0, columns});
    }
    ranks(made, context, hard_rows(9, 704), {4, 704});
    ranks(made, context, hard_rows(9, 704), {3, 702}, {0, 1, 0, 0});
  }
}

LIBTUNE_DEVICE_TEST_CASE("absolute values are ranked up to the largest number", device) {
  const tune::context context = device.create_context();
  constexpr float largest = std::numeric_limits<float>::max();
  host_array<complex> src({1, 6});
  const complex numbers[] = {{3e19F, 4e19F}, {-largest, 0},   {NAN, 1},
                             {0, 1e-44F},    {NAN, INFINITY}, {1e30F, -1e30F}};
  for (std::size_t i = 0; i < 6; ++i) src(0, i) = numbers[i];
  ranks(percentile5_template(context, 100, false), context, src, {0, 6});
}

LIBTUNE_DEVICE_TEST_CASE("no rows have no percentiles, and a wrong range is an error", device) {
  const tune::context context = device.create_context();
  const percentile5_template made(context, 100);
  tune::command_queue queue = context.create_command_queue();
  percentile5 op = made.instantiate(queue, 0, 8);
  CHECK_NOTHROW(op.run());
  for (const column_range& wrong : {column_range{3, 3}, column_range{4, 3}, column_range{0, 9}}) {
    CHECK_THROWS_WITH_AS(made.instantiate(queue, 2, 8, wrong), doctest::Contains("columns"),
                         tune::argument_error);
  }
  const std::size_t many = std::size_t{1} << 32;
  CHECK_THROWS_WITH_AS(made.instantiate(queue, 1, many), doctest::Contains("2^32"),
                       tune::argument_error);
  CHECK_THROWS_AS(percentile5_template(context, 0), tune::argument_error);
}

LIBTUNE_DEVICE_TEST_CASE("percentile5 can be tuned" * tune::testing::force_autotune(), device) {
  const tune::context context = device.create_context();
  tune::tuning_options options{.strategy = "random"};
  options.search.max_count = 2;
  tune::set_tuning_options(context, options);
  const percentile5_template made(context, 1000);
  CHECK(tune::operations::tuning_space(tune::operations::percentile5_key{.max_columns = 1000})
            .find(made.tuning()));
}

TEST_CASE("the space of percentile5 has the test default, and registers for what is kept") {
  for (const std::size_t columns : {1, 128, 5000, 65536, 1 << 20}) {
    for (const bool is_amplitude : {true, false}) {
      const auto space =
          tune::operations::tuning_space(tune::operations::percentile5_key{columns, is_amplitude});
      CHECK(space.find(percentile5_tuning{}).has_value());
      CHECK(space.size() > 20);
    }
  }
}

TEST_CASE("percentiles compile for CUDA") {
  tune::testing::for_each_compile_target("cuda sm_90", [](const tune::context& context) {
    for (const bool is_amplitude : {false, true}) {
      CHECK_NOTHROW(percentile5_template(context, 4096, is_amplitude));
      for (const std::size_t bits : {0, 1, 2}) {
        CHECK_NOTHROW(percentile5_template(context, 4096, is_amplitude,
                                           percentile5_tuning{256, 1, 2, 256, bits, true}));
      }
      CHECK_NOTHROW(percentile5_template(context, 1 << 20, is_amplitude,
                                         percentile5_tuning{512, 2, 2, 1024, 0, false}));
    }
  });
}

}  // namespace percentile5_test
