// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "operations/hreduce/reduction.hpp"

#include <doctest/doctest.h>

#include "libtune/base/error.hpp"

struct reduction_test_struct {
  float x;
};
LIBTUNE_ELEMENT(reduction_test_struct)

using tune::dtype;
using tune::element_type;
using namespace tune::operations;  // NOLINT: three functions of one name each

TEST_CASE("sums of numbers start from zero") {
  CHECK(sum_of(dtype::int16).operation == "a + b");
  CHECK(sum_of(dtype::int16).identity == "0");
  CHECK(sum_of(dtype::complex64).identity == "make_float2(0, 0)");
}

TEST_CASE("minima start from the largest number and maxima from the least") {
  CHECK(min_of(dtype::int8).identity == "127");
  CHECK(max_of(dtype::int8).identity == "(-128)");
  CHECK(max_of(dtype::uint64).identity == "0");
  CHECK(max_of(dtype::bfloat16).identity == "(-1.0f / 0.0f)");
}

TEST_CASE("reductions that mean nothing are errors that say what to do") {
  CHECK_THROWS_WITH_AS(sum_of(element_type::of<reduction_test_struct>()),
                       doctest::Contains("a reduction of your own"), tune::type_error);
  CHECK_THROWS_AS(max_of(dtype::complex64), tune::type_error);
  CHECK_THROWS_AS(min_of(dtype::complex128), tune::type_error);
}
