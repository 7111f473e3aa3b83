// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/base/dtype.hpp"

#include <cmath>
#include <complex>
#include <cstdint>
#include <doctest/doctest.h>
#include <limits>
#include <string>

#include "libtune/base/error.hpp"
#include "libtune/base/visit_dtype.hpp"

namespace app {
struct random_state {
  std::uint32_t words[6];
};
struct other {
  double x;
};
struct unlisted {};
}  // namespace app

LIBTUNE_ELEMENT(app::random_state)
LIBTUNE_ELEMENT(app::other)

namespace dtype_test {

using tune::bfloat16;
using tune::dtype;
using tune::element_type;
using tune::float16;

TEST_CASE("every dtype has a name that leads back to it, and a host type that has it") {
  for (int i = 0; i <= static_cast<int>(dtype::complex128); ++i) {
    const auto type = static_cast<dtype>(i);
    CHECK(tune::dtype_from_name(tune::dtype_name(type)) == type);
    CHECK(tune::is_dtype_name(tune::dtype_name(type)));
    CHECK_FALSE(tune::dtype_kernel_name(type).empty());
    CHECK(tune::visit_dtype(type, []<class T>() { return tune::dtype_of<T>; }) == type);
    CHECK(tune::visit_dtype(type, []<class T>() { return sizeof(T); }) == tune::dtype_bytes(type));
    CHECK(tune::visit_dtype(type, []<class T>() { return element_type::of<T>(); }) == type);
  }
}

TEST_CASE("an unknown dtype is an error: by name one that lists the known ones") {
  CHECK_FALSE(tune::is_dtype_name("float31"));
  CHECK_THROWS_WITH_AS(tune::dtype_from_name("float31"), doctest::Contains("float32"),
                       tune::argument_error);
  CHECK_THROWS_AS(tune::visit_dtype(static_cast<dtype>(200), []<class T>() { return sizeof(T); }),
                  tune::type_error);
}

TEST_CASE("the types of 16 bits have names of their own in kernel text") {
  CHECK(tune::dtype_kernel_name(dtype::float16) == "half");
  CHECK(tune::dtype_kernel_name(dtype::bfloat16) == "bfloat16");
  CHECK(tune::dtype_kernel_name(dtype::uint16) == "ushort");
}

TEST_CASE("host types know their dtype") {
  CHECK(tune::dtype_of<unsigned long long> == dtype::uint64);
  CHECK(tune::dtype_of<std::complex<float>> == dtype::complex64);
  static_assert(!tune::dtype_traits<bool>::known);
  static_assert(tune::element<app::other>);
  static_assert(!tune::element<app::unlisted>);
  static_assert(!tune::element<bool>);
  static_assert(!tune::element<std::string>);
}

TEST_CASE("a dtype is an element type with its names and its size") {
  const element_type type = dtype::complex64;
  CHECK(type.name() == "complex64");
  CHECK(type.kernel_name() == "float2");
  CHECK(type.bytes() == 8);
  CHECK(type.alignment() == 8);
  CHECK(type.dtype() == dtype::complex64);
  CHECK_FALSE(element_type::of<std::int32_t>() == dtype::uint32);
}

TEST_CASE("a listed struct is an element type") {
  const auto type = element_type::of<app::random_state>();
  CHECK(type.name() == "app::random_state");
  CHECK(type.kernel_name() == "random_state");
  CHECK(type.bytes() == 24);
  CHECK(type.alignment() == 4);
  CHECK_FALSE(type.dtype().has_value());
  CHECK(type == element_type::of<app::random_state>());
  CHECK_FALSE(type == element_type::of<app::other>());
  CHECK_FALSE(type == element_type(dtype::float64));
}

TEST_CASE("opaque elements are the same if they have the same size") {
  CHECK(element_type::opaque(12).bytes() == 12);
  CHECK(element_type::opaque(12) == element_type::opaque(12));
  CHECK_FALSE(element_type::opaque(12) == element_type::opaque(8));
  CHECK_FALSE(element_type::opaque(8) == element_type(dtype::float64));
}

constexpr float infinity = std::numeric_limits<float>::infinity();

template <class Half>
void every_value_survives_the_way_through_float() {
  int wrong = 0;
  for (unsigned bits = 0; bits < 65536; ++bits) {
    const auto half = Half::from_bits(static_cast<std::uint16_t>(bits));
    const Half back(static_cast<float>(half));
    const bool is_nan = std::isnan(static_cast<float>(half));
    wrong += is_nan ? !std::isnan(static_cast<float>(back)) : back.bits() != half.bits();
  }
  CHECK(wrong == 0);
}

TEST_CASE("every float16 and bfloat16 survives the way through float") {
  every_value_survives_the_way_through_float<float16>();
  every_value_survives_the_way_through_float<bfloat16>();
}

TEST_CASE("known numbers have their known float16 bits") {
  CHECK(float16(1.0F).bits() == 0x3C00);
  CHECK(float16(-2.0F).bits() == 0xC000);
  CHECK(float16(65504.0F).bits() == 0x7BFF);
  CHECK(float16(0.333251953125F).bits() == 0x3555);
  CHECK(float16(std::ldexp(1.0F, -24)).bits() == 0x0001);
  CHECK(float16(-0.0F).bits() == 0x8000);
}

TEST_CASE("float16 rounds to the nearest, ties to even") {
  const float step = std::ldexp(1.0F, -10);  // of the numbers from 1 on
  CHECK(float16(1.0F + 0.5F * step).bits() == 0x3C00);
  CHECK(float16(1.0F + 0.501F * step).bits() == 0x3C01);
  CHECK(float16(1.0F + 1.5F * step).bits() == 0x3C02);
  CHECK(float16(std::ldexp(1.0F, -25)).bits() == 0x0000);
  CHECK(float16(std::ldexp(1.0001F, -25)).bits() == 0x0001);
  CHECK(float16(std::ldexp(3.0F, -25)).bits() == 0x0002);
  CHECK(float16(std::ldexp(2047.5F, -25)).bits() == 0x0400);  // up into the normal numbers
}

TEST_CASE("what float16 cannot hold becomes infinity, and NaN stays NaN") {
  CHECK(static_cast<float>(float16(65519.9F)) == 65504.0F);
  CHECK(static_cast<float>(float16(65520.0F)) == infinity);
  CHECK(static_cast<float>(float16(-1e30F)) == -infinity);
  CHECK(static_cast<float>(float16(infinity)) == infinity);
  CHECK(std::isnan(static_cast<float>(float16(std::nanf("")))));
}

TEST_CASE("bfloat16 rounds to the nearest, ties to even") {
  CHECK(bfloat16(1.0F).bits() == 0x3F80);
  CHECK(bfloat16(1.0F + std::ldexp(1.0F, -8)).bits() == 0x3F80);
  CHECK(bfloat16(1.0F + std::ldexp(3.0F, -8)).bits() == 0x3F82);
  CHECK(static_cast<float>(bfloat16(std::numeric_limits<float>::max())) == infinity);
  CHECK(std::isnan(static_cast<float>(bfloat16(std::nanf("1")))));
}

TEST_CASE("zeros of both signs are equal, and NaN equals nothing") {
  CHECK(float16(0.0F) == float16(-0.0F));
  CHECK_FALSE(float16::from_bits(0x7E00) == float16::from_bits(0x7E00));
  CHECK_FALSE(bfloat16::from_bits(0x7FC0) == bfloat16::from_bits(0x7FC0));
}

}  // namespace dtype_test
