// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tune/databases.hpp"

#include <SQLiteCpp/SQLiteCpp.h>
#include <doctest/doctest.h>
#include <filesystem>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "libtune/extra/formats/t4.hpp"
#include "libtune/extra/maintenance/database_reader.hpp"
#include "libtune/extra/maintenance/merge.hpp"
#include "libtune/store/database/missed_keys.hpp"
#include "libtune/store/database/tuning_database.hpp"
#include "libtune/store/database/tuning_layers.hpp"
#include "libtune/testing/fixtures.hpp"
#include "libtune/testing/temporary_directory.hpp"
#include "libtune/tune/error.hpp"
#include "libtune/tune/result_validation.hpp"
#include "tests/store/captured_errors.hpp"
#include "tests/store/fault_vfs.hpp"
#include "tests/tune/application.hpp"

namespace databases_test {

using sample::counted_autotuner;
using sample::fastest;
using sample::scale_tuning;
using tune::testing::fault_vfs;
using tune::testing::scoped_environment;
using tune::testing::test_mode;
using tune::testing::test_mode_guard;

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
    sample::forget_results();
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

// In the mode "cached" no database is written: neither through SQLite, which an observer between it
// and its files sees, nor beside it, which the folder shows. There, keys that were missed are noted
// in a file of their own; with LIBTUNE_MISSED=off nothing at all is written.

namespace fs = std::filesystem;

struct application : sample::application {
  std::string missed = folder / "tuning.db-missed";
};

/// Everything below a folder with the time of its last change.
std::map<std::string, fs::file_time_type> contents(const fs::path& folder) {
  std::map<std::string, fs::file_time_type> all{{"", fs::last_write_time(folder)}};
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    all[entry.path()] = entry.last_write_time();
  }
  return all;
}

// The observer comes and goes while no database is open.
void close_databases() {
  tune::open_layers("", {});
  sample::forget_results();
}

// Looks for what is there and what is not, in every way of matching, and lets nothing be written.
void check_cached(const application& app) {
  counted_autotuner counted;
  const auto context = sample::make_device("fake device").device().create_context();
  const auto other = sample::make_device("fake device", "2.0").device().create_context();
  close_databases();
  {
    // The observer sees writes where there are some.
    const fault_vfs observer;
    REQUIRE(counted.autotune(context) == fastest);
    close_databases();
    CHECK(observer.changes() > 0);
    CHECK(observer.writable_opens() > 0);
  }
  fs::remove(app.missed);  // by that search
  const auto before = contents(app.folder.path());
  const scoped_environment cached("LIBTUNE_MODE", "cached");
  for (const char* match : {"exact", "nearest", "verify"}) {
    CAPTURE(match);
    const scoped_environment matching("LIBTUNE_MATCH", match);
    const fault_vfs observer;
    CHECK(counted.autotune(context) == fastest);
    if (std::string(match) == "exact") {
      CHECK_THROWS_AS(counted.autotune(other), tune::not_tuned_error);
    } else {
      CHECK(counted.autotune(other) == fastest);
    }
    CHECK_THROWS_AS(counted.autotune(context, {.size = 1}), tune::not_tuned_error);
    close_databases();
    CHECK(observer.changes() == 0);
    CHECK(observer.writable_opens() == 0);
  }
  auto after = contents(app.folder.path());
  // A new file is a change of the folder, too.
  if (after.erase(app.missed) > 0) after[""] = before.at("");
  CHECK(after == before);
}

TEST_CASE_FIXTURE(application,
                  "mode cached asks SQLite for no write, and opens and makes no file to write") {
  const scoped_environment off("LIBTUNE_MISSED", "off");
  check_cached(*this);
  CHECK_FALSE(fs::exists(missed));
}

TEST_CASE_FIXTURE(application,
                  "nor does it where keys are noted, in the one file that is for them") {
  check_cached(*this);
  CHECK(fs::exists(missed));
}

TEST_CASE_FIXTURE(application, "mode cached makes no database where there is none") {
  const scoped_environment off("LIBTUNE_MISSED", "off");
  counted_autotuner counted;
  const auto context = sample::make_device("fake device").device().create_context();
  const scoped_environment cached("LIBTUNE_MODE", "cached");
  CHECK_THROWS_AS(counted.autotune(context), tune::not_tuned_error);
  CHECK(fs::is_empty(folder.path()));
  CHECK(counted.searches == 0);
}

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

}  // namespace databases_test

namespace databases_test::of_imported_results {

using tune::testing::captured_errors;

using sample::application;

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

TEST_CASE_FIXTURE(application,
                  "an imported result whose values show the types of the autotuner is found") {
  const auto context = sample::make_device().device().create_context();
  import_t4(path, "sample.imported", context);
  counted_autotuner counted("sample.imported");
  CHECK(counted.autotune(context) == scale_tuning{.wgs = 8, .rows = 2});
  CHECK(counted.searches == 0);
}

TEST_CASE_FIXTURE(
    application,
    "an imported result of other types is never returned, and one warning says what to do") {
  const auto context = sample::make_device().device().create_context();
  import_t4(
      path, "sample.foreign", context,
      {{"wgs", tune::parse_field_type("float64")}, {"size", tune::parse_field_type("int64")}});
  counted_autotuner counted("sample.foreign");
  captured_errors errors;
  CHECK(counted.autotune(context) == fastest);
  CHECK(counted.autotune(context) == fastest);
  CHECK(errors.count("value_wgs was float64 and is int32") == 1);
  CHECK(errors.count("tunedb prune --function sample.foreign__0") == 1);
  CHECK(errors.count("--type") == 1);
  // What was imported stays as it is.
  const auto stored = tune::database_reader(path).read_all();
  REQUIRE(stored.functions.size() == 1);
  CHECK(stored.functions[0].results.size() == 1);
}

}  // namespace databases_test::of_imported_results

namespace databases_test::of_missed_keys {

struct application : sample::counted_application {
  scoped_environment missed_file{"LIBTUNE_MISSED", nullptr};
  tune::missed_keys keys{path + "-missed"};

  std::size_t missed() const { return keys.read().keys.size(); }
  std::size_t still_missed() const {
    return still_missing(keys.read().keys, *tune::open_layers(path, {})).size();
  }
};

TEST_CASE_FIXTURE(application,
                  "in the modes cached and default a miss is noted with all that tuning it takes") {
  const scoped_environment cached("LIBTUNE_MODE", "cached");
  CHECK_THROWS_AS(counted.autotune(context), tune::not_tuned_error);
  const scoped_environment defaults("LIBTUNE_MODE", "default");
  CHECK(counted.autotune(context, {.size = 5}) == sample::scale_tuning{16, 4});
  const auto found = keys.read();
  CHECK(found.unreadable == 0);
  REQUIRE(found.keys.size() == 2);
  CHECK(found.keys[0].function.name == "sample.scale");
  CHECK(found.keys[0].function.key_fields == tune::describe_fields<sample::scale_key>());
  CHECK(tune::from_values<sample::scale_key>(found.keys[1].key.arguments).size == 5);
  CHECK(found.keys[0].key.device == context.device().info().identity);
  CHECK_FALSE(fs::exists(path));
  CHECK(counted.searches == 0);
}

TEST_CASE_FIXTURE(application, "a key that is tuned later is missing no more") {
  {
    const scoped_environment cached("LIBTUNE_MODE", "cached");
    CHECK_THROWS_AS(counted.autotune(context), tune::not_tuned_error);
  }
  CHECK(still_missed() == 1);
  counted.autotune(context);
  CHECK(still_missed() == 0);
  CHECK(missed() == 1);
}

TEST_CASE_FIXTURE(application,
                  "in the mode tune a key is missing until it is tuned, also if the search fails") {
  counted.autotune(context);
  CHECK(still_missed() == 0);
  const tune::autotuner<sample::scale_key, sample::scale_tuning> failing{
      {.name = "sample.failing"},
      [](tune::tuning_session&, const sample::scale_key&) -> sample::scale_tuning {
        throw tune::error("this cannot be tuned");
      }};
  CHECK_THROWS_AS(failing(context), tune::error);
  CHECK(still_missed() == 1);
}

TEST_CASE_FIXTURE(application, "what is found, or not looked for, is not noted") {
  {
    const scoped_environment force("LIBTUNE_MODE", "force");
    counted.autotune(context);
  }
  CHECK_FALSE(fs::exists(keys.path()));
  for (const char* mode : {"cached", "default", "tune"}) {
    const scoped_environment found("LIBTUNE_MODE", mode);
    CHECK(counted.autotune(context) == sample::fastest);
  }
  const test_mode_guard testing{test_mode::defaults};
  counted.autotune(context, {.size = 7});
  CHECK_FALSE(fs::exists(keys.path()));
}

TEST_CASE_FIXTURE(application, "LIBTUNE_MISSED names another file, or none") {
  const scoped_environment cached("LIBTUNE_MODE", "cached");
  {
    const scoped_environment off("LIBTUNE_MISSED", "off");
    CHECK_THROWS_AS(counted.autotune(context), tune::not_tuned_error);
    CHECK(fs::is_empty(folder.path()));
  }
  const std::string other = folder / "elsewhere/keys";
  const scoped_environment elsewhere("LIBTUNE_MISSED", other.c_str());
  CHECK_THROWS_AS(counted.autotune(context), tune::not_tuned_error);
  CHECK(missed() == 0);
  CHECK(tune::missed_keys(other).read().keys.size() == 1);
}

}  // namespace databases_test::of_missed_keys

namespace databases_test::of_kernel_change {

using tune::testing::captured_errors;

/// An application that has tuned and is started again. Each has a database of its own, so that its
/// warnings are others.
struct application : sample::application {
  explicit application(const std::string& name) : counted(name) {
    tuning = counted.autotune(context);
    start_again();
  }

  static void start_again() { sample::forget_results(); }

  void construct(const std::string& kernel) {
    const scale_tuning found = counted.autotune(context);
    static_cast<void>(tune::compile(context, {"scale.kernel", kernel}, tune::defines(found)));
  }

  void run_sql(const std::string& sql) const {
    SQLite::Database(path, SQLite::OPEN_READWRITE).exec(sql);
  }

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
    const auto search =
        database.begin_search(sample::scale_function("sample.unknown_program"),
                              sample::key_on(app.context.device()), {.library_version = "another"});
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

}  // namespace databases_test::of_kernel_change
