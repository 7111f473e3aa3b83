// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/base/dtype.hpp"

#include <doctest/doctest.h>
#include <string>

#include "libtune/base/error.hpp"

namespace dtype_test {

TEST_CASE("every dtype has a name that leads back to it") {
  for (int i = 0; i <= static_cast<int>(tune::dtype::complex128); ++i) {
    const auto type = static_cast<tune::dtype>(i);
    CHECK(tune::dtype_from_name(tune::dtype_name(type)) == type);
    CHECK(tune::is_dtype_name(tune::dtype_name(type)));
    CHECK(tune::dtype_bytes(type) >= 1);
    CHECK_FALSE(tune::dtype_kernel_name(type).empty());
  }
}

TEST_CASE("an unknown dtype name is an error that lists the known ones") {
  CHECK_FALSE(tune::is_dtype_name("float31"));
  CHECK_THROWS_WITH_AS(tune::dtype_from_name("float31"), doctest::Contains("float32"),
                       tune::argument_error);
}

TEST_CASE("the types of 16 bits have names of their own in kernel text") {
  CHECK(tune::dtype_kernel_name(tune::dtype::float16) == "half");
  CHECK(tune::dtype_kernel_name(tune::dtype::bfloat16) == "bfloat16");
  CHECK(tune::dtype_kernel_name(tune::dtype::uint16) == "ushort");
}

TEST_CASE("host types know their dtype") {
  CHECK(tune::dtype_of<float> == tune::dtype::float32);
  CHECK(tune::dtype_of<double> == tune::dtype::float64);
  CHECK(tune::dtype_of<std::int16_t> == tune::dtype::int16);
  CHECK(tune::dtype_of<std::uint64_t> == tune::dtype::uint64);
  CHECK(tune::dtype_of<unsigned long long> == tune::dtype::uint64);
  CHECK(tune::dtype_of<std::complex<float>> == tune::dtype::complex64);
  CHECK(tune::dtype_bytes(tune::dtype_of<std::complex<double>>) == sizeof(std::complex<double>));
  CHECK(tune::dtype_of<tune::float16> == tune::dtype::float16);
  static_assert(sizeof(tune::bfloat16) == 2);
  static_assert(!tune::dtype_traits<bool>::known);
}

}  // namespace dtype_test
