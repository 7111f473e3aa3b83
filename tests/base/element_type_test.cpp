// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/base/element_type.hpp"

#include <complex>
#include <cstdint>
#include <doctest/doctest.h>
#include <string>

#include "libtune/base/float16.hpp"

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

using tune::dtype;
using tune::element_type;

TEST_CASE("a dtype is an element type with its names and its size") {
  const element_type type = dtype::complex64;
  CHECK(type.name() == "complex64");
  CHECK(type.kernel_name() == "float2");
  CHECK(type.bytes() == 8);
  CHECK(type.alignment() == 8);
  CHECK(type.dtype() == dtype::complex64);
}

TEST_CASE("host types know their element type") {
  CHECK(element_type::of<float>() == dtype::float32);
  CHECK(element_type::of<std::complex<double>>() == dtype::complex128);
  CHECK(element_type::of<tune::float16>() == dtype::float16);
  CHECK(element_type::of<tune::bfloat16>() == dtype::bfloat16);
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

TEST_CASE("only known types are elements") {
  static_assert(tune::element<app::other>);
  static_assert(!tune::element<app::unlisted>);
  static_assert(!tune::element<bool>);
  static_assert(!tune::element<std::string>);
}
