// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tune/engine/kernel_change.hpp"

#include <SQLiteCpp/SQLiteCpp.h>
#include <doctest/doctest.h>
#include <memory>
#include <string>

#include "libtune/store/database/record_memory.hpp"
#include "libtune/store/database/tuning_database.hpp"
#include "libtune/testing/fixtures.hpp"
#include "libtune/testing/temporary_directory.hpp"
#include "tests/store/captured_errors.hpp"
#include "tests/tune/scale.hpp"

namespace kernel_change_test {

using sample::counted_autotuner;
using sample::scale_tuning;
using tune::testing::captured_errors;
using tune::testing::scoped_environment;
using tune::testing::test_mode;
using tune::testing::test_mode_guard;

/// An application that has tuned and is started again. Each has a database of its own, so that its
/// warnings are others.
struct application {
  explicit application(const std::string& name) : counted(name) {
    tuning = counted.autotune(context);
    start_again();
  }

  static void start_again() { tune::record_memory::shared().forget_all(); }

  void construct(const std::string& kernel) {
    const scale_tuning found = counted.autotune(context);
    static_cast<void>(tune::compile(context, {"scale.kernel", kernel}, tune::defines(found)));
  }

  void run_sql(const std::string& sql) const {
    SQLite::Database(path, SQLite::OPEN_READWRITE).exec(sql);
  }

  test_mode_guard mode{test_mode::off};
  tune::testing::temporary_directory folder;
  std::string path = (folder / "tuning.db").string();
  scoped_environment database{"LIBTUNE_DB", path.c_str()};
  scoped_environment system{"LIBTUNE_SYSTEM_DB", nullptr};
  scoped_environment match{"LIBTUNE_MATCH", nullptr};
  scoped_environment no_mode{"LIBTUNE_MODE", nullptr};
  tune::context context = sample::make_device().device().create_context();
  counted_autotuner counted;
  scale_tuning tuning;
};

const std::string measured_kernel = "KERNEL void scale(...)";
const std::string changed_kernel = "KERNEL void scale(...) { faster(); }";
const std::string warning = "has changed since the result";

TEST_CASE("a winner whose kernel is the one that was measured is used without a word") {
  application app("sample.same_kernel");
  captured_errors errors;
  app.construct(measured_kernel);
  CHECK(errors.count(warning) == 0);
  app.construct(changed_kernel);  // only the first program is compared
  CHECK(errors.count(warning) == 0);
  CHECK(app.counted.searches == 1);
}

TEST_CASE("a winner whose kernel has changed is used with one warning that says what to do") {
  application app("sample.changed_kernel");
  captured_errors errors;
  app.construct(changed_kernel);
  app.construct(changed_kernel);
  app.start_again();
  app.construct(changed_kernel);
  CHECK(errors.count(warning) == 1);
  CHECK(errors.count("sample.changed_kernel") == 1);
  CHECK(errors.count("LIBTUNE_MODE=force") == 1);
  CHECK(app.counted.searches == 1);
}

TEST_CASE("a program of another configuration says nothing of the winner") {
  application app("sample.other_program");
  captured_errors errors;
  static_cast<void>(app.counted.autotune(app.context));
  static_cast<void>(tune::compile(app.context, {"scale.kernel", changed_kernel},
                                  tune::defines(scale_tuning{.wgs = 8, .rows = 2})));
  CHECK(errors.count(warning) == 0);
}

TEST_CASE("nothing is said of a result whose program is not known or is another libtune's") {
  application app("sample.unknown_program");
  SUBCASE("no trials") { app.run_sql("PRAGMA foreign_keys = ON; DELETE FROM libtune_search"); }
  SUBCASE("damaged trials") { app.run_sql("UPDATE libtune_trial SET programs = 'zz'"); }
  SUBCASE("trials of another libtune") {
    tune::tuning_database database(app.path);
    const tune::function_identity& function = {
        .name = "sample.unknown_program",
        .version = 0,
        .key_fields = tune::describe_fields<sample::scale_key>(),
        .value_fields = tune::describe_fields<scale_tuning>()};
    const auto search = database.begin_search(
        function, {tune::to_values(sample::scale_key{}), app.context.device().identity()},
        {.library_version = "another"});
    database.add_trial(search, {.configuration = tune::to_values(app.tuning),
                                .outcome = "measured",
                                .programs = {"0123456789abcdef"}});
  }
  captured_errors errors;
  app.construct(changed_kernel);
  CHECK(errors.count(warning) == 0);
}

TEST_CASE("the search that has just ended does not warn of its own programs") {
  captured_errors errors;
  application app("sample.just_tuned");
  static_cast<void>(sample::compile(app.context, app.tuning));
  CHECK(errors.count(warning) == 0);
}

}  // namespace kernel_change_test
