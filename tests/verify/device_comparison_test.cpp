// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/verify/device_comparison.hpp"

#include <array>
#include <complex>
#include <cstdint>
#include <cstring>
#include <doctest/doctest.h>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "libtune/array/device_array.hpp"
#include "libtune/array/host_array.hpp"
#include "libtune/device/context.hpp"
#include "libtune/device/device.hpp"
#include "libtune/testing/devices.hpp"
#include "libtune/testing/fake_device.hpp"
#include "libtune/verify/comparison.hpp"
#include "libtune/verify/element_rule.hpp"

namespace device_comparison_test {

using tune::array_layout;
using tune::device_array;
using tune::host_array;
using tune::detail::device_comparison;

constexpr std::size_t columns = 1033;

// A little more than a megabyte.
template <class T>
constexpr std::size_t rows = 1031 / sizeof(T) + 7;

template <class T>
host_array<T> counted() {
  host_array<T> made({rows<T>, columns});
  for (std::size_t i = 0; i < rows<T>; ++i) {
    for (std::size_t j = 0; j < columns; ++j) made(i, j) = static_cast<T>((i * 7 + j) % 101);
  }
  return made;
}

template <class T>
device_comparison comparison_with(const host_array<T>& answer, const tune::tolerance& allowed) {
  auto kept = std::make_shared<host_array<T>>(answer);
  const void* elements = kept->data();
  return {kept->layout(), std::shared_ptr<const void>(kept, elements), allowed};
}

/// Counts the elements of an array that differ from the answer after one step on the device.
template <class T>
std::optional<std::size_t> count(const tune::device& device, const host_array<T>& answer,
                                 const host_array<T>& result, const tune::tolerance& allowed = {},
                                 const tune::shape& padded = {rows<T>, columns}) {
  const tune::context context = device.create_context();
  auto queue = context.create_command_queue();
  const device_array got(context, {tune::element_type::of<T>(), {rows<T>, columns}, padded});
  const unsigned char unset = 0x5b;  // also in the padding
  queue.fill(got.buffer(), got.layout().bytes(), std::as_bytes(std::span(&unset, 1)));
  got.set(queue, result);
  auto compared = comparison_with(answer, allowed);
  return compared.count_mismatches(queue, got);
}

TEST_CASE_TEMPLATE("every kind of element is compared where it lies", T, std::int8_t, std::uint8_t,
                   std::int16_t, std::uint16_t, std::int32_t, std::uint32_t, std::int64_t,
                   std::uint64_t, tune::float16, tune::bfloat16, float, double, std::complex<float>,
                   std::complex<double>) {
  for (const tune::device& device : tune::testing::test_devices()) {
    CAPTURE(device.name());
    const auto answer = counted<T>();
    auto result = answer;
    CHECK(count(device, answer, result) == 0);
    CHECK(count(device, answer, result, {}, {rows<T> + 3, columns + 5}) == 0);
    result(0, 0) = T(100);
    result(rows<T> - 1, columns - 1) = T(3);
    result(rows<T> / 2, 17) = T(1);
    CHECK(count(device, answer, result) == 3);
    CHECK(count(device, answer, result, {}, {rows<T>, columns + 1}) == 3);
  }
}

LIBTUNE_DEVICE_TEST_CASE("tolerances are those of the host", device) {
  CAPTURE(device.name());
  const auto answer = counted<float>();
  auto result = answer;
  for (std::size_t j = 0; j < columns; ++j) result(4, j) += 0.25F;
  CHECK(count(device, answer, result) == columns);
  CHECK(count(device, answer, result, {.absolute = 0.25}) == 0);
  CHECK(count(device, answer, result, {.absolute = 0.249}) == columns);
  const auto relative = count(device, answer, result, {.relative = 0.01});
  REQUIRE(relative);
  CHECK(*relative > 0);
  CHECK(*relative < columns);
}

LIBTUNE_DEVICE_TEST_CASE("what is no number, or infinite, is close to nothing but infinity itself",
                         device) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  CAPTURE(device.name());
  auto answer = counted<float>();
  auto result = answer;
  answer(0, 0) = result(0, 0) = infinity;
  answer(0, 1) = result(0, 1) = std::numeric_limits<float>::quiet_NaN();
  result(0, 2) = infinity;
  answer(0, 3) = -infinity;
  result(0, 4) = std::numeric_limits<float>::quiet_NaN();
  CHECK(count(device, answer, result, {.absolute = infinity, .relative = 1}) == 4);
}

LIBTUNE_DEVICE_TEST_CASE("one comparison serves results of several paddings and contexts", device) {
  const auto answer = counted<float>();
  auto compared = comparison_with(answer, {});
  for (const std::size_t padding : {0, 5, 5, 0}) {
    const tune::context context = device.create_context();
    auto queue = context.create_command_queue();
    const device_array got(context, {tune::element_type::of<float>(),
                                     {rows<float>, columns},
                                     {rows<float>, columns + padding}});
    got.set(queue, answer);
    CHECK(compared.count_mismatches(queue, got) == 0);
  }
}

LIBTUNE_DEVICE_TEST_CASE("small arrays, and those that are no rows, are left to the host", device) {
  const tune::context context = device.create_context();
  auto queue = context.create_command_queue();
  const host_array<float> small({10});
  const device_array same(context, small.layout());
  auto compared = comparison_with(small, {});
  CHECK_FALSE(compared.count_mismatches(queue, same));

  const host_array<float> cube({64, 64, 128});
  auto compared_cube = comparison_with(cube, {});
  const device_array padded(context,
                            {tune::element_type::of<float>(), {64, 64, 128}, {64, 70, 128}});
  CHECK_FALSE(compared_cube.count_mismatches(queue, padded));
}

TEST_CASE("a device that cannot do it leaves it to the host, and is not asked again") {
  const tune::testing::fake_device fake;
  const tune::context context = fake.device().create_context();
  auto queue = context.create_command_queue();
  const auto answer = counted<float>();
  const device_array got(context, answer.layout());
  got.set(queue, answer);
  auto compared = comparison_with(answer, {});
  CHECK_FALSE(compared.count_mismatches(queue, got));
  const std::size_t compiled = fake.calls(tune::testing::fake_call::compile);
  CHECK_FALSE(compared.count_mismatches(queue, got));
  CHECK(fake.calls(tune::testing::fake_call::compile) == compiled);
}

}  // namespace device_comparison_test

namespace device_comparison_test::of_array_comparer {

using tune::tolerance;
using tune::detail::array_comparer;

constexpr std::size_t rows = 31;
constexpr std::size_t columns = 33;

template <class T>
host_array<T> counted() {
  host_array<T> made({rows, columns});
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t j = 0; j < columns; ++j) {
      made(i, j) = T(static_cast<float>((i * 7 + j) % 101 + 1));
    }
  }
  return made;
}

/// A number some steps after another; of complex numbers, in one part.
template <class T>
T moved(const T& number, std::uint64_t steps) {
  T result = number;
  if constexpr (tune::detail::is_complex<T>) {
    result = T(number.real(), moved(number.imag(), steps));
  } else if constexpr (std::is_integral_v<T>) {
    result = static_cast<T>(number + static_cast<T>(steps));
  } else {
    using word =
        std::conditional_t<sizeof(T) == 2, std::uint16_t,
                           std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>>;
    word bits = 0;
    std::memcpy(&bits, &number, sizeof bits);
    bits = static_cast<word>(bits + steps);
    std::memcpy(static_cast<void*>(&result), &bits, sizeof bits);
  }
  return result;
}

template <class T>
T special(double which) {
  if constexpr (tune::detail::is_complex<T>) {
    return T(1, static_cast<typename T::value_type>(which));
  } else {
    return T(static_cast<tune::detail::float_of<T>>(which));
  }
}

/// An answer and a result.
template <class T>
using both = std::pair<host_array<T>, host_array<T>>;

/// Results that are right, or of which one element or two are some steps off.
template <class T>
std::vector<both<T>> close_pairs() {
  std::vector<both<T>> pairs;
  const auto answer = counted<T>();
  auto result = answer;
  pairs.emplace_back(answer, result);
  result(30, 32) = moved(answer(30, 32), 3);
  pairs.emplace_back(answer, result);
  result(7, 8) = moved(answer(7, 8), 4);
  pairs.emplace_back(answer, result);
  return pairs;
}

/// One element of each is no plain number.
template <class T>
std::vector<both<T>> special_pairs() {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  constexpr std::array<std::pair<double, double>, 7> values{{{nan, nan},
                                                             {1, nan},
                                                             {nan, 1},
                                                             {infinity, infinity},
                                                             {infinity, 1},
                                                             {-infinity, infinity},
                                                             {0.0, -0.0}}};
  std::vector<both<T>> pairs;
  for (const auto& [want, have] : values) {
    pairs.emplace_back(counted<T>(), counted<T>());
    pairs.back().first(10, 10) = special<T>(want);
    pairs.back().second(10, 10) = special<T>(have);
  }
  return pairs;
}

/// That the device finds wrong what the host finds wrong.
template <class T>
void check_verdicts(const tune::context& context, const tolerance& allowed,
                    const std::vector<both<T>>& pairs) {
  CAPTURE(context.device().name());
  CAPTURE(static_cast<int>(allowed.rule));
  CAPTURE(allowed.nan_expected);
  auto queue = context.create_command_queue();
  const tune::array_layout layout(tune::element_type::of<T>(), {rows, columns},
                                  {rows, columns + 3});
  const device_array expected(context, layout);
  const device_array got(context, layout);
  expected.zero(queue);
  queue.fill(got.buffer(), layout.bytes(), std::as_bytes(std::span("\x5b", 1)));
  array_comparer comparer(layout.type(), allowed);
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    CAPTURE(i);
    const auto& [answer, result] = pairs[i];
    expected.set(queue, answer);
    got.set(queue, result);
    const bool right = comparer.count(queue, expected.buffer(), got.buffer(), layout) == 0;
    CHECK(right ==
          tune::compare(answer.layout(), answer.data(), result.layout(), result.data(), allowed)
              .matches());
  }
}

TEST_CASE_TEMPLATE("the device comes to the host's verdict, whatever the rule", T, std::int16_t,
                   std::uint64_t, tune::float16, tune::bfloat16, float, double, std::complex<float>,
                   std::complex<double>) {
  for (const tune::device& device : tune::testing::test_devices()) {
    const tune::context context = device.create_context();
    for (const tolerance& allowed :
         {tolerance{.absolute = 0, .relative = 0.125}, tolerance::ulps(3), tolerance::exact(),
          tolerance::signal_to_noise(60)}) {
      check_verdicts<T>(context, allowed, close_pairs<T>());
    }
  }
}

TEST_CASE_TEMPLATE("so it does of NaN, infinities and zeros", T, tune::bfloat16,
                   std::complex<float>) {
  for (const tune::device& device : tune::testing::test_devices()) {
    const tune::context context = device.create_context();
    for (const tolerance& rule :
         {tolerance{}, tolerance::ulps(3), tolerance::exact(), tolerance::signal_to_noise(60)}) {
      check_verdicts<T>(context, rule, special_pairs<T>());
      check_verdicts<T>(context, rule.allowing_nan(), special_pairs<T>());
    }
  }
}

TEST_CASE("of elements that nobody knows the bits are compared") {
  for (const tune::device& device : tune::testing::test_devices()) {
    const tune::context context = device.create_context();
    auto queue = context.create_command_queue();
    for (const std::size_t bytes : {1, 6, 12}) {
      const tune::array_layout layout(tune::element_type::opaque(bytes), {5, 7});
      const device_array expected(context, layout);
      const device_array got(context, layout);
      expected.zero(queue);
      got.zero(queue);
      array_comparer comparer(layout.type(), {.absolute = 1000});
      CHECK(comparer.count(queue, expected.buffer(), got.buffer(), layout) == 0);
      queue.fill(got.buffer(), 1, std::as_bytes(std::span("\x01", 1)), layout.bytes() - 1);
      CHECK(comparer.count(queue, expected.buffer(), got.buffer(), layout) == 1);
    }
  }
}

}  // namespace device_comparison_test::of_array_comparer
