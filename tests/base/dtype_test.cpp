// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/base/dtype.hpp"

#include <complex>
#include <cstdint>
#include <doctest/doctest.h>
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

using tune::dtype;
using tune::element_type;

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

}  // namespace dtype_test
