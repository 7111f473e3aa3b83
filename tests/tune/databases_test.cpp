// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tune/databases.hpp"

#include <doctest/doctest.h>
#include <filesystem>
#include <string>

#include "libtune/extra/formats/t4.hpp"
#include "libtune/extra/maintenance/database_reader.hpp"
#include "libtune/extra/maintenance/merge.hpp"
#include "libtune/store/database/tuning_layers.hpp"
#include "libtune/testing/fixtures.hpp"
#include "libtune/testing/temporary_directory.hpp"
#include "tests/store/captured_errors.hpp"
#include "tests/tune/scale.hpp"

namespace databases_test {

TEST_CASE("the database that was used last stays open") {
  const tune::testing::temporary_directory folder;
  const auto first = tune::open_database((folder / "a.db").string());
  CHECK(tune::open_database((folder / "a.db").string()) == first);
  const auto other = tune::open_database((folder / "b.db").string());
  CHECK(other != first);
  CHECK(tune::open_database((folder / "b.db").string()) == other);
}

TEST_CASE("layers stay open as long as the same are asked for") {
  const tune::testing::temporary_directory folder;
  const std::string user = (folder / "a.db").string();
  const std::vector<std::string> systems{(folder / "b.db").string(), "no/file/"};
  const auto first = tune::open_layers(user, systems);
  CHECK(tune::open_layers(user, systems) == first);
  CHECK(tune::open_layers(user, systems, tune::database_access::read_only) != first);
  CHECK(tune::open_layers(user, {}) != first);
  CHECK(tune::open_layers("", {})->empty());
  CHECK(tune::open_layers("", {})->user() == nullptr);
}

TEST_CASE("a shared database lies between the user's and the system's, and is only read") {
  const tune::testing::temporary_directory folder;
  const tune::function_identity function{.name = "f",
                                         .value_fields = {{"wgs", tune::value_type::int32}}};
  const auto values_of = [](std::int64_t wgs) {
    return std::vector<tune::named_value>{{"wgs", wgs}};
  };
  const std::string shared = (folder / "shared.db").string();
  const std::string system = (folder / "system.db").string();
  tune::tuning_database(system).store(function, {}, values_of(3), 1);
  const auto found_with = [&](const std::string& path) {
    tune::record_memory::shared().forget_all();
    return tune::open_layers((folder / "user.db").string(), {system},
                             tune::database_access::read_write, path)
        ->find(function, {})
        ->values;
  };
  CHECK(found_with(shared) == values_of(3));  // it need not be there
  CHECK_FALSE(std::filesystem::exists(shared));
  tune::tuning_database(shared).store(function, {}, values_of(2), 1);
  CHECK(found_with(shared) == values_of(2));
  CHECK(found_with("") == values_of(3));
  tune::open_layers((folder / "user.db").string(), {system}, tune::database_access::read_write,
                    shared)
      ->user()
      ->store(function, {}, values_of(1), 1);
  CHECK(found_with(shared) == values_of(1));
  CHECK(tune::tuning_database(shared).find(function, {})->values == values_of(2));
}

TEST_CASE("an empty path is no database") { CHECK(tune::open_database("") == nullptr); }

}  // namespace databases_test

namespace databases_test::of_imported_results {

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
  const tune::foreign_subject subject{
      .function = {.name = name,
                   .version = 0,
                   .key_fields = {tune::infer_field("size", {&size, 1}, types)},
                   .value_fields = {}},
      .types = types,
      .arguments = {{"size", size}},
      .device = context.device().identity(),
      .same_kernel = true};
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

}  // namespace databases_test::of_imported_results
