// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include <array>
#include <complex>
#include <cstdint>
#include <cstring>
#include <doctest/doctest.h>
#include <limits>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "libtune/array/device_array.hpp"
#include "libtune/array/host_array.hpp"
#include "libtune/device/context.hpp"
#include "libtune/device/device.hpp"
#include "libtune/testing/devices.hpp"
#include "libtune/verify/comparison.hpp"
#include "libtune/verify/device_comparison.hpp"
#include "libtune/verify/element_rule.hpp"

namespace array_comparer_test {

using tune::device_array;
using tune::host_array;
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

}  // namespace array_comparer_test
