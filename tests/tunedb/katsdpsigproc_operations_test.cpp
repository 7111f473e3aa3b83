// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tunedb/katsdpsigproc_operations.hpp"

#include <SQLiteCpp/SQLiteCpp.h>
#include <cstdint>
#include <doctest/doctest.h>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "libtune/extra/formats/katsdpsigproc.hpp"
#include "libtune/extra/maintenance/merge.hpp"
#include "libtune/store/database/record.hpp"
#include "libtune/testing/fake_device.hpp"
#include "libtune/testing/fixtures.hpp"
#include "libtune/tune/autotuner_core.hpp"
#include "operations/fill/fill.hpp"
#include "operations/hreduce/hreduce.hpp"
#include "operations/transpose/transpose.hpp"
#include "tests/tunedb/run_tunedb.hpp"

namespace katsdpsigproc_operations_test {

using namespace tune::testing;
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

tune::katsdpsigproc_content read(const std::vector<table>& tables) {
  const temporary_folder folder;
  write(folder.file("k.db"), tables);
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

TEST_CASE("every tuned operation of katsdpsigproc has a counterpart, and is taken completely") {
  const tune::katsdpsigproc_content all = read(all_tables());
  CHECK(all.tables.size() == tune::cli::operation_translations().size());
  for (const tune::taken_table& taken : all.tables) {
    CAPTURE(taken.table);
    CHECK(taken.prior);
    CHECK(taken.taken == taken.rows);
    CHECK(taken.left.empty());
  }
}

TEST_CASE("what is taken is a tuning of its function, and a prior alone") {
  for (const tune::function_content& each : read(all_tables()).content.functions) {
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
  const auto all = read(all_tables());
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
  const auto all = read(all_tables());
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
  const auto all = read(all_tables());
  const auto& turned = content_of(all, "operations.transpose_template.autotune").results;
  REQUIRE(turned.size() == 2);
  const auto bytes = tune::from_values<transpose_tuning>(turned[0].values);
  CHECK(bytes.block_x == 16);
  CHECK(bytes.block_y == 16);
  CHECK(bytes.tile == 64);
  CHECK(bytes.walk == tune::operations::tile_walk::diagonal);
  CHECK(tune::operations::tuning_space(transpose_key{1}).find(bytes).has_value());
}

/// The priors of a function as text; empty if the function is not in this program.
std::vector<std::string> texts_of(const tune::katsdpsigproc_content& all,
                                  const std::string& function) {
  std::vector<std::string> texts;
  for (const tune::function_content& each : all.content.functions) {
    if (each.function.name != function) continue;
    for (const tune::result_content& prior : each.results) {
      texts.push_back(tune::to_string(prior.arguments) + ": " + tune::to_string(prior.values));
    }
  }
  return texts;
}

TEST_CASE("masked sums are known for every class of widths, a group as wide as there") {
  const auto sums = texts_of(read(all_tables()), "operations.maskedsum_template.autotune");
  REQUIRE(sums.size() == 20);
  CHECK(sums[0].starts_with("use_amplitudes=false, columns=128: wgsx=256, wgsy=1, "));
  CHECK(sums[19].starts_with("use_amplitudes=true, columns=65536: wgsx=1024, wgsy=1, "));
}

TEST_CASE("median filters are known by the use of flags, for both orders") {
  const auto filters =
      texts_of(read(all_tables()), "operations.rfi.background_median_filter_template.autotune");
  REQUIRE(filters.size() == 6);
  CHECK(filters[0].starts_with(
      "width=13, is_amplitude=false, flag_use=full_flags, order=channel_major: "));
  CHECK(filters[0].find("wgs=64") != std::string::npos);
  CHECK(filters[3].starts_with(
      "width=13, is_amplitude=true, flag_use=no_flags, order=baseline_major: "));
  CHECK(filters[4].find("flag_use=channel_flags") != std::string::npos);
}

TEST_CASE("percentiles, noise and thresholds are known by the fields of their keys") {
  const tune::katsdpsigproc_content all = read(all_tables());
  const auto ranks = texts_of(all, "operations.percentile5_template.autotune");
  REQUIRE(ranks.size() == 2);
  CHECK(ranks[0].starts_with("max_columns=5000, is_amplitude=true: size=128, rows=4, "));
  const auto noise = texts_of(all, "operations.rfi.noise_estimate_template.autotune");
  REQUIRE(noise.size() == 1);
  CHECK(noise[0] == "order=baseline_major, channels=10240: wgsx=128, wgsy=1, listed=128");
  const auto flags = texts_of(all, "operations.rfi.threshold_sum_template.autotune");
  REQUIRE(flags.size() == 2);
  CHECK(flags[1].starts_with("n_windows=4, order=baseline_major: wgsy=4, turns=4, run=16"));
}

struct first_trial final : tune::observer {
  void trial_finished(const tune::tuning_subject&, const tune::trial& made) override {
    if (!tuning) tuning = tune::from_values<fill_tuning>(made.configuration);
  }
  std::optional<fill_tuning> tuning;
};

/// A small device that can fill with words of one element of 4 bytes.
tune::device make_filling_device() {
  fake_device_options options;
  options.limits.global_memory_bytes = std::size_t{16} << 20;
  const fake_device fake(options);
  fake.add_kernel("fill", 5, [](fake_launch& launch) {
    const auto data = launch.buffer<std::uint32_t>(0);
    const auto word = launch.argument<std::uint32_t>(1);
    const auto words = launch.argument<std::uint64_t>(3);
    for (std::uint64_t i = 0; i < words; ++i) data[i] = word;
  });
  return fake.device();
}

TEST_CASE("a search tries first what katsdpsigproc had found") {
  const temporary_folder folder;
  const std::string path = folder.file("tuning.db");
  merge_content(path, read(all_tables()).content);
  const test_mode_guard mode(test_mode::off);
  const scoped_environment database("LIBTUNE_DB", path.c_str());
  const scoped_environment system("LIBTUNE_SYSTEM_DB", nullptr);
  const scoped_environment no_mode("LIBTUNE_MODE", nullptr);
  const auto first = std::make_shared<first_trial>();
  tune::tuning_options options{.match = tune::match_mode::nearest};
  options.search.max_count = 1;
  options.observers = {first};
  tune::operations::fill_template::autotune(make_filling_device().create_context(), {4}, options);
  REQUIRE(first->tuning);
  CHECK(first->tuning->wgs == 256);
  CHECK(first->tuning->vector == fill_tuning{}.vector);
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
  CHECK(shown["results"][0]["prior"] == true);
  CHECK(contains(tunedb(db + "show operations.fill_template.autotune").output, "  prior  "));
  const auto again = tunedb(db + "import-katsdpsigproc " + folder.file("k.db"));
  CHECK(again.code == 0);
  CHECK(contains(again.output, "as priors of operations.fill_template.autotune version 0"));
}

TEST_CASE("a row without a counterpart is left, with the reason") {
  const auto all = read(
      {{"katsdpsigproc_fill_FillTemplate_autotune__0",
        {"dtype", "ctype"},
        {"wgs"},
        {"'dtype([(''a'', ''<f4'')])', 'pair', 256", "'<class ''numpy.float32''>', 'float', -1"}},
       {"katsdpsigproc_transpose_TransposeTemplate_autotune__0",
        {"dtype"},
        {"block"},
        {"'<class ''numpy.float32''>', 16"}}});
  CHECK(all.content.functions.empty());
  for (const tune::taken_table& table : all.tables) CHECK_FALSE(table.left.empty());
}

}  // namespace katsdpsigproc_operations_test
