// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cstdint>
#include <doctest/doctest.h>

#include "libtune/base/dtype.hpp"
#include "libtune/verify/comparison.hpp"

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
