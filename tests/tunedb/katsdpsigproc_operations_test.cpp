// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tunedb/katsdpsigproc_operations.hpp"

#include <SQLiteCpp/SQLiteCpp.h>
#include <algorithm>
#include <doctest/doctest.h>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "libtune/exchange/katsdpsigproc.hpp"
#include "libtune/store/database/record.hpp"
#include "libtune/tune/autotuner_core.hpp"
#include "operations/fill/fill.hpp"
#include "operations/hreduce/hreduce.hpp"
#include "operations/transpose/transpose.hpp"
#include "tests/tunedb/run_tunedb.hpp"

namespace katsdpsigproc_operations_test {

using tune::testing::temporary_folder;
using tune::testing::tunedb;
using tune::testing::tunedb_json;
using json = nlohmann::json;

/// A table as katsdpsigproc makes it, without types, and its rows.
struct table {
  std::string name;
  std::vector<std::string> arguments;
  std::vector<std::string> values;
  std::vector<std::string> rows;  // of SQL literals: the arguments, then the values
};

std::string list(const std::string& prefix, const std::vector<std::string>& names,
                 const std::string& suffix = "") {
  std::string text;
  for (const std::string& name : names) text += prefix + name + suffix + ", ";
  return text;
}

void write(const std::string& path, const std::vector<table>& tables) {
  SQLite::Database made(path, SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
  const std::string device = "device_name, device_platform, device_version";
  for (const table& each : tables) {
    made.exec("CREATE TABLE " + each.name + " (" + list("arg_", each.arguments, " NOT NULL") +
              "device_name NOT NULL, device_platform NOT NULL, device_version NOT NULL, " +
              list("value_", each.values, " NOT NULL") + "PRIMARY KEY (" +
              list("arg_", each.arguments) + device + ") ON CONFLICT REPLACE)");
    std::string columns = list("arg_", each.arguments) + list("value_", each.values) + device;
    for (const std::string& row : each.rows) {
      made.exec("INSERT INTO " + each.name + " (" + columns + ") VALUES (" + row +
                ", 'NVIDIA GeForce RTX 3070 Ti', 'CUDA', 'CUDA:1290 Driver:12090')");
    }
  }
}

const std::string rfi = "katsdpsigproc_rfi_device_";

/// Every tuned operation of katsdpsigproc 1.10, with what Python and numpy make of the values.
std::vector<table> all_tables() {
  return {
      {"katsdpsigproc_fill_FillTemplate_autotune__0",
       {"dtype", "ctype"},
       {"wgs"},
       {"'<class ''numpy.float32''>', 'float', 256",
        "'dtype(''complex64'')', 'float2', x'0002000000000000'"}},
      {"katsdpsigproc_reduce_HReduceTemplate_autotune__0",
       {"dtype", "ctype", "op", "identity", "extra_code"},
       {"wgsx", "wgsy"},
       {"'<class ''numpy.float32''>', 'float', 'a+b', '0', '', 128, 2"}},
      {"katsdpsigproc_transpose_TransposeTemplate_autotune__1",
       {"dtype", "ctype"},
       {"block", "vtx", "vty"},
       {"'<class ''numpy.uint8''>', 'unsigned char', 16, 2, 4",
        "'<class ''numpy.complex64''>', 'float2', 8, 3, 1"}},
      {"katsdpsigproc_maskedsum_MaskedSumTemplate_autotune__1",
       {"use_amplitudes"},
       {"size"},
       {"0, 256", "1, 1024"}},
      {"katsdpsigproc_percentile_Percentile5Template_autotune__8",
       {"max_columns", "is_amplitude"},
       {"size", "wgsy"},
       {"5000, 1, 128, 4", "8064, 0, 256, 1"}},
      {rfi + "BackgroundMedianFilterDeviceTemplate_autotune__4",
       {"width", "is_amplitude", "use_flags"},
       {"wgs", "csplit"},
       {"13, 0, 'FULL', 64, 8", "13, 1, 'NONE', 128, 4", "5, 1, 1, 32, 1"}},
      {rfi + "NoiseEstMADTDeviceTemplate_autotune__0", {"max_channels"}, {"wgsx"}, {"10240, 128"}},
      {rfi + "ThresholdSumDeviceTemplate_autotune__0", {"n_windows"}, {"wgs", "vt"}, {"4, 128, 3"}},
  };
}

tune::katsdpsigproc_content read_all(const temporary_folder& folder) {
  write(folder.file("k.db"), all_tables());
  return tune::read_katsdpsigproc(folder.file("k.db"),
                                  {.translations = tune::cli::operation_translations(),
                                   .targets = tune::cli::registered_targets()});
}

const tune::function_content& content_of(const tune::katsdpsigproc_content& all,
                                         const std::string& function) {
  for (const tune::function_content& each : all.content.functions) {
    if (each.function.name == function) return each;
  }
  throw std::runtime_error("nothing was taken for " + function);
}

TEST_CASE("each operation whose counterpart is in this program is taken completely") {
  const temporary_folder folder;
  const auto targets = tune::cli::registered_targets();
  std::size_t present = 0;
  for (const tune::taken_table& taken : read_all(folder).tables) {
    CAPTURE(taken.table);
    const auto rules = tune::cli::operation_translations();
    const auto rule = std::ranges::find_if(rules, [&](const auto& each) {
      return taken.table == each.table + "__" + std::to_string(each.version);
    });
    REQUIRE(rule != rules.end());
    const bool is_present = std::ranges::any_of(
        targets, [&](const auto& target) { return target.function.name == rule->function; });
    present += is_present ? 1 : 0;
    CHECK(taken.taken == (is_present ? taken.rows : 0));
    CHECK(taken.left.empty() == is_present);
    CHECK(taken.prior == is_present);
  }
  CHECK(present >= 3);
}

TEST_CASE("what is taken is a tuning of its function, and a prior alone") {
  const temporary_folder folder;
  for (const tune::function_content& each : read_all(folder).content.functions) {
    CAPTURE(each.function.name);
    REQUIRE_FALSE(each.results.empty());
    for (const tune::result_content& prior : each.results) {
      CHECK_NOTHROW(tune::autotuner_registry::instance().check(each.function, prior.values));
      CHECK(tune::is_prior(prior.device()));
      CHECK_FALSE(prior.score_ns());
    }
  }
}

using tune::operations::fill_key;
using tune::operations::fill_tuning;
using tune::operations::hreduce_key;
using tune::operations::hreduce_tuning;
using tune::operations::transpose_key;
using tune::operations::transpose_tuning;

TEST_CASE("a fill is known by the bytes of its elements") {
  const temporary_folder folder;
  const auto all = read_all(folder);
  const auto& fills = content_of(all, "operations.fill_template.autotune").results;
  REQUIRE(fills.size() == 2);
  CHECK(tune::from_values<fill_key>(fills[0].arguments).element_bytes == 4);
  CHECK(tune::from_values<fill_tuning>(fills[0].values).wgs == 256);
  CHECK(tune::from_values<fill_key>(fills[1].arguments).element_bytes == 8);
  const auto tuning = tune::from_values<fill_tuning>(fills[1].values);
  CHECK(tuning.wgs == 512);
  CHECK(tuning.vector == fill_tuning{}.vector);
  CHECK(tune::operations::tuning_space(fill_key{8}).find(tuning).has_value());
}

TEST_CASE("a reduction is known for every class of widths") {
  const temporary_folder folder;
  const auto all = read_all(folder);
  const auto& sums = content_of(all, "operations.hreduce_template.autotune").results;
  CHECK(sums.size() == 10);
  for (const tune::result_content& sum : sums) {
    const auto key = tune::from_values<hreduce_key>(sum.arguments);
    hreduce_key plain;
    plain.columns = key.columns;
    CHECK(tune::to_values(key) == tune::to_values(plain));
    const auto tuning = tune::from_values<hreduce_tuning>(sum.values);
    CHECK(tuning.wgsx == 128);
    CHECK(tuning.wgsy == 2);
    CHECK(tune::operations::tuning_space(key).find(tuning).has_value());
  }
}

TEST_CASE("a transposition has square tiles, and goes over them diagonally") {
  const temporary_folder folder;
  const auto all = read_all(folder);
  const auto& turned = content_of(all, "operations.transpose_template.autotune").results;
  REQUIRE(turned.size() == 2);
  const auto bytes = tune::from_values<transpose_tuning>(turned[0].values);
  CHECK(bytes.block_x == 16);
  CHECK(bytes.block_y == 16);
  CHECK(bytes.tile == 64);
  CHECK(bytes.walk == tune::operations::tile_walk::diagonal);
  CHECK(tune::operations::tuning_space(transpose_key{1}).find(bytes).has_value());
}

TEST_CASE("tunedb takes the operations of katsdpsigproc as priors, and says so") {
  const temporary_folder folder;
  auto tables = all_tables();
  tables.resize(3);
  write(folder.file("k.db"), tables);
  const std::string db = "--db " + folder.file("tuning.db") + " ";
  const json report = tunedb_json(db + "import-katsdpsigproc " + folder.file("k.db"));
  for (const json& table : report["tables"]) {
    CHECK(table["prior"] == true);
    CHECK(table["taken"] == table["rows"]);
  }
  CHECK(report["results_added"] == 14);
  const json shown = tunedb_json(db + "show operations.fill_template.autotune");
  CHECK(shown["results"].size() == 2);
  const auto again = tunedb(db + "import-katsdpsigproc " + folder.file("k.db"));
  CHECK(again.code == 0);
  CHECK(tune::testing::contains(again.output,
                                "as priors of operations.fill_template.autotune version 0"));
}

TEST_CASE("a row without a counterpart is left, with the reason") {
  const temporary_folder folder;
  write(folder.file("k.db"),
        {{"katsdpsigproc_fill_FillTemplate_autotune__0",
          {"dtype", "ctype"},
          {"wgs"},
          {"'dtype([(''a'', ''<f4'')])', 'pair', 256", "'<class ''numpy.float32''>', 'float', -1"}},
         {"katsdpsigproc_transpose_TransposeTemplate_autotune__0",
          {"dtype"},
          {"block"},
          {"'<class ''numpy.float32''>', 16"}}});
  const auto all = tune::read_katsdpsigproc(folder.file("k.db"),
                                            {.translations = tune::cli::operation_translations(),
                                             .targets = tune::cli::registered_targets()});
  CHECK(all.content.functions.empty());
  for (const tune::taken_table& table : all.tables) CHECK_FALSE(table.left.empty());
}

}  // namespace katsdpsigproc_operations_test
