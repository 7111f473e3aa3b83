// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The commands with a database that has a portfolio for ranges of sizes.
#include <doctest/doctest.h>
#include <filesystem>
#include <string>
#include <vector>

#include "libtune/extra/ranged/portfolio_core.hpp"
#include "libtune/store/database/missed_keys.hpp"
#include "tests/tunedb/run_tunedb.hpp"

namespace portfolio_commands_test {

using nlohmann::json;
using tune::testing::contains;
using tune::testing::sample_key;
using tune::testing::scoped_environment;
using tune::testing::temporary_folder;
using tune::testing::tunedb;
using tune::testing::tunedb_json;

const tune::function_identity function{
    "ranged", 1, {{"rows", tune::value_type::string}}, {{"portfolio", tune::value_type::string}}};
constexpr const char* line =
    "portfolio of 2 tunings in 2 leaves, compared at 12 sizes: 1.0 % slower than tuning each size, "
    "2.0 % at most at nine of ten";

tune::record_key key() {
  tune::record_key made = sample_key();
  made.arguments = {{"rows", std::string("1..4096")}};
  return made;
}

tune::detail::stored_portfolio portfolio() {
  return {.ranges = {{1, 4096}},
          .configurations = {{{"wgs", std::int64_t{64}}}, {{"wgs", std::int64_t{128}}}},
          .tree = tune::size_tree({{.threshold = 8, .coordinate = 0, .below = 1, .above = 2},
                                   {.threshold = 0, .coordinate = -1, .below = 0},
                                   {.threshold = 0, .coordinate = -1, .below = 1}}),
          .orders = {{}, {0, 1}, {1, 0}},
          .proven = {{{5000}, {1, 0}}},
          .left = {{7000}},
          .expected_loss = 0.01,
          .worst_loss = 0.02,
          .sizes = 12,
          .compared = 5};
}

/// A database with one portfolio.
struct place {
  place() {
    tune::tuning_database(path).store(function, key(), {{"portfolio", portfolio().text()}}, 1500);
  }

  temporary_folder folder;
  std::string path = folder.file("tuning.db");
  scoped_environment variable{"LIBTUNE_DB", path.c_str()};
  scoped_environment system{"LIBTUNE_SYSTEM_DB", nullptr};
  scoped_environment match{"LIBTUNE_MATCH", nullptr};
  scoped_environment mode{"LIBTUNE_MODE", nullptr};
  scoped_environment missed{"LIBTUNE_MISSED", nullptr};
};

TEST_CASE("a portfolio is one line for people, and whole for programs") {
  const place here;
  CHECK(contains(tunedb("list").output, "ranged"));
  CHECK(contains(tunedb("show ranged").output, line));
  const std::string explained =
      tunedb("explain ranged --arg rows=1..4096 --device 'GPU One'").output;
  CHECK(contains(explained, line));
  CHECK(contains(explained, "wgs=64: in 1 leaf"));
  CHECK_FALSE(contains(explained, "how sure"));
  const std::string shown = tunedb("show ranged --json").output;
  CHECK(contains(shown, "configurations"));
  CHECK(tunedb("check").code == 0);
}

TEST_CASE("an exported portfolio is the same when it is imported") {
  const place here;
  const std::string file = here.folder.file("results.json");
  CHECK(tunedb("export " + file).code == 0);
  std::filesystem::remove(here.path);
  CHECK(tunedb("import " + file).code == 0);
  const auto found = tune::tuning_database(here.path).find(function, key());
  REQUIRE(found);
  CHECK(found->values == std::vector<tune::named_value>{{"portfolio", portfolio().text()}});
}

TEST_CASE("a portfolio is missed where it was asked for sizes that it does not know") {
  const place here;
  const tune::missed_keys noted(tune::missed_keys::path_beside(here.path));
  const std::vector<tune::asked_count> known{{{17}, 90}, {{5000}, 3}, {{7000}, 1}};
  noted.remember(function, key(), known);
  CHECK(tunedb_json("missed")["keys"].empty());
  const std::vector<tune::asked_count> more{{{6000}, 2}};
  noted.remember(function, key(), more);
  const json all = tunedb_json("missed")["keys"];
  REQUIRE(all.size() == 1);
  CHECK(all[0]["asked"].size() == 4);
  CHECK(contains(tunedb("missed").output, "17 (90 times), 5000 (3 times), 6000 (2 times)"));
}

}  // namespace portfolio_commands_test
