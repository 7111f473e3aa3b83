// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
// What an autotuner makes of results that came from elsewhere, before it knew of its own fields.
#include <doctest/doctest.h>
#include <string>

#include "libtune/exchange/t4.hpp"
#include "libtune/store/maintenance/database_reader.hpp"
#include "libtune/store/maintenance/merge.hpp"
#include "libtune/testing/fixtures.hpp"
#include "libtune/testing/temporary_directory.hpp"
#include "tests/store/captured_errors.hpp"
#include "tests/tune/scale.hpp"

namespace imported_results_test {

using sample::counted_autotuner;
using sample::fastest;
using sample::scale_tuning;
using tune::testing::captured_errors;
using tune::testing::scoped_environment;
using tune::testing::test_mode;
using tune::testing::test_mode_guard;

struct application {
  test_mode_guard mode{test_mode::off};
  tune::testing::temporary_directory folder;
  std::string path = (folder / "tuning.db").string();
  scoped_environment database{"LIBTUNE_DB", path.c_str()};
  scoped_environment system{"LIBTUNE_SYSTEM_DB", nullptr};
  scoped_environment match{"LIBTUNE_MATCH", nullptr};
  scoped_environment no_mode{"LIBTUNE_MODE", nullptr};
};

// Slower than what a search would find, so that one sees which of both was used.
const char* const from_elsewhere = R"({"schema_version": "1.0.0", "results": [
  {"timestamp": "2023-12-21 10:44:42.2+00:00", "configuration": {"wgs": 8, "rows": 2},
   "times": {"compilation": 1, "runtimes": [2.5]}, "invalidity": "correct",
   "measurements": [{"name": "time", "value": 2.5, "unit": "ms"}]}]})";

void import_t4(const std::string& path, const std::string& name, const tune::context& context,
               const tune::field_types& types = {}) {
  const tune::value size = std::int64_t{64};
  const tune::t4_subject subject{
      .function = {.name = name,
                   .version = 0,
                   .key_fields = {tune::shown_field("size", {&size, 1}, types)},
                   .value_fields = {}},
      .types = types,
      .arguments = {{"size", size}},
      .device = context.device().identity()};
  const auto report =
      tune::merge_content(path, {.functions = {from_t4_text(from_elsewhere, subject)}});
  REQUIRE(report.results_added == 1);
}

TEST_CASE("an imported result whose values show the types of the autotuner is found") {
  const application app;
  const auto context = sample::make_device().device().create_context();
  import_t4(app.path, "sample.imported", context);
  counted_autotuner counted("sample.imported");
  CHECK(counted.autotune(context) == scale_tuning{.wgs = 8, .rows = 2});
  CHECK(counted.searches == 0);
}

TEST_CASE("an imported result of other types is never returned, and one warning says what to do") {
  const application app;
  const auto context = sample::make_device().device().create_context();
  import_t4(
      app.path, "sample.foreign", context,
      {{"wgs", tune::parse_field_type("float64")}, {"size", tune::parse_field_type("int64")}});
  counted_autotuner counted("sample.foreign");
  captured_errors errors;
  CHECK(counted.autotune(context) == fastest);
  CHECK(counted.autotune(context) == fastest);
  CHECK(errors.count("value_wgs was float64 and is int32") == 1);
  CHECK(errors.count("tunedb prune --function sample.foreign__0") == 1);
  CHECK(errors.count("--type") == 1);
  // What was imported stays as it is.
  const auto stored = tune::database_reader(app.path).read_all();
  REQUIRE(stored.functions.size() == 1);
  CHECK(stored.functions[0].results.size() == 1);
}

}  // namespace imported_results_test
