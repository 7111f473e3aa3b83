// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/formats/katsdpsigproc.hpp"

#include <SQLiteCpp/SQLiteCpp.h>
#include <algorithm>
#include <doctest/doctest.h>
#include <string>
#include <vector>

#include "libtune/base/error.hpp"
#include "libtune/extra/formats/infer_field.hpp"
#include "libtune/extra/formats/katsdpsigproc_translation.hpp"
#include "libtune/extra/maintenance/merge.hpp"
#include "libtune/store/database/record.hpp"
#include "libtune/store/database/tuning_database.hpp"
#include "tests/store/samples.hpp"
#include "tests/store/temporary_folder.hpp"

namespace katsdpsigproc_test {

using namespace tune::testing;
using namespace tune;

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
      {.functions = {{.function = sample_function(), .results = {}, .searches = {}}}});
  CHECK_THROWS_WITH_AS(read_katsdpsigproc(folder.file("t.db")), doctest::Contains("tunedb merge"),
                       tune::database_error);
  CHECK_THROWS_AS(read_katsdpsigproc(folder.file("none")), tune::database_error);
}

const translation_target target{
    .function = {.name = "app.sum",
                 .version = 2,
                 .key_fields = {{"bytes", value_type::uint64}, {"absolute", value_type::boolean}},
                 .value_fields = {{"wgs", value_type::uint64},
                                  {"scale", value_type::float64},
                                  {"walk", value_type::enumeration}}},
    .test_default = {
        {"wgs", std::uint64_t{64}}, {"scale", 1.5}, {"walk", std::string("along_rows")}}};

/// A rule whose counterpart is always the same.
katsdpsigproc_translation rule_for(counterpart made) {
  return {"app_sum_Sum_autotune", 1, "app.sum", [made](const katsdpsigproc_row&) { return made; }};
}

std::vector<tune::result_content> translated(counterpart made) {
  return translate_row(rule_for(std::move(made)), target, {}, {{"device_name", std::string("x")}});
}

TEST_CASE("fields without a counterpart are those of the test default, unknown ones are left out") {
  const auto priors =
      translated({.key = {{"bytes", {std::int64_t{4}}}, {"absolute", {std::int64_t{1}}}},
                  .tuning = {{"wgs", std::int64_t{256}}, {"other", std::int64_t{1}}}});
  REQUIRE(priors.size() == 1);
  CHECK(priors[0].arguments ==
        std::vector<named_value>{{"bytes", std::uint64_t{4}}, {"absolute", true}});
  CHECK(priors[0].values == std::vector<named_value>{{"wgs", std::uint64_t{256}},
                                                     {"scale", 1.5},
                                                     {"walk", std::string("along_rows")}});
  CHECK(tune::is_prior(priors[0].device()));
  CHECK(priors[0].device().name == "x");
}

TEST_CASE("a row stands for each combination of the values of its key") {
  const auto priors = translated(
      {.key = {{"bytes", {std::int64_t{4}, std::int64_t{8}}}, {"absolute", {true, false}}},
       .tuning = {{"scale", std::int64_t{2}}}});
  REQUIRE(priors.size() == 4);
  CHECK(tune::to_string(priors[0].arguments) == "bytes=4, absolute=true");
  CHECK(tune::to_string(priors[3].arguments) == "bytes=8, absolute=false");
  CHECK(tune::to_string(priors[3].values) == "wgs=64, scale=2, walk=along_rows");
}

TEST_CASE("what has no counterpart is an error that names it") {
  CHECK_THROWS_WITH_AS(
      translated({.key = {{"bytes", {std::int64_t{4}}}}, .tuning = {{"wgs", std::int64_t{1}}}}),
      "the field absolute of the key of app.sum has no counterpart", tune::argument_error);
  CHECK_THROWS_WITH_AS(translated({.key = {{"bytes", {std::int64_t{4}}}, {"absolute", {true}}},
                                   .tuning = {{"vt", std::int64_t{1}}}}),
                       "no parameter has a counterpart in app.sum", tune::argument_error);
  CHECK_THROWS_AS(translated({.key = {{"bytes", {std::int64_t{-4}}}, {"absolute", {true}}},
                              .tuning = {{"wgs", std::int64_t{1}}}}),
                  tune::argument_error);
}

TEST_CASE("bytes of numpy are numbers again, and types have their names") {
  const auto bytes = [](std::initializer_list<unsigned> all) {
    std::vector<std::byte> made;
    for (const unsigned one : all) made.push_back(static_cast<std::byte>(one));
    return made;
  };
  const katsdpsigproc_row row = tune::plain_row({{"a", bytes({9, 0, 0, 0, 0, 0, 0, 0})},
                                                 {"b", bytes({0xFE, 0xFF})},
                                                 {"c", bytes({1})},
                                                 {"d", bytes({1, 2, 3})},
                                                 {"e", std::string("<class 'numpy.float32'>")},
                                                 {"f", std::string("dtype('complex64')")},
                                                 {"g", std::string("a + b")},
                                                 {"h", std::monostate()},
                                                 {"i", 0.5}});
  CHECK(tune::integer_of(row, "a") == 9);
  CHECK(tune::integer_of(row, "b") == -2);
  CHECK(tune::truth_of(row, "c"));
  CHECK_FALSE(row.contains("d"));
  CHECK(tune::text_of(row, "e") == "float32");
  CHECK(tune::text_of(row, "f") == "complex64");
  CHECK(tune::text_of(row, "g") == "a + b");
  CHECK_FALSE(row.contains("h"));
  CHECK_THROWS_WITH_AS(tune::integer_of(row, "d"), "there is no column d", tune::argument_error);
  CHECK_THROWS_AS(tune::integer_of(row, "i"), tune::argument_error);
  CHECK_THROWS_AS(tune::truth_of(row, "a"), tune::argument_error);
  CHECK_THROWS_AS(tune::text_of(row, "a"), tune::argument_error);
}

struct translated_sample {
  translated_sample() {
    SQLite::Database made(path, SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
    for (const char* table : {"app_sum_Sum_autotune__1", "app_sum_Sum_autotune__2"}) {
      const std::string name = table;
      made.exec("CREATE TABLE " + name +
                " (arg_n, device_name, device_platform, device_version, value_wgs)");
      made.exec("INSERT INTO " + name + " VALUES (1, 'GPU', 'CUDA', '12', 64)");
    }
  }
  tune::katsdpsigproc_options options() const {
    return {.translations = {rule_for(
                {.key = {{"bytes", {std::int64_t{4}}}, {"absolute", {true, false}}},
                 .tuning = {{"wgs", std::int64_t{128}}}})},
            .targets = {target}};
  }

  temporary_folder folder;
  std::string path = folder.file("k.db");
};

const tune::taken_table& find_table(const tune::katsdpsigproc_content& all, const char* name) {
  return *std::ranges::find(all.tables, name, &tune::taken_table::table);
}

TEST_CASE("a table with a rule becomes priors of the function here, in its version alone") {
  const translated_sample given;
  const auto all = tune::read_katsdpsigproc(given.path, given.options());
  const tune::taken_table& taken = find_table(all, "app_sum_Sum_autotune__1");
  CHECK(taken.prior);
  CHECK(taken.function == "app.sum");
  CHECK(taken.version == 2);
  CHECK(taken.taken == 1);
  CHECK(find_table(all, "app_sum_Sum_autotune__2").left ==
        std::vector<std::string>{"version 1 has a counterpart here, version 2 has none"});
  REQUIRE(all.content.functions.size() == 1);
  CHECK(all.content.functions[0].results.size() == 2);
  CHECK(tune::merge_content(given.folder.file("t.db"), all.content).results_added == 2);
  CHECK(tune::merge_content(given.folder.file("t.db"), all.content).results_kept == 2);
  tune::tuning_database database(given.folder.file("t.db"));
  const tune::record_key key{{{"bytes", std::uint64_t{4}}, {"absolute", true}},
                             {"GPU", "CUDA", "12"}};
  CHECK_FALSE(database.find(target.function, key));
  CHECK_FALSE(database.find(target.function, key, tune::match_mode::nearest));
  const auto priors = database.find_nearest(target.function, key, 9, tune::nearest_kind::priors);
  REQUIRE(priors.size() == 1);
  CHECK(priors[0].values[0].value == value(std::uint64_t{128}));
}

TEST_CASE("a rule without its function leaves the table, and a given name goes before a rule") {
  const translated_sample given;
  tune::katsdpsigproc_options options = given.options();
  options.targets.clear();
  CHECK(find_table(tune::read_katsdpsigproc(given.path, options), "app_sum_Sum_autotune__1").left ==
        std::vector<std::string>{"its counterpart app.sum is not in this program"});
  options = given.options();
  options.names["app_sum_Sum_autotune"] = "mine";
  const auto all = tune::read_katsdpsigproc(given.path, options);
  CHECK(find_table(all, "app_sum_Sum_autotune__1").function == "mine");
  CHECK_FALSE(find_table(all, "app_sum_Sum_autotune__1").prior);
}

TEST_CASE("the reason of a rule is that of the row") {
  const translated_sample given;
  tune::katsdpsigproc_options options = given.options();
  options.translations[0].translate = [](const katsdpsigproc_row& row) -> counterpart {
    throw tune::argument_error("n is " + std::to_string(tune::integer_of(row, "arg_n")));
  };
  const auto all = tune::read_katsdpsigproc(given.path, options);
  CHECK(find_table(all, "app_sum_Sum_autotune__1").taken == 0);
  CHECK(find_table(all, "app_sum_Sum_autotune__1").left == std::vector<std::string>{"n is 1"});
  CHECK(all.content.functions.empty());
}

field_description shown(const std::vector<value>& values) { return infer_field("x", values); }

value whole(std::int64_t number) { return number; }

TEST_CASE("the type of a field is the first of the rule that fits all its values") {
  CHECK(shown({true, false}).type == value_type::boolean);
  CHECK(shown({whole(1), whole(-2147483648)}).type == value_type::int32);
  CHECK(shown({whole(1), whole(2147483648)}).type == value_type::int64);
  CHECK(shown({whole(1), std::uint64_t{18446744073709551615U}}).type == value_type::uint64);
  CHECK(shown({whole(-1), std::uint64_t{18446744073709551615U}}).type == value_type::float64);
  CHECK(shown({whole(1), 0.5}).type == value_type::float64);
  CHECK(shown({std::string("float32"), std::string("int8")}).type == value_type::element_type);
  CHECK(shown({std::string("float32"), std::string("fast")}).type == value_type::string);
  CHECK(shown({true, whole(1)}).type == value_type::string);
  CHECK(shown({}).type == value_type::string);
}

TEST_CASE("a field that has no value somewhere is optional, and that does not change its type") {
  CHECK(shown({whole(1), value()}) == field_description{"x", value_type::int32, true});
  CHECK(shown({value()}) == field_description{"x", value_type::string, true});
  CHECK_FALSE(shown({whole(1)}).optional);
}

TEST_CASE("a type that is given counts, under its own field's name alone") {
  const tune::field_types given{{"x", tune::parse_field_type("uint16?")}};
  const std::vector<value> values{whole(1)};
  CHECK(infer_field("x", values, given) == field_description{"x", value_type::uint16, true});
  CHECK(infer_field("y", values, given).type == value_type::int32);
}

TEST_CASE("every type's name is read, and other words are refused with the list") {
  for (int i = 0; i <= static_cast<int>(value_type::element_type); ++i) {
    const auto type = static_cast<value_type>(i);
    CHECK(tune::parse_field_type(std::string(tune::value_type_name(type))).type == type);
  }
  CHECK_THROWS_WITH_AS(tune::parse_field_type("integer"), doctest::Contains("int32, uint32"),
                       tune::argument_error);
}

}  // namespace katsdpsigproc_test
