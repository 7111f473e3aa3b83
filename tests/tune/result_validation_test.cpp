// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tune/result_validation.hpp"

#include <SQLiteCpp/SQLiteCpp.h>
#include <doctest/doctest.h>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "libtune/store/database/tuning_database.hpp"
#include "libtune/store/database/tuning_layers.hpp"
#include "libtune/testing/fixtures.hpp"
#include "libtune/testing/temporary_directory.hpp"
#include "tests/store/captured_errors.hpp"
#include "tests/tune/scale.hpp"

namespace result_validation_test {

using sample::scale_tuning;
using values = std::vector<tune::named_value>;

tune::record result(int wgs) {
  tune::record made;
  made.values = tune::to_values(scale_tuning{.wgs = wgs});
  made.device.name = "device of " + std::to_string(wgs);
  return made;
}

/// Looks for a result that a function can use on a fake device.
struct lookup {
  template <class Function>
  int operator()(const std::vector<tune::record>& candidates, Function function) const {
    const tune::function_identity identity{.name = "f"};
    const tune::tuning_function tunes = [&](tune::tuning_session& session, const values& key) {
      function(session, key);
      return values();
    };
    const tune::tuning_options options{.isolation = tune::isolation_mode::off};
    const auto found = tune::find_usable(candidates, {.context = context,
                                                      .function = identity,
                                                      .tunes = tunes,
                                                      .subject = subject,
                                                      .options = options});
    return found ? tune::from_values<scale_tuning>(found->values).wgs : -1;
  }

  tune::testing::fake_device fake = sample::make_device();
  tune::context context = fake.device().create_context();
  tune::tuning_subject subject{.function = "f", .arguments = {}, .device = context.device().info()};
};

void search(tune::tuning_session& session, const values&) {
  session.tune(sample::make_space(), [&](const scale_tuning& tuning) {
    return sample::generate(session.context(), tuning);
  });
}

TEST_CASE("the first result that is in the space and works is used") {
  const lookup look;
  CHECK(look({result(64), result(8), result(2)}, search) == 8);
  CHECK(look({result(64)}, search) == -1);
  CHECK(look({}, search) == -1);
}

TEST_CASE("a result that does not compile, launch or verify here is passed over") {
  const lookup look;
  look.fake.fail_when(tune::testing::fake_call::compile,
                      [](const auto& macros) { return macros.integer("wgs") == 8; });
  CHECK(look({result(8), result(2)}, search) == 2);
  look.fake.fail_when(tune::testing::fake_call::launch,
                      [](const auto& macros) { return macros.integer("wgs") == 2; });
  CHECK(look({result(2), result(4)}, search) == 4);
}

TEST_CASE("a result that the author skips here is passed over") {
  const lookup look;
  CHECK(look({result(8), result(2)}, [](tune::tuning_session& session, const values&) {
          session.tune(sample::make_space(), [&](const scale_tuning& tuning) -> tune::measure {
            if (tuning.wgs > 4) return nullptr;
            return sample::generate(session.context(), tuning);
          });
        }) == 2);
}

TEST_CASE("with declared needs nothing is compiled or run") {
  const lookup look;
  const auto declared = [&](tune::tuning_session& session, const values&) {
    auto space = sample::make_space();
    space.needs([](const scale_tuning& tuning) {
      const auto items = static_cast<std::size_t>(tuning.wgs == 8 ? 4096 : tuning.wgs);
      return tune::resources{.work_group = {items, 1, 1}};
    });
    session.tune(space, [](const scale_tuning&) -> tune::measure {
      FAIL("generated");
      return nullptr;
    });
  };
  CHECK(look({result(8), result(2)}, declared) == 2);
}

TEST_CASE("a function that throws, or ends without a search, can use none") {
  const lookup look;
  CHECK(look({result(2)},
             [](tune::tuning_session&, const values&) { throw std::runtime_error("no"); }) == -1);
  CHECK(look({result(2)}, [](tune::tuning_session&, const values&) { throw 1; }) == -1);
  CHECK(look({result(2)}, [](tune::tuning_session&, const values&) {}) == -1);
}

TEST_CASE("a function that handles errors does not take the end of the look for one") {
  const lookup look;
  bool handled = false;
  CHECK(look({result(2)}, [&](tune::tuning_session& session, const values& key) {
          try {
            search(session, key);
          } catch (const std::exception&) {
            handled = true;
          }
        }) == 2);
  CHECK_FALSE(handled);
}

}  // namespace result_validation_test

namespace result_validation_test::of_kernel_change {

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

}  // namespace result_validation_test::of_kernel_change
