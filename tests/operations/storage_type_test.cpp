// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "operations/storage_type.hpp"

#include <doctest/doctest.h>

#include "libtune/base/error.hpp"

namespace storage_type_test {

using tune::operations::storage_type;

TEST_CASE("sizes that kernel text has a type for are moved as that type") {
  CHECK(storage_type("element", 1) == "typedef uchar element;\n");
  CHECK(storage_type("element", 2) == "typedef ushort element;\n");
  CHECK(storage_type("element", 4) == "typedef uint element;\n");
  CHECK(storage_type("word", 8) == "typedef ulong word;\n");
  CHECK(storage_type("word", 16) == "typedef uint4 word;\n");
}

TEST_CASE("other sizes are structs of the largest parts that divide them") {
  CHECK(storage_type("element", 24) == "typedef struct { ulong part[3]; } element;\n");
  CHECK(storage_type("element", 12) == "typedef struct { uint part[3]; } element;\n");
  CHECK(storage_type("element", 7) == "typedef struct { uchar part[7]; } element;\n");
  CHECK(storage_type("element", 32) == "typedef struct { uint4 part[2]; } element;\n");
}

TEST_CASE("an element without bytes is an error") {
  CHECK_THROWS_AS(storage_type("element", 0), tune::argument_error);
}

}  // namespace storage_type_test
