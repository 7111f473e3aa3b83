// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// An application that has to use the results of a lock (LIBTUNE_LOCK).
#include <doctest/doctest.h>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "libtune/base/library_version.hpp"
#include "libtune/store/database/tuning_lock.hpp"
#include "libtune/testing/fixtures.hpp"
#include "libtune/testing/temporary_directory.hpp"
#include "libtune/tune/error.hpp"
#include "libtune/tune/options.hpp"
#include "tests/tune/scale.hpp"

namespace locked_lookup_test {

using sample::counted_autotuner;
using sample::fastest;
using sample::scale_tuning;
using tune::not_locked_error;
using tune::testing::scoped_environment;
using tune::testing::test_mode;
using tune::testing::test_mode_guard;

constexpr scale_tuning locked_tuning{.wgs = 8, .rows = 2};  // not the fastest

struct application {
  test_mode_guard mode{test_mode::off};
  tune::testing::temporary_directory folder;
  scoped_environment database{"LIBTUNE_DB", (folder / "tuning.db").c_str()};
  scoped_environment system{"LIBTUNE_SYSTEM_DB", nullptr};
  tune::context context = sample::make_device().device().create_context();
  counted_autotuner counted;

  /// Writes a lock for sizes of scale_key, a file of its own each time, because a process keeps it.
  std::string lock(const std::vector<int>& sizes, const std::vector<std::string>& programs = {}) {
    tune::locked_function one{.function = {.name = "sample.scale",
                                           .version = 0,
                                           .key_fields = tune::describe_fields<sample::scale_key>(),
                                           .value_fields = tune::describe_fields<scale_tuning>()},
                              .results = {}};
    for (const int size : sizes) {
      one.results.push_back({.arguments = tune::to_values(sample::scale_key{size}),
                             .values = tune::to_values(locked_tuning),
                             .device = context.device().info().identity,
                             .programs = programs,
                             .library_version = std::string(tune::library_version())});
    }
    std::string path = folder / ("lock" + std::to_string(++locks) + ".json");
    std::ofstream(path) << tune::tuning_lock({one}).to_json();
    return path;
  }

  int locks = 0;
};

TEST_CASE("with a lock its results alone are used, whatever the database and the mode say") {
  application app;
  REQUIRE(app.counted.autotune(app.context) == fastest);
  const int searches = app.counted.searches;
  const scoped_environment lock("LIBTUNE_LOCK", app.lock({64}).c_str());
  for (const char* mode : {"tune", "resume", "cached", "default", "force", "behind"}) {
    CAPTURE(mode);
    const scoped_environment set("LIBTUNE_MODE", mode);
    CHECK(app.counted.autotune(app.context) == locked_tuning);
    CHECK_THROWS_WITH_AS(app.counted.autotune(app.context, {.size = 65}),
                         doctest::Contains("it has this function, but not this key"),
                         not_locked_error);
  }
  CHECK(app.counted.searches == searches);
}

TEST_CASE("a lock neither makes nor reads a database, and notes no missed keys") {
  application app;
  const std::string path = app.lock({64});
  const scoped_environment lock("LIBTUNE_LOCK", path.c_str());
  CHECK(app.counted.autotune(app.context) == locked_tuning);
  CHECK_THROWS_AS(app.counted.autotune(app.context, {.size = 65}), not_locked_error);
  for (const auto& entry : std::filesystem::directory_iterator(app.folder.path())) {
    CHECK(entry.path() == path);
  }
}

TEST_CASE("a lock can be an option, over which the environment wins") {
  application app;
  const tune::tuning_options options{.lock = app.lock({64})};
  CHECK(app.counted.autotune(app.context, {}, options) == locked_tuning);
  CHECK_THROWS_AS(app.counted.autotune(app.context, {.size = 65}, options), not_locked_error);
  const scoped_environment lock("LIBTUNE_LOCK", app.lock({65}).c_str());
  CHECK(app.counted.autotune(app.context, {.size = 65}, options) == locked_tuning);
  CHECK_THROWS_AS(app.counted.autotune(app.context, {}, options), not_locked_error);
}

TEST_CASE("the result of another driver is none of this device") {
  application app;
  const scoped_environment lock("LIBTUNE_LOCK", app.lock({64}).c_str());
  const auto other = sample::make_device("fake device", "2.0").device().create_context();
  CHECK_THROWS_WITH_AS(app.counted.autotune(other),
                       doctest::Contains("for device 'fake device', which differs in"),
                       not_locked_error);
}

TEST_CASE("a lock that cannot be read is an error that names it") {
  application app;
  const std::string missing = app.folder / "none.json";
  {
    const scoped_environment lock("LIBTUNE_LOCK", missing.c_str());
    CHECK_THROWS_WITH_AS(app.counted.autotune(app.context), doctest::Contains("none.json"),
                         not_locked_error);
  }
  const std::string damaged = app.folder / "damaged.json";
  std::ofstream(damaged) << app.lock({64}).substr(0, 10);
  const scoped_environment lock("LIBTUNE_LOCK", damaged.c_str());
  CHECK_THROWS_WITH_AS(app.counted.autotune(app.context), doctest::Contains("it is not JSON"),
                       not_locked_error);
}

TEST_CASE("a locked program is compiled as it was, and refused where its text has changed") {
  application app;
  {
    const scoped_environment lock("LIBTUNE_LOCK", app.lock({64}, {"00ff"}).c_str());
    REQUIRE(app.counted.autotune(app.context) == locked_tuning);
    CHECK_THROWS_WITH_AS(sample::compile(app.context, locked_tuning),
                         doctest::Contains("the kernel has changed since the result was locked"),
                         not_locked_error);
    // It is refused once; the next program of this configuration may be another template's.
    CHECK_NOTHROW(sample::compile(app.context, locked_tuning));
  }
  const scoped_environment lock("LIBTUNE_LOCK", app.lock({64}, {"00ff", "?"}).c_str());
  REQUIRE(app.counted.autotune(app.context) == locked_tuning);
  CHECK_NOTHROW(sample::compile(app.context, locked_tuning));
}

TEST_CASE("in a test the declared default is returned, lock or not") {
  application app;
  const scoped_environment lock("LIBTUNE_LOCK", app.lock({64}).c_str());
  const test_mode_guard in_test(test_mode::defaults);
  CHECK(app.counted.autotune(app.context) == scale_tuning{.wgs = 16, .rows = 4});
}

}  // namespace locked_lookup_test
