// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "operations/maskedsum/maskedsum.hpp"

#include <cmath>
#include <complex>
#include <doctest/doctest.h>
#include <limits>
#include <type_traits>

#include "libtune/testing/devices.hpp"
#include "libtune/testing/run_tests.hpp"
#include "tests/operations/maskedsum_cases.hpp"

namespace maskedsum_test {

using namespace maskedsum_cases;  // NOLINT: helpers of this test

static_assert(std::is_nothrow_move_assignable_v<maskedsum>);

LIBTUNE_DEVICE_TEST_CASE("odd shapes are added, also in parts", device) {
  const tune::context context = device.create_context();
  check_both(context, {}, inputs(1003, 77, 1), {1, 3, 2, 1});
}

LIBTUNE_DEVICE_TEST_CASE("few columns are added in parts", device) {
  const tune::context context = device.create_context();
  tune::command_queue queue = context.create_command_queue();
  const maskedsum_template made(context, false, 128, maskedsum_tuning{32, 2, 1, 2, 4});
  maskedsum op = made.instantiate(queue, 100'000, 3);
  CHECK(op.slot_names().size() == 4);  // src, mask, dest and partial
  // 15 rounds of four rows, in parts of four rounds at least, would save no more than 10.
  CHECK(made.instantiate(queue, 15 * 4, 3).slot_names().size() == 3);
  CHECK(made.instantiate(queue, 16 * 4, 3).slot_names().size() == 4);
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

TEST_CASE("the space of maskedsum has the test default") {
  const auto space = tune::operations::tuning_space(tune::operations::maskedsum_key{});
  CHECK(space.find(maskedsum_tuning{}).has_value());
}

}  // namespace maskedsum_test
