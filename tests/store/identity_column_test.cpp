// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/store/database/identity_column.hpp"

#include <algorithm>
#include <doctest/doctest.h>
#include <functional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "libtune/base/error.hpp"
#include "libtune/store/database/function_identity.hpp"
#include "tests/store/samples.hpp"

namespace identity_column_test {

using namespace tune::testing;
using namespace tune;
using strings = std::vector<std::string>;

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

TEST_CASE("a table is named after the function and its version") {
  CHECK(table_name(sample_function("multiply_template.autotune", 0)) ==
        "multiply_template.autotune__0");
  CHECK(table_name(sample_function("_f", 12)) == "_f__12");
}

TEST_CASE("no two functions or versions share a table") {
  std::set<std::string> names;
  const std::vector<function_identity> all{
      sample_function("a", 1),    sample_function("a__1", 1), sample_function("a_", 1),
      sample_function("a", 11),   sample_function("m.A_B"),   sample_function("m_A.B"),
      sample_function("m.A.B"),   sample_function("a__1_"),   sample_function("a__1", 0),
      sample_function("a__1__0"),
  };
  for (const function_identity& function : all) names.insert(table_name(function));
  CHECK(names.size() == all.size());
}

TEST_CASE("a name that is no identifier with dots is refused") {
  for (const char* name :
       {"", "1a", ".a", "a b", "a\"b", "a'b", "a;b", "a-b", "a\nb", "\xc3\xa9"}) {
    CAPTURE(name);
    CHECK_THROWS_WITH_AS(table_name(sample_function(name)), doctest::Contains("cannot name"),
                         argument_error);
  }
  CHECK_THROWS_AS(table_name(sample_function(std::string("a\0b", 3))), argument_error);
  CHECK_NOTHROW(table_name(sample_function(std::string(200, 'a'))));
  CHECK_THROWS_AS(table_name(sample_function(std::string(201, 'a'))), argument_error);
}

TEST_CASE("the names of the database's own tables are reserved") {
  for (const char* name : {"sqlite_schema", "SQLite_x", "libtune_function", "LIBTUNE_f"}) {
    CAPTURE(name);
    CHECK_THROWS_WITH_AS(table_name(sample_function(name)), doctest::Contains("another name"),
                         argument_error);
  }
  CHECK_NOTHROW(table_name(sample_function("libtune.f")));
}

TEST_CASE("a version is not negative") {
  CHECK_THROWS_WITH_AS(table_name(sample_function("f", -1)), doctest::Contains("-1"),
                       argument_error);
}

TEST_CASE("field names are identifiers, unique without regard to case") {
  function_identity function = sample_function();
  CHECK_NOTHROW(tune::check_field_names(function));
  function.value_fields = {{"rows", value_type::int32}};  // the key has one too: another column
  CHECK_NOTHROW(tune::check_field_names(function));
  function.value_fields = {{"wgs", value_type::int32}, {"WGS", value_type::int32}};
  CHECK_THROWS_WITH_AS(tune::check_field_names(function), doctest::Contains("'WGS'"),
                       argument_error);
  for (const char* name : {"", "a.b", "a\"", "1"}) {
    function.value_fields = {{name, value_type::int32}};
    CHECK_THROWS_AS(tune::check_field_names(function), argument_error);
  }
}

TEST_CASE("a function has as many fields as a table has place for") {
  function_identity function = sample_function();
  function.key_fields.clear();
  function.value_fields.clear();
  for (int i = 0; i < 1000; ++i) {
    function.value_fields.push_back({"f" + std::to_string(i), value_type::int32});
  }
  CHECK_NOTHROW(tune::check_field_names(function));
  function.key_fields.push_back({"one", value_type::int32});
  CHECK_THROWS_WITH_AS(tune::check_field_names(function), doctest::Contains("1001 fields"),
                       argument_error);
}

const device_identity wanted{"NVIDIA H200", "NVIDIA CUDA", "535.104"};

/// The winner, whatever the order in which the candidates come.
device_identity winner(std::vector<device_identity> candidates) {
  const auto as_tuple = [](const device_identity& d) {
    return std::tie(d.name, d.platform, d.driver_version);
  };
  const auto before = [&](const auto& a, const auto& b) { return as_tuple(a) < as_tuple(b); };
  std::ranges::sort(candidates, before);
  const device_identity first = candidates[rank_nearest(candidates, wanted).front().index];
  while (std::ranges::next_permutation(candidates, before).found) {
    CHECK(candidates[rank_nearest(candidates, wanted).front().index] == first);
  }
  return first;
}

device_identity of_version(const std::string& version) {
  return {wanted.name, wanted.platform, version};
}

std::string nearest_version(const strings& versions) {
  std::vector<device_identity> candidates;
  for (const std::string& version : versions) candidates.push_back(of_version(version));
  return winner(candidates).driver_version;
}

TEST_CASE("without candidates there is no nearest one") { CHECK(rank_nearest({}, wanted).empty()); }

TEST_CASE("what differs is told, the weightiest last") {
  const auto relaxed = [](const device_identity& candidate) {
    return rank_nearest(std::vector{candidate}, wanted).front().relaxed;
  };
  CHECK(relaxed(wanted).empty());
  CHECK(relaxed(of_version("1")) == strings{"device_version"});
  CHECK(relaxed({wanted.name, "Other", "1"}) == strings{"device_version", "device_platform"});
  CHECK(relaxed({"Other", "Other", "1"}) ==
        strings{"device_version", "device_platform", "device_name"});
}

TEST_CASE("of devices that are as alike the newer driver wins, number by number") {
  CHECK(nearest_version({"535.9", "535.100", "535.200"}) == "535.200");
  CHECK(nearest_version({"534.104", "535.9"}) == "535.9");
  CHECK(nearest_version({"535", "535.90.12"}) == "535.90.12");
  CHECK(nearest_version({"CUDA 535.103 (beta 7)", "CUDA 12.2"}) == "CUDA 535.103 (beta 7)");
}

TEST_CASE("versions with the same numbers come in the order of their text") {
  CHECK(nearest_version({"v535.105", "r535.105"}) == "r535.105");
  CHECK(nearest_version({"535.105-1", "535.105.1"}) == "535.105-1");
}

TEST_CASE("versions without numbers or with very long ones are still ranked") {
  CHECK(nearest_version({"", "none", "535.1"}) == "535.1");
  CHECK(nearest_version({"99999999999999999999999999", "18446744073709551614"}) ==
        "99999999999999999999999999");
}

TEST_CASE("the name that shares the longest beginning comes first, whatever the driver") {
  CHECK(winner({{"NVIDIA H100", "ROCm", "1"}, {"AMD MI300", "NVIDIA CUDA", "535.104"}}).name ==
        "NVIDIA H100");
  CHECK(winner({{"NVIDIA H20", "ROCm", "9"}, {"NVIDIA H200 NVL", "ROCm", "1"}}).name ==
        "NVIDIA H200 NVL");
}

TEST_CASE("of names that are as alike the device comes first that differs in less") {
  CHECK(winner({{"NVIDIA A", "Other", "999"}, {"NVIDIA B", "NVIDIA CUDA", "1"}}).name ==
        "NVIDIA B");
}

/// A device with all that can be known of it.
device_identity full_device() {
  return {.name = "NVIDIA H200",
          .platform = "CUDA",
          .driver_version = "driver 13.0",
          .capabilities = {.api = "CUDA",
                           .architecture = "sm_90",
                           .work_group = 1024,
                           .work_group_x = 1024,
                           .work_group_y = 1024,
                           .work_group_z = 64,
                           .local_memory_bytes = 49152,
                           .dynamic_local_memory_bytes = 232448,
                           .registers = 65536,
                           .simd_group = 32},
          .performance = {.compiler = "NVRTC 13.0",
                          .compute_units = 132,
                          .memory_gib = 140,
                          .cache_kib = 61440,
                          .memory_bus_bits = 6144,
                          .clock_mhz = 1980,
                          .memory_clock_mhz = 3201}};
}

template <class Change>
device_identity changed(Change change) {
  device_identity device = full_device();
  change(device);
  return device;
}

TEST_CASE("each step holds what the one before it does not") {
  const auto step = [](auto change) { return step_between(changed(change), full_device()); };
  CHECK(step([](auto&) {}) == match_step::exact);
  CHECK(step([](auto& d) { d.driver_version = "driver 2.0"; }) == match_step::software);
  CHECK(step([](auto& d) {
          d.performance.compiler = "NVRTC 2.0";
          d.performance.clock_mhz = d.performance.memory_clock_mhz = 1;
        }) == match_step::software);
  CHECK(step([](auto& d) { d.platform = "Other"; }) == match_step::platform);
  CHECK(step([](auto& d) {
          d.platform = "NVIDIA OpenCL";
          d.capabilities = {.api = "OpenCL"};
        }) == match_step::platform);
  CHECK(step([](auto& d) { d.name = "Another, with the same limits"; }) ==
        match_step::architecture);
  CHECK(step([](auto& d) { d.performance.compute_units = 64; }) == match_step::share);
  CHECK(step([](auto& d) {
          d.performance.compute_units = 64;
          d.driver_version = "driver 2.0";
        }) == match_step::share);
  CHECK(step([](auto& d) {
          d.performance.compute_units = 64;
          d.name = "NVIDIA H200 MIG 3g.71gb";
        }) == match_step::architecture);
  CHECK(step([](auto& d) { d.performance.memory_gib = 80; }) == match_step::architecture);
  CHECK(step([](auto& d) { d.capabilities.registers = 1; }) == match_step::any);
  CHECK(step([](auto& d) {
          d.name = d.platform = "Another, ";
          d.capabilities.architecture = "sm_89";
        }) == match_step::any);
}

TEST_CASE("devices are ranked by step, then by likeness, from any order") {
  // From the nearest to the farthest; each is nearer than all after it.
  const std::vector<device_identity> order{
      full_device(),
      changed([](auto& d) { d.performance.compiler = "NVRTC 2.0"; }),
      changed([](auto& d) {
        d.performance.compiler = "NVRTC 2.0";
        d.driver_version = "driver 99.0";
      }),
      changed([](auto& d) { d.platform = "Other"; }),
      changed([](auto& d) { d.performance.memory_gib = 80; }),
      changed([](auto& d) { d.name = "NVIDIA H100"; }),
      changed([](auto& d) { d.capabilities.registers = 1; }),
      changed([](auto& d) {
        d.name = "NVIDIA A100";
        d.capabilities.architecture = "sm_80";
      }),
      changed([](auto& d) {
        d.name = "AMD Instinct MI300X";
        d.capabilities.architecture = "gfx942";
      })};
  const std::vector<device_identity> candidates(order.rbegin(), order.rend());
  const auto ranked = rank_nearest(candidates, full_device());
  REQUIRE(ranked.size() == order.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    CAPTURE(i);
    CHECK(candidates[ranked[i].index] == order[i]);
  }
  CHECK(ranked.back().step == match_step::any);
  CHECK(ranked.back().relaxed == strings{"device_name", "device_architecture"});
}

TEST_CASE("another share of the same device is nearer than another API or device") {
  const auto with_units = [](std::int64_t units, const std::string& driver = "driver 99.0") {
    return changed([&](auto& d) {
      d.performance.compute_units = units;
      d.driver_version = driver;
    });
  };
  const device_identity wanted = with_units(64);
  // From the nearest to the farthest; each is nearer than all after it.
  const std::vector<device_identity> order{wanted,
                                           with_units(64, "driver 1.0"),
                                           with_units(72, "driver 1.0"),
                                           with_units(48),
                                           with_units(132),
                                           with_units(8),
                                           changed([](auto& d) {
                                             d.performance.compute_units = 64;
                                             d.platform = "NVIDIA OpenCL";
                                             d.capabilities = {.api = "OpenCL"};
                                           }),
                                           changed([](auto& d) {
                                             d.performance.compute_units = 64;
                                             d.name = "NVIDIA H100";
                                           })};
  const std::vector<device_identity> candidates(order.rbegin(), order.rend());
  const auto ranked = rank_nearest(candidates, wanted);
  REQUIRE(ranked.size() == order.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    CAPTURE(i);
    CHECK(candidates[ranked[i].index] == order[i]);
  }
}

TEST_CASE("a shared architecture counts for more than a shared name") {
  const auto same_architecture = changed([](auto& d) {
    d.name = "Z";
    d.capabilities.registers = 1;
  });
  const auto same_name = changed([](auto& d) { d.capabilities.architecture = "sm_89"; });
  const std::vector candidates{same_name, same_architecture};
  CHECK(rank_nearest(candidates, full_device()).front().index == 1);
}

TEST_CASE("every step has its word") {
  CHECK(tune::match_step_name(match_step::exact) == "exact");
  CHECK(tune::match_step_name(match_step::software) == "other software");
  CHECK(tune::match_step_name(match_step::share) == "other share");
  CHECK(tune::match_step_name(match_step::any) == "any");
}

}  // namespace identity_column_test
