// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/formats/katsdpsigproc_translation.hpp"

#include <SQLiteCpp/SQLiteCpp.h>
#include <algorithm>
#include <doctest/doctest.h>
#include <string>
#include <vector>

#include "libtune/base/error.hpp"
#include "libtune/extra/formats/katsdpsigproc.hpp"
#include "libtune/extra/maintenance/merge.hpp"
#include "libtune/store/database/record.hpp"
#include "libtune/store/database/tuning_database.hpp"
#include "tests/store/temporary_folder.hpp"

namespace katsdpsigproc_translation_test {

using tune::counterpart;
using tune::katsdpsigproc_row;
using tune::katsdpsigproc_translation;
using tune::named_value;
using tune::translate_row;
using tune::translation_target;
using tune::value;
using tune::value_type;
using tune::testing::temporary_folder;

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

struct sample {
  sample() {
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

const tune::taken_table& table(const tune::katsdpsigproc_content& all, const char* name) {
  return *std::ranges::find(all.tables, name, &tune::taken_table::table);
}

TEST_CASE("a table with a rule becomes priors of the function here, in its version alone") {
  const sample given;
  const auto all = tune::read_katsdpsigproc(given.path, given.options());
  const tune::taken_table& taken = table(all, "app_sum_Sum_autotune__1");
  CHECK(taken.prior);
  CHECK(taken.function == "app.sum");
  CHECK(taken.version == 2);
  CHECK(taken.taken == 1);
  CHECK(table(all, "app_sum_Sum_autotune__2").left ==
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
  const sample given;
  tune::katsdpsigproc_options options = given.options();
  options.targets.clear();
  CHECK(table(tune::read_katsdpsigproc(given.path, options), "app_sum_Sum_autotune__1").left ==
        std::vector<std::string>{"its counterpart app.sum is not in this program"});
  options = given.options();
  options.names["app_sum_Sum_autotune"] = "mine";
  const auto all = tune::read_katsdpsigproc(given.path, options);
  CHECK(table(all, "app_sum_Sum_autotune__1").function == "mine");
  CHECK_FALSE(table(all, "app_sum_Sum_autotune__1").prior);
}

TEST_CASE("the reason of a rule is that of the row") {
  const sample given;
  tune::katsdpsigproc_options options = given.options();
  options.translations[0].translate = [](const katsdpsigproc_row& row) -> counterpart {
    throw tune::argument_error("n is " + std::to_string(tune::integer_of(row, "arg_n")));
  };
  const auto all = tune::read_katsdpsigproc(given.path, options);
  CHECK(table(all, "app_sum_Sum_autotune__1").taken == 0);
  CHECK(table(all, "app_sum_Sum_autotune__1").left == std::vector<std::string>{"n is 1"});
  CHECK(all.content.functions.empty());
}

}  // namespace katsdpsigproc_translation_test
