// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/formats/katsdpsigproc.hpp"

#include <SQLiteCpp/SQLiteCpp.h>
#include <doctest/doctest.h>

#include "libtune/base/error.hpp"
#include "libtune/extra/maintenance/merge.hpp"
#include "libtune/store/database/tuning_database.hpp"
#include "tests/store/samples.hpp"
#include "tests/store/temporary_folder.hpp"

namespace katsdpsigproc_test {

using tune::katsdpsigproc_content;
using tune::katsdpsigproc_options;
using tune::read_katsdpsigproc;
using tune::taken_table;
using tune::tuning_database;
using tune::value_type;
using tune::testing::temporary_folder;

/// Tables as katsdpsigproc makes them: columns without types, a key that replaces, and what its
/// known faults leave behind.
void make_sample(const std::string& path) {
  SQLite::Database made(path, SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
  const std::string device =
      "device_name NOT NULL, device_platform NOT NULL, device_version NOT NULL";
  made.exec("CREATE TABLE katsdpsigproc_fill_FillTemplate_autotune__0 (arg_dtype NOT NULL, " +
            device +
            ", value_wgs NOT NULL, value_factor NOT NULL, PRIMARY KEY (arg_dtype, device_name, "
            "device_platform, device_version) ON CONFLICT REPLACE)");
  made.exec(
      "INSERT INTO katsdpsigproc_fill_FillTemplate_autotune__0 VALUES "
      "('<class ''numpy.float32''>', 'GPU', 'CUDA', 'CUDA:11040 Driver:12090', 128, 0.5),"
      "('dtype(''uint8'')', 'GPU', 'CUDA', 'CUDA:11040 Driver:12090', 256, 1),"
      "('<class ''numpy.float64''>', 'GPU', 'CUDA', 'CUDA:11040 Driver:12090', "
      "x'0900000000000000', 1)");
  made.exec("CREATE TABLE app_ddc_DDCTemplate_autotune__3 (arg_taps NOT NULL, arg_mode NOT NULL, " +
            device +
            ", value_unroll NOT NULL, PRIMARY KEY (arg_taps, arg_mode, device_name, "
            "device_platform, device_version) ON CONFLICT REPLACE)");
  made.exec("INSERT INTO app_ddc_DDCTemplate_autotune__3 VALUES (256, 'FAST', 'GPU', 'P', '1', 1)");
  made.exec("CREATE TABLE unrelated (a, b)");
  made.exec("CREATE VIEW looks_like__1 AS SELECT * FROM unrelated");
}

const taken_table& table(const katsdpsigproc_content& all, const std::string& name) {
  for (const taken_table& one : all.tables) {
    if (one.table == name) return one;
  }
  throw std::runtime_error("no table " + name);
}

const std::string fill_name = "katsdpsigproc_fill_FillTemplate_autotune";

TEST_CASE("tables become functions with the types that their values show") {
  const temporary_folder folder;
  make_sample(folder.file("k.db"));
  const auto all = read_katsdpsigproc(folder.file("k.db"), {.date = "2024-01-31T12:00:00Z"});
  CHECK(all.tables.size() == 3);
  const taken_table fill = table(all, fill_name + "__0");
  CHECK(fill.rows == 3);
  CHECK(fill.taken == 2);
  REQUIRE(fill.left.size() == 1);
  CHECK(fill.left[0].find("numpy") != std::string::npos);
  CHECK(table(all, "app_ddc_DDCTemplate_autotune__3").version == 3);
  CHECK(table(all, "unrelated").left.size() == 1);

  REQUIRE(all.content.functions.size() == 2);
  const tune::function_identity& ddc = all.content.functions[0].function;
  CHECK(ddc.key_fields[0] == tune::field_description{"taps", value_type::int32});
  CHECK(ddc.key_fields[1] == tune::field_description{"mode", value_type::string});

  const tune::function_identity& filled = all.content.functions[1].function;
  CHECK(filled.key_fields[0] == tune::field_description{"dtype", value_type::element_type});
  CHECK(filled.value_fields[1] == tune::field_description{"factor", value_type::float64});

  merge_content(folder.file("t.db"), all.content);
  tuning_database database(folder.file("t.db"));
  const auto found =
      database.find(ddc, {.arguments = {{"taps", std::int64_t{256}}, {"mode", std::string("FAST")}},
                          .device = {"GPU", "P", "1", {}, {}}});
  REQUIRE(found);
  CHECK(found->values == std::vector<tune::named_value>{{"unroll", std::int64_t{1}}});
  CHECK_FALSE(found->score_ns);
}

TEST_CASE("a function that is known decides the types, and may have another name") {
  const temporary_folder folder;
  make_sample(folder.file("k.db"));
  const tune::function_identity known{
      .name = "fill.autotune",
      .version = 0,
      .key_fields = {{"dtype", value_type::element_type}},
      .value_fields = {{"wgs", value_type::uint32}, {"factor", value_type::float32}}};
  const auto all = read_katsdpsigproc(folder.file("k.db"),
                                      {.names = {{fill_name, "fill.autotune"}}, .known = {known}});
  const auto& content = all.content.functions.back();
  CHECK(content.function == known);
  REQUIRE(content.results.size() == 2);
  CHECK(content.results[0].arguments[0].value == tune::value(std::string("float32")));
  CHECK(content.results[1].arguments[0].value == tune::value(std::string("uint8")));
  CHECK(content.results[0].values[0].value == tune::value(std::uint64_t{128}));
}

TEST_CASE("a type that is given counts instead of the one that the values show") {
  const temporary_folder folder;
  make_sample(folder.file("k.db"));
  const auto all = read_katsdpsigproc(folder.file("k.db"),
                                      {.types = {{"taps", {{}, value_type::uint64}},
                                                 {"mode", {{}, value_type::enumeration, true}},
                                                 {"dtype", {{}, value_type::int8}}}});
  const tune::function_identity& ddc = all.content.functions[0].function;
  CHECK(ddc.key_fields[0] == tune::field_description{"taps", value_type::uint64});
  CHECK(ddc.key_fields[1] == tune::field_description{"mode", value_type::enumeration, true});
  CHECK(all.content.functions[0].results.size() == 1);
  CHECK(table(all, fill_name + "__0").taken == 0);  // a text is no int8
}

TEST_CASE("every column of an identity is taken, and a table with another one is left") {
  const temporary_folder folder;
  const std::string make =
      "CREATE TABLE app_f__0 (arg_n, device_name, device_platform, device_version, "
      "device_architecture, device_clock_mhz, value_wgs);"
      "INSERT INTO app_f__0 VALUES (1, 'GPU', 'CUDA', '12', 'sm_90', 1785, 64),"
      "(2, 'GPU', 'CUDA', '12', 'sm_90', 'fast', 64);"
      "CREATE TABLE app_g__0 (device_name, device_platform, device_version, device_colour, "
      "value_wgs)";
  SQLite::Database(folder.file("k.db"), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE).exec(make);
  const auto all = read_katsdpsigproc(folder.file("k.db"));
  REQUIRE(all.content.functions.size() == 1);
  REQUIRE(all.content.functions[0].results.size() == 1);
  CHECK(all.content.functions[0].results[0].device().capabilities.architecture == "sm_90");
  CHECK(all.content.functions[0].results[0].device().performance.clock_mhz == 1785);
  CHECK(table(all, "app_f__0").left ==
        std::vector<std::string>{"column device_clock_mhz holds what is no integer"});
  REQUIRE(table(all, "app_g__0").left.size() == 1);
  CHECK(table(all, "app_g__0").left[0].find("device_colour") != std::string::npos);
}

TEST_CASE("a tuning database of libtune is no database of katsdpsigproc") {
  const temporary_folder folder;
  tune::merge_content(
      folder.file("t.db"),
      {.functions = {
           {.function = tune::testing::sample_function(), .results = {}, .searches = {}}}});
  CHECK_THROWS_WITH_AS(read_katsdpsigproc(folder.file("t.db")), doctest::Contains("tunedb merge"),
                       tune::database_error);
  CHECK_THROWS_AS(read_katsdpsigproc(folder.file("none")), tune::database_error);
}

}  // namespace katsdpsigproc_test
