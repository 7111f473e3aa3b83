// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/verify/comparison.hpp"

#include <cmath>
#include <complex>
#include <cstdint>
#include <doctest/doctest.h>
#include <limits>

#include "libtune/base/dtype.hpp"
#include "libtune/base/error.hpp"
#include "tests/array/numbered_array.hpp"

using tune::comparison;
using tune::dtype;
using tune::host_array;
using tune::shape;
using tune::tolerance;

struct pair {
  std::uint32_t first;
  std::uint32_t second;
};
LIBTUNE_ELEMENT(pair)

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

template <class T>
comparison compare(const host_array<T>& expected, const host_array<T>& got,
                   const tolerance& allowed = {}) {
  return tune::compare(expected.layout(), expected.data(), got.layout(), got.data(), allowed);
}

template <class T>
bool passes(T expected, T got, const tolerance& allowed = {}) {
  host_array<T> answer{shape()};
  host_array<T> result{shape()};
  answer() = expected;
  result() = got;
  return compare(answer, result, allowed).matches();
}

template <class T>
void check_type() {
  CHECK(passes(T(7), T(7)));
  CHECK_FALSE(passes(T(7), T(8)));
  CHECK(passes(T(7), T(8), {.absolute = 1}));
  CHECK(passes(T(8), T(7), {.absolute = 1}));
  CHECK_FALSE(passes(T(7), T(9), {.absolute = 1}));
  CHECK(passes(T(10), T(12), {.absolute = 0, .relative = 0.2}));
  CHECK_FALSE(passes(T(10), T(13), {.absolute = 0, .relative = 0.2}));
}

}  // namespace

TEST_CASE_TEMPLATE("each type is compared within its tolerance", T, std::int8_t, std::uint8_t,
                   std::int16_t, std::uint16_t, std::int32_t, std::uint32_t, std::int64_t,
                   std::uint64_t, float, double, tune::float16, tune::bfloat16, std::complex<float>,
                   std::complex<double>) {
  check_type<T>();
}

TEST_CASE("by default results may be off by what numpy.allclose allows, less for doubles") {
  CHECK(passes(1000.0F, 1000.009F));
  CHECK_FALSE(passes(1000.0F, 1000.011F));
  CHECK(passes(0.0F, 0.9e-8F));
  CHECK_FALSE(passes(0.0F, 1.1e-8F));
  CHECK(passes(std::complex<float>(0, 1000), std::complex<float>(0.009F, 1000)));
  CHECK_FALSE(passes(std::complex<float>(0, 1000), std::complex<float>(0.011F, 1000)));
  CHECK(passes(1.0, 1.0 + 0.9e-9));
  CHECK_FALSE(passes(1.0, 1.0 + 1.1e-9));
  CHECK(passes(0.0, 0.9e-12));
  CHECK_FALSE(passes(0.0, 1.1e-12));
}

TEST_CASE("by default numbers of 16 bits may be five apart, and integers may not differ") {
  for (const std::uint16_t bits : {0x3C00, 0x3FF0, 0x7000}) {
    const auto number = tune::float16::from_bits(bits);
    CHECK(passes(number, tune::float16::from_bits(bits + 5)));
    CHECK_FALSE(passes(number, tune::float16::from_bits(bits + 11)));
  }
  CHECK(passes(tune::bfloat16::from_bits(0x3F80), tune::bfloat16::from_bits(0x3F85)));
  CHECK_FALSE(passes(tune::bfloat16::from_bits(0x3F80), tune::bfloat16::from_bits(0x3F8B)));
  CHECK_FALSE(passes<std::int64_t>(std::int64_t{1} << 52, (std::int64_t{1} << 52) + 1));
  CHECK_FALSE(passes<std::int32_t>(1'000'000'000, 1'000'000'001));
}

TEST_CASE("the two tolerances add up") {
  const tolerance allowed{.absolute = 1, .relative = 0.1};
  CHECK(passes(100.0, 110.5, allowed));
  CHECK(passes(100.0, 111.0, allowed));
  CHECK_FALSE(passes(100.0, 111.5, allowed));
}

TEST_CASE("a negative answer is compared relative to its size") {
  const tolerance allowed{.absolute = 0, .relative = 0.1};
  CHECK(passes(-100.0, -105.0, allowed));
  CHECK(passes(-100.0, -95.0, allowed));
  CHECK_FALSE(passes(-100.0, -120.0, allowed));
  CHECK_FALSE(passes(-100.0, 100.0, allowed));
  CHECK_FALSE(passes(-100.0, 1e30, allowed));
  CHECK_FALSE(passes<std::int32_t>(-100, 100, allowed));
  CHECK_FALSE(passes<std::complex<double>>({-100, 0}, {100, 0}, allowed));
}

TEST_CASE("relative to an answer of zero nothing else passes") {
  CHECK(passes(0.0, -0.0, {.absolute = 0, .relative = 0.5}));
  CHECK_FALSE(passes(0.0, 1e-300, {.absolute = 0, .relative = 0.5}));
}

TEST_CASE("NaN never passes, whatever the tolerance and even where it is expected") {
  for (const double bound : {0.0, 1.0, infinity}) {
    const tolerance allowed{.absolute = bound, .relative = bound};
    CHECK_FALSE(passes(1.0, not_a_number, allowed));
    CHECK_FALSE(passes(not_a_number, 1.0, allowed));
    CHECK_FALSE(passes(not_a_number, not_a_number, allowed));
    CHECK_FALSE(passes(1.0F, static_cast<float>(not_a_number), allowed));
    CHECK_FALSE(passes<std::complex<double>>({1, 1}, {1, not_a_number}, allowed));
    CHECK_FALSE(passes<std::complex<double>>({1, 1}, {not_a_number, infinity}, allowed));
    CHECK_FALSE(
        passes<std::complex<float>>({1, 1}, {static_cast<float>(not_a_number), 1}, allowed));
    CHECK_FALSE(passes<std::complex<double>>({1, not_a_number}, {1, not_a_number}, allowed));
  }
  CHECK_FALSE(passes(1.0, 2.0, {.absolute = not_a_number}));
}

TEST_CASE("infinity passes only where the same infinity is expected") {
  for (const double bound : {0.0, 1.0, infinity}) {
    const tolerance allowed{.absolute = bound, .relative = bound};
    CHECK(passes(infinity, infinity, allowed));
    CHECK(passes(-infinity, -infinity, allowed));
    CHECK_FALSE(passes(infinity, -infinity, allowed));
    CHECK_FALSE(passes(infinity, 1e308, allowed));
    CHECK_FALSE(passes(1e308, infinity, allowed));
    CHECK(passes<std::complex<double>>({infinity, 1}, {infinity, 1}, allowed));
    CHECK_FALSE(passes<std::complex<double>>({infinity, 1}, {1, infinity}, allowed));
  }
}

TEST_CASE("distances between integers do not overflow") {
  using limits = std::numeric_limits<std::int64_t>;
  CHECK_FALSE(passes(limits::min(), limits::max(), {.absolute = 1e18}));
  CHECK(passes(limits::min(), limits::max(), {.absolute = 2e19}));
  CHECK_FALSE(passes<std::int8_t>(-128, 127, {.absolute = 254}));
  CHECK(passes<std::int8_t>(-128, 127, {.absolute = 255}));
  CHECK_FALSE(passes<std::uint64_t>(0, std::numeric_limits<std::uint64_t>::max()));
  // Neighbours that no double can tell apart.
  CHECK_FALSE(passes<std::uint64_t>(std::uint64_t{1} << 63, (std::uint64_t{1} << 63) + 1));
}

TEST_CASE("the distance of complex elements is that in the plane") {
  CHECK(passes<std::complex<double>>({0, 0}, {3, 4}, {.absolute = 5}));
  CHECK_FALSE(passes<std::complex<double>>({0, 0}, {3, 4}, {.absolute = 4.9}));
  CHECK(passes<std::complex<float>>({3, 4}, {3, 4.5}, {.absolute = 0, .relative = 0.1}));
}

TEST_CASE("arrays of every padding compare equal, and the padding is not looked at") {
  for (const shape& size : tune::testing::shapes_of_each_rank) {
    const unsigned last = tune::testing::paddings(size) - 1;
    for (unsigned axes = 0; axes <= last; ++axes) {
      const auto expected =
          tune::testing::numbered_array<float>(size, tune::testing::padded_by(size, axes));
      auto got =
          tune::testing::numbered_array<float>(size, tune::testing::padded_by(size, last - axes));
      const comparison same = compare(expected, got);
      CHECK(same.matches());
      CHECK(same.elements == size.elements());
      std::size_t final_place = 0;
      tune::testing::for_each_place(size, got.layout().padded(),
                                    [&](std::size_t place) { final_place = place; });
      got.data()[final_place] = -1;
      CHECK(compare(expected, got).mismatches == 1);
    }
  }
}

TEST_CASE("a mismatch is counted, and the first one told with its index") {
  const auto expected = tune::testing::numbered_array<std::int32_t>({2, 3, 4}, {2, 3, 4});
  host_array<std::int32_t> got({2, 3, 4}, {2, 5, 6});
  for (int i = 0; i < 2; ++i) {
    for (int j = 0; j < 3; ++j) {
      for (int k = 0; k < 4; ++k) got(i, j, k) = expected(i, j, k);
    }
  }
  got(0, 2, 1) = -5;
  got(1, 0, 0) = -6;
  got(1, 2, 3) = -7;
  const comparison compared = compare(expected, got);
  CHECK_FALSE(compared.matches());
  CHECK(compared.mismatches == 3);
  CHECK(compared.first == shape{0, 2, 1});
  CHECK(compared.describe() ==
        "3 of 24 elements differ, the first at (0, 2, 1): expected 10, got -5; "
        "the greatest error is 31; allowed: no difference, the default for int32");
}

TEST_CASE("a comparison is described in words") {
  const host_array<float> one{shape()};
  CHECK(compare(one, one).describe() == "all 1 elements match");
  host_array<float> other{shape()};
  other() = static_cast<float>(not_a_number);
  CHECK(compare(one, other).describe() ==
        "1 of 1 elements differ, the first at (): expected 0, got nan; the greatest error is "
        "not finite; allowed: 1e-08 + 1e-05 * |expected|, the default for float32");
  host_array<std::complex<float>> a({1});
  host_array<std::complex<float>> b({1});
  a(0) = {1, -2};
  b(0) = {0.5F, 0};
  CHECK(compare(a, b).describe() ==
        "1 of 1 elements differ, the first at (0,): expected (1, -2), got (0.5, 0); the "
        "greatest error is 2.06155; allowed: 1e-08 + 1e-05 * |expected|, the default for "
        "complex64");
  host_array<std::int8_t> letter({1});
  letter(0) = 65;
  CHECK(compare(host_array<std::int8_t>({1}), letter).got == "65");
}

TEST_CASE("empty arrays match") {
  const host_array<float> a({3, 0});
  const host_array<float> b({3, 0}, {4, 2});
  CHECK(compare(a, b).matches());
  CHECK(compare(a, b).elements == 0);
}

TEST_CASE("another type or shape is an error that names both") {
  const host_array<float> floats({2, 3});
  const host_array<double> doubles({2, 3});
  const host_array<float> fewer({2, 2});
  CHECK_THROWS_WITH_AS(
      tune::compare(floats.layout(), floats.data(), doubles.layout(), doubles.data(), {}),
      "the answer is (2, 3) of float32, the result (2, 3) of float64", tune::argument_error);
  CHECK_THROWS_WITH_AS(compare(floats, fewer),
                       "the answer is (2, 3) of float32, the result (2, 2) of float32",
                       tune::argument_error);
}

TEST_CASE("structs match if their bytes do") {
  host_array<pair> expected({2, 2});
  expected(1, 0) = {1, 2};
  host_array<pair> got = expected;
  CHECK(compare(expected, got).matches());
  got(1, 0).second = 258;
  const comparison compared = compare(expected, got, {.absolute = 1000});
  CHECK(compared.describe() ==
        "1 of 4 elements differ, the first at (1, 0): expected 0100000002000000, got "
        "0100000002010000");
}

namespace {

template <class T>
T next(T number, int steps) {
  for (; steps > 0; --steps) number = std::nextafter(number, std::numeric_limits<T>::infinity());
  for (; steps < 0; ++steps) number = std::nextafter(number, -std::numeric_limits<T>::infinity());
  return number;
}

}  // namespace

TEST_CASE_TEMPLATE("ULPs count the numbers between two", T, float, double) {
  for (const T number : {T(1), T(-3.7), T(1e-30), std::numeric_limits<T>::denorm_min(), T(0)}) {
    CAPTURE(number);
    CHECK(passes(number, number, tolerance::ulps(0)));
    CHECK(passes(number, next(number, 3), tolerance::ulps(3)));
    CHECK_FALSE(passes(number, next(number, 4), tolerance::ulps(3)));
    CHECK(passes(number, next(number, -3), tolerance::ulps(3)));
    CHECK_FALSE(passes(number, next(number, -4), tolerance::ulps(3)));
  }
  const T tiny = std::numeric_limits<T>::denorm_min();
  CHECK(passes(T(0), T(-0.0), tolerance::ulps(0)));
  CHECK(passes(tiny, -tiny, tolerance::ulps(2)));
  CHECK_FALSE(passes(tiny, -tiny, tolerance::ulps(1)));
  CHECK_FALSE(passes(T(-1), T(1), tolerance::ulps(1000000)));
}

TEST_CASE("no number is within ULPs of infinity or NaN") {
  const auto most = tolerance::ulps(std::numeric_limits<std::uint32_t>::max());
  CHECK(passes(infinity, infinity, most));
  CHECK_FALSE(passes(std::numeric_limits<double>::max(), infinity, most));
  CHECK_FALSE(passes(infinity, std::numeric_limits<double>::max(), most));
  CHECK_FALSE(passes(infinity, -infinity, most));
  CHECK_FALSE(passes(1.0, not_a_number, most));
  CHECK_FALSE(passes(not_a_number, not_a_number, most));
}

TEST_CASE("ULPs of 16 bits, of both parts, and of integers") {
  CHECK(passes(tune::float16::from_bits(0x3C00), tune::float16::from_bits(0x3C02),
               tolerance::ulps(2)));
  CHECK_FALSE(passes(tune::float16::from_bits(0x3C00), tune::float16::from_bits(0x3C03),
                     tolerance::ulps(2)));
  CHECK_FALSE(passes(tune::bfloat16::from_bits(0x7F7F), tune::bfloat16::from_bits(0x7F80),
                     tolerance::ulps(1)));
  const std::complex<float> number(1, -2);
  CHECK(passes<std::complex<float>>(number, {next(1.0F, 2), next(-2.0F, 2)}, tolerance::ulps(2)));
  CHECK_FALSE(passes<std::complex<float>>(number, {1, next(-2.0F, 3)}, tolerance::ulps(2)));
  CHECK(passes<std::int8_t>(-128, -126, tolerance::ulps(2)));
  CHECK_FALSE(passes<std::int8_t>(-128, -125, tolerance::ulps(2)));
}

TEST_CASE("the greatest error is told in ULPs where they decide") {
  host_array<float> expected({2});
  host_array<float> got({2});
  expected(0) = expected(1) = 1;
  got(0) = next(1.0F, 5);
  got(1) = next(1.0F, -7);
  CHECK(compare(expected, got, tolerance::ulps(4)).describe() ==
        "2 of 2 elements differ, the first at (0,): expected 1, got 1.0000006; the greatest error "
        "is 7 ULPs; allowed: 4 ULPs");
}

TEST_CASE("exact means the same bits") {
  CHECK(passes(1.0F, 1.0F, tolerance::exact()));
  CHECK_FALSE(passes(1.0F, next(1.0F, 1), tolerance::exact()));
  CHECK_FALSE(passes(0.0F, -0.0F, tolerance::exact()));
  CHECK_FALSE(passes(not_a_number, not_a_number, tolerance::exact()));
  CHECK(passes(not_a_number, not_a_number, tolerance::exact().allowing_nan()));
  CHECK_FALSE(passes(not_a_number, -not_a_number, tolerance::exact().allowing_nan()));
  CHECK(passes<std::int32_t>(-7, -7, tolerance::exact()));
  CHECK_FALSE(passes<std::int32_t>(-7, -6, tolerance::exact()));
  host_array<float> expected({1});
  host_array<float> got({1});
  expected(0) = static_cast<float>(not_a_number);
  got(0) = expected(0);
  CHECK(compare(expected, got, tolerance::exact()).describe() ==
        "1 of 1 elements differ, the first at (0,): expected nan of the bytes 0000c07f, got nan of "
        "the bytes 0000c07f; the greatest error is not finite; allowed: the same bits; NaN in the "
        "answer "
        "is a mistake unless its tolerance has nan_expected");
}

TEST_CASE("NaN passes only where the answer has it and its author allows it") {
  for (const tolerance& allowed :
       {tolerance{.absolute = 1}, tolerance::ulps(3), tolerance::signal_to_noise(3)}) {
    CHECK_FALSE(passes(not_a_number, not_a_number, allowed));
    CHECK(passes(not_a_number, -not_a_number, allowed.allowing_nan()));
    CHECK_FALSE(passes(1.0, not_a_number, allowed.allowing_nan()));
    CHECK_FALSE(passes(not_a_number, 1.0, allowed.allowing_nan()));
    CHECK(
        passes<std::complex<double>>({not_a_number, 1}, {2, not_a_number}, allowed.allowing_nan()));
  }
}

TEST_CASE("a signal is judged as a whole, by its power over that of the error") {
  host_array<float> expected({100});
  host_array<float> got({100});
  for (int i = 0; i < 100; ++i) expected(i) = got(i) = 10;
  got(3) = 11;
  got(4) = 7;  // 10000 over 10: 30 dB
  const comparison close = compare(expected, got, tolerance::signal_to_noise(29.99));
  CHECK(close.matches());
  CHECK(*close.decibels == doctest::Approx(30));
  CHECK(close.describe() == "all 100 elements match, at 30.0 dB");
  const comparison far = compare(expected, got, tolerance::signal_to_noise(40));
  CHECK_FALSE(far.matches());
  CHECK(far.mismatches == 0);
  CHECK(far.describe() ==
        "the signal-to-noise ratio is 30.0 dB and not 40.0 dB; the greatest error, 3, is at (4,): "
        "expected 10, got 7");
}

TEST_CASE("a signal without error passes, and one of zeros or with infinities needs to be right") {
  const tolerance allowed = tolerance::signal_to_noise(100);
  CHECK(passes(3.0, 3.0, allowed));
  CHECK(passes(0.0, 0.0, allowed));
  CHECK_FALSE(passes(0.0, 1e-30, allowed));
  CHECK(passes(infinity, infinity, allowed));
  CHECK_FALSE(passes(infinity, 1.0, allowed));
  CHECK_FALSE(passes(1.0, -infinity, allowed));
  CHECK_FALSE(passes(1e200, 1.1e200, allowed));  // its square is no double
  CHECK(passes<std::int16_t>(20000, 20001, tolerance::signal_to_noise(80)));
  CHECK_FALSE(passes<std::int16_t>(20000, 20001, tolerance::signal_to_noise(90)));
  CHECK(passes<std::complex<float>>({3, 4}, {3, 4.05F}, tolerance::signal_to_noise(39)));
  CHECK_FALSE(passes<std::complex<float>>({3, 4}, {3, 4.05F}, tolerance::signal_to_noise(41)));
}

using tune::describe;
using tune::dtype;
using tune::element_type;
using tune::tolerance;

struct sample_pair {
  std::uint32_t first;
  std::uint32_t second;
};
LIBTUNE_ELEMENT(sample_pair)

namespace {

double relative_of(dtype type) { return *tolerance().for_type(type).relative; }
double absolute_of(dtype type) { return *tolerance().for_type(type).absolute; }

}  // namespace

TEST_CASE("the default for float32 is that of numpy.allclose") {
  for (const dtype type : {dtype::float32, dtype::complex64}) {
    CHECK(relative_of(type) == 1e-5);
    CHECK(absolute_of(type) == 1e-8);
  }
}

TEST_CASE("the default is closer for longer types, and wider for shorter ones") {
  for (const dtype type : {dtype::float64, dtype::complex128}) {
    CHECK(relative_of(type) == 1e-9);
    CHECK(absolute_of(type) == 1e-12);
  }
  // Five representable numbers, at the place where they are farthest apart.
  const auto half = static_cast<float>(tune::float16::from_bits(0x3C01));
  const auto brain = static_cast<float>(tune::bfloat16::from_bits(0x3F81));
  CHECK(relative_of(dtype::float16) >= 5 * (half - 1.0F));
  CHECK(relative_of(dtype::float16) < 6 * (half - 1.0F));
  CHECK(relative_of(dtype::bfloat16) >= 5 * (brain - 1.0F));
  CHECK(relative_of(dtype::bfloat16) < 6 * (brain - 1.0F));
}

TEST_CASE("the default for integers and structs is no difference") {
  for (const dtype type : {dtype::int8, dtype::uint8, dtype::int16, dtype::uint16, dtype::int32,
                           dtype::uint32, dtype::int64, dtype::uint64}) {
    CHECK(relative_of(type) == 0);
    CHECK(absolute_of(type) == 0);
  }
  CHECK(*tolerance().for_type(element_type::of<sample_pair>()).absolute == 0);
}

TEST_CASE("of a distance that is given in part the rest is zero") {
  const tolerance absolute = tolerance{.absolute = 2}.for_type(dtype::float32);
  CHECK(*absolute.absolute == 2);
  CHECK(*absolute.relative == 0);
  const tolerance relative = tolerance{.relative = 0.5}.for_type(dtype::float32);
  CHECK(*relative.absolute == 0);
  CHECK(*relative.relative == 0.5);
  CHECK_FALSE(tolerance{.absolute = 0}.is_default());
  CHECK_FALSE(tolerance::ulps(0).is_default());
  CHECK(tolerance().allowing_nan().is_default());
}

TEST_CASE("a tolerance is described, and whether it is a default") {
  CHECK(describe({}, dtype::float32) == "1e-08 + 1e-05 * |expected|, the default for float32");
  CHECK(describe({}, dtype::float64) == "1e-12 + 1e-09 * |expected|, the default for float64");
  CHECK(describe({}, dtype::int32) == "no difference, the default for int32");
  CHECK(describe({.absolute = 0.25}, dtype::float32) == "0.25");
  CHECK(describe({.relative = 1e-5}, dtype::float32) == "1e-05 * |expected|");
  CHECK(describe({.absolute = 1, .relative = 2}, dtype::float32) == "1 + 2 * |expected|");
  CHECK(describe({.absolute = 0}, dtype::float32) == "no difference");
  CHECK(describe(tolerance::ulps(4), dtype::float32) == "4 ULPs");
  CHECK(describe(tolerance::exact(), dtype::float32) == "the same bits");
  CHECK(describe(tolerance::signal_to_noise(60), dtype::float32) == "60 dB");
}
