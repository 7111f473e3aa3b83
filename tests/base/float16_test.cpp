// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <doctest/doctest.h>
#include <limits>

#include "libtune/base/dtype.hpp"

namespace float16_test {

using tune::bfloat16;
using tune::float16;

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

}  // namespace float16_test
