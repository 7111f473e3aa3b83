// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "operations/maskedsum/maskedsum.hpp"

#include <cmath>
#include <complex>
#include <cstddef>
#include <doctest/doctest.h>
#include <limits>
#include <random>
#include <type_traits>

#include "libtune/testing/devices.hpp"
#include "libtune/testing/run_tests.hpp"
#include "libtune/verify/comparison.hpp"
#include "operations/maskedsum/reference.hpp"

namespace maskedsum_test {

using tune::dtype;
using tune::host_array;
using tune::operations::maskedsum;
using tune::operations::maskedsum_template;
using tune::operations::maskedsum_tuning;
using complex = std::complex<float>;

struct extra {
  std::size_t src_rows = 0, src_columns = 0, mask = 0, dest = 0;
};

/// The sums by the device, in arrays with so much more padding than needed. Also checks that the
/// padding of dest is left alone.
template <class T>
host_array<T> sums_of(const maskedsum_template& made, const tune::context& context,
                      const host_array<complex>& src, const host_array<float>& mask,
                      const extra& more = {}) {
  tune::command_queue queue = context.create_command_queue();
  const std::size_t rows = src.size()[0], columns = src.size()[1];
  maskedsum op = made.instantiate(queue, rows, columns);
  const tune::device_array given(
      context,
      {dtype::complex64, {rows, columns}, {rows + more.src_rows, columns + more.src_columns}});
  const tune::device_array weights(context, {dtype::float32, {rows}, {rows + more.mask}});
  const tune::array_layout layout(tune::element_type::of<T>(), {columns}, {columns + more.dest});
  const tune::device_array dest(context, layout);
  // NaN wherever padding is.
  const std::vector<complex> poison(given.layout().bytes() / sizeof(complex),
                                    complex(NAN, INFINITY));
  queue.write(given.buffer(), poison.data(), given.layout().bytes());
  given.set(queue, src);
  weights.set(queue, mask);
  dest.zero(queue);
  op.bind("src", given);
  op.bind("mask", weights);
  op.bind("dest", dest);
  op.run();
  host_array<T> whole({columns + more.dest});
  queue.read(dest.buffer(), whole.data(), layout.bytes());
  for (std::size_t i = columns; i < whole.size()[0]; ++i) CHECK(whole(i) == T{});
  return dest.template get<T>(queue);
}

template <class T>
void check_close(const host_array<T>& expected, const host_array<T>& got,
                 const tune::tolerance& allowed) {
  const auto compared =
      tune::compare(expected.layout(), expected.data(), got.layout(), got.data(), allowed);
  CHECK_MESSAGE(compared.matches(), compared.describe());
}

struct inputs {
  inputs(std::size_t rows, std::size_t columns, unsigned seed)
      : src({rows, columns}), mask({rows}) {
    std::mt19937 engine(seed);
    const auto draw = [&] { return static_cast<float>(engine() >> 8) * 0x1p-24F; };
    for (std::size_t row = 0; row < rows; ++row) {
      mask(row) = draw() < 0.25F ? 0.0F : 2 * draw();
      for (std::size_t column = 0; column < columns; ++column) src(row, column) = {draw(), draw()};
    }
  }

  host_array<complex> src;
  host_array<float> mask;
};

void check_both(const tune::context& context, const maskedsum_tuning& tuning, const inputs& given,
                const extra& more = {}) {
  using tune::operations::maskedsum_on_host;
  CAPTURE(tuning.wgsx);
  CAPTURE(tuning.wgsy);
  CAPTURE(given.src.size()[0]);
  CAPTURE(given.src.size()[1]);
  const tune::tolerance allowed{.absolute = 0, .relative = 1e-6};
  check_close(maskedsum_on_host<complex>(given.src, given.mask),
              sums_of<complex>(maskedsum_template(context, false, 4096, tuning), context, given.src,
                               given.mask, more),
              allowed);
  check_close(maskedsum_on_host<float>(given.src, given.mask),
              sums_of<float>(maskedsum_template(context, true, 4096, tuning), context, given.src,
                             given.mask, more),
              allowed);
}

static_assert(std::is_nothrow_move_assignable_v<maskedsum>);

LIBTUNE_DEVICE_TEST_CASE("4096 rows of every width are added to one part in a million", device) {
  const tune::context context = device.create_context();
  for (const std::size_t columns : {2, 4029, 4030, 4031, 4032}) {
    const inputs given(4096, columns, 1);
    check_both(context, {}, given, {1, 4, 2, 3});
  }
}

LIBTUNE_DEVICE_TEST_CASE("every tuning adds all rows, of odd shapes, in words or not", device) {
  const tune::context context = device.create_context();
  std::mt19937 engine(5);
  for (const maskedsum_tuning& tuning :
       {maskedsum_tuning{32, 2, 2, 4, 1}, maskedsum_tuning{64, 1, 2, 1, 4},
        maskedsum_tuning{32, 16, 1, 8, 4}}) {
    for (const std::size_t rows : {1, 3, 130, 700}) {
      const std::size_t columns = 1 + engine() % 300;
      check_both(context, tuning, inputs(rows, columns, 2), {0, engine() % 3, 1, 1});
    }
  }
}

LIBTUNE_DEVICE_TEST_CASE("few columns are added in parts", device) {
  const tune::context context = device.create_context();
  tune::command_queue queue = context.create_command_queue();
  const maskedsum_template made(context, false, 128, maskedsum_tuning{32, 2, 1, 2, 4});
  maskedsum op = made.instantiate(queue, 100'000, 3);
  CHECK(op.slot_names().size() == 4);  // src, mask, dest and partial
}

LIBTUNE_DEVICE_TEST_CASE("sums without rows are 0, and without columns nothing", device) {
  const tune::context context = device.create_context();
  const maskedsum_template made(context);
  tune::command_queue queue = context.create_command_queue();
  maskedsum op = made.instantiate(queue, 0, 5);
  op.ensure_all_bound();
  op.buffer("dest").fill(queue, complex(3, 4));
  op.run();
  for (std::size_t i = 0; i < 5; ++i) {
    CHECK(op.buffer("dest").get<complex>(queue)(i) == complex());
  }
  maskedsum none = made.instantiate(queue, 5, 0);
  CHECK_NOTHROW(none.run());
}

LIBTUNE_DEVICE_TEST_CASE("NaN and infinity stay in their columns, whatever the weight", device) {
  const tune::context context = device.create_context();
  constexpr float infinity = std::numeric_limits<float>::infinity();
  host_array<complex> src({3, 4});
  src.fill(complex(3, 4));
  src(1, 0) = {NAN, 1};
  src(1, 1) = {-infinity, NAN};
  src(1, 2) = {infinity, 0};
  host_array<float> mask({3});
  mask.fill(1);
  const maskedsum_template absolute(context, true);
  auto sums = sums_of<float>(absolute, context, src, mask);
  CHECK(std::isnan(sums(0)));
  CHECK(sums(1) == infinity);
  CHECK(sums(2) == infinity);
  CHECK(sums(3) == 15);
  mask(1) = 0;
  sums = sums_of<float>(absolute, context, src, mask);
  for (const std::size_t column : {0, 1, 2}) CHECK(std::isnan(sums(column)));
  CHECK(sums(3) == 10);
  const auto plain = sums_of<complex>(maskedsum_template(context), context, src, mask);
  CHECK(std::isnan(plain(0).real()));
  CHECK(plain(0).imag() == 8);
  CHECK(plain(3) == complex(6, 8));
}

LIBTUNE_DEVICE_TEST_CASE("absolute values are right from the smallest number to the largest",
                         device) {
  const tune::context context = device.create_context();
  constexpr float largest = std::numeric_limits<float>::max();
  constexpr float tiny = std::numeric_limits<float>::denorm_min();
  const std::vector<complex> numbers{
      {largest, 0},      {-largest / 2, largest / 2}, {3e19F, -4e19F}, {3e-30F, 4e-30F}, {0, tiny},
      {-3e-42F, 4e-42F}, {1e-20F, largest},           {1e18F, 1e-18F}, {0, -0.0F}};
  host_array<complex> src({1, numbers.size()});
  for (std::size_t i = 0; i < numbers.size(); ++i) src(0, i) = numbers[i];
  host_array<float> mask({1});
  mask.fill(1);
  const auto sums = sums_of<float>(maskedsum_template(context, true), context, src, mask);
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    CAPTURE(i);
    const auto expected = static_cast<float>(std::abs(std::complex<double>(numbers[i])));
    CHECK(std::abs(sums(i) - expected) <= 2.5e-7F * expected);
  }
}

LIBTUNE_DEVICE_TEST_CASE("maskedsum can be tuned" * tune::testing::force_autotune(), device) {
  const tune::context context = device.create_context();
  tune::tuning_options options{.strategy = "random"};
  options.search.max_count = 3;
  tune::set_tuning_options(context, options);
  for (const bool use_amplitudes : {false, true}) {
    const maskedsum_template made(context, use_amplitudes, 1000);
    CHECK(tune::operations::tuning_space(tune::operations::maskedsum_key{}).find(made.tuning()));
  }
}

TEST_CASE("the space of maskedsum has the test default") {
  const auto space = tune::operations::tuning_space(tune::operations::maskedsum_key{});
  CHECK(space.find(maskedsum_tuning{}).has_value());
}

TEST_CASE("masked sums compile for CUDA") {
  tune::testing::for_each_compile_target("cuda sm_90", [](const tune::context& context) {
    for (const bool use_amplitudes : {false, true}) {
      for (const std::size_t vector : {1, 2}) {
        for (const std::size_t items : {1, 2, 4, 8}) {
          CHECK_NOTHROW(maskedsum_template(context, use_amplitudes, 8192,
                                           maskedsum_tuning{128, 4, vector, items, 1}));
        }
      }
    }
    CHECK_NOTHROW(maskedsum_template(context, true, 8192, maskedsum_tuning{64, 1, 2, 2, 1}));
  });
}

}  // namespace maskedsum_test
