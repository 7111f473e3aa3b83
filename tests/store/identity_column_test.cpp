// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/store/database/identity_column.hpp"

#include <algorithm>
#include <doctest/doctest.h>
#include <functional>
#include <set>

#include "libtune/base/error.hpp"

namespace identity_column_test {

using tune::device_identity;
using tune::identity_column;
using tune::identity_columns;

/// The identity in which every field differs from an unknown one.
device_identity filled() {
  device_identity device;
  std::int64_t number = 1;
  for (const identity_column& column : identity_columns()) {
    const bool is_text = std::holds_alternative<std::string>(column.get(device));
    column.set(device, is_text ? tune::value(std::to_string(number)) : tune::value(number));
    ++number;
  }
  return device;
}

TEST_CASE("every field of an identity is a column of its own") {
  const device_identity device = filled();
  std::set<std::string> names;
  std::int64_t number = 1;
  for (const identity_column& column : identity_columns()) {
    CAPTURE(column.name);
    CHECK(names.insert(column.name).second);
    CHECK(std::string(column.name).starts_with("device_"));
    const tune::value expected = std::holds_alternative<std::string>(column.get(device))
                                     ? tune::value(std::to_string(number))
                                     : tune::value(number);
    CHECK(column.get(device) == expected);
    ++number;
  }
  // With a new field this is another size: add the column.
  CHECK(sizeof(device_identity) == 6 * sizeof(std::string) + 14 * sizeof(std::int64_t));
  CHECK(names.size() == 20);
}

TEST_CASE("the weightiest columns come first, capabilities before performance") {
  const auto columns = identity_columns();
  CHECK(std::ranges::is_sorted(columns, std::greater<>(), &identity_column::capability));
  CHECK(std::string(columns.front().name) == "device_api");
  CHECK(std::string(columns.back().name) == "device_version");
}

TEST_CASE("the columns that differ are named, the weightiest last") {
  device_identity device = filled();
  CHECK(tune::differing_columns(device, filled()).empty());
  device.capabilities.architecture = "other";
  device.name = "other";
  device.performance.clock_mhz = 0;
  CHECK(tune::differing_columns(device, filled()) ==
        std::vector<std::string>{"device_clock_mhz", "device_name", "device_architecture"});
}

TEST_CASE("the canonical text tells any two identities apart") {
  const std::string text = tune::canonical_text(filled());
  CHECK(text == tune::canonical_text(filled()));
  for (const identity_column& column : identity_columns()) {
    device_identity other = filled();
    column.set(other, column.get({}));
    CAPTURE(column.name);
    CHECK(tune::canonical_text(other) != text);
  }
  CHECK(tune::canonical_text(device_identity{"a;", "b", "c"}) !=
        tune::canonical_text(device_identity{"a", ";b", "c"}));
}

TEST_CASE("a value of another type is refused") {
  device_identity device;
  CHECK_THROWS_AS(identity_columns().front().set(device, std::int64_t{1}), tune::type_error);
}

TEST_CASE("a column is declared with the value of what is unknown as its default") {
  CHECK(tune::identity_column_sql(identity_columns().front()) ==
        R"("device_api" TEXT NOT NULL DEFAULT '')");
  CHECK(tune::identity_column_sql(identity_columns()[2]) ==
        R"("device_simd_group" INTEGER NOT NULL DEFAULT 0)");
}

}  // namespace identity_column_test
