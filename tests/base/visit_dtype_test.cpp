// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/base/visit_dtype.hpp"

#include <doctest/doctest.h>

namespace visit_dtype_test {

using tune::dtype;

TEST_CASE("every dtype is visited as the host type that has it") {
  for (int i = 0; i <= static_cast<int>(dtype::complex128); ++i) {
    const auto type = static_cast<dtype>(i);
    CHECK(tune::visit_dtype(type, []<class T>() { return tune::dtype_of<T>; }) == type);
    CHECK(tune::visit_dtype(type, []<class T>() { return sizeof(T); }) == tune::dtype_bytes(type));
  }
}

TEST_CASE("a number that is no dtype is an error") {
  CHECK_THROWS_AS(tune::visit_dtype(static_cast<dtype>(200), []<class T>() { return sizeof(T); }),
                  tune::type_error);
}

}  // namespace visit_dtype_test
