// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
// What autotuners find no result for is noted, in every mode that looks, and nothing else is.
#include "libtune/store/database/missed_keys.hpp"

#include <doctest/doctest.h>
#include <filesystem>
#include <string>

#include "libtune/testing/fixtures.hpp"
#include "libtune/testing/temporary_directory.hpp"
#include "libtune/tune/databases.hpp"
#include "libtune/tune/error.hpp"
#include "tests/tune/scale.hpp"

namespace missed_keys_test {

namespace fs = std::filesystem;
using sample::counted_autotuner;
using tune::testing::scoped_environment;
using tune::testing::test_mode;
using tune::testing::test_mode_guard;

struct application {
  test_mode_guard mode{test_mode::off};
  tune::testing::temporary_directory folder;
  std::string database = folder / "tuning.db";
  scoped_environment named{"LIBTUNE_DB", database.c_str()};
  scoped_environment system{"LIBTUNE_SYSTEM_DB", nullptr};
  scoped_environment missed_file{"LIBTUNE_MISSED", nullptr};
  tune::missed_keys keys{database + "-missed"};
  counted_autotuner counted;
  tune::context context = sample::make_device().device().create_context();

  std::size_t missed() const { return keys.read().keys.size(); }
  std::size_t still_missed() const {
    return still_missing(keys.read().keys, *tune::open_layers(database, {})).size();
  }
};

TEST_CASE("in the modes cached and default a miss is noted with all that tuning it takes") {
  const application app;
  const scoped_environment cached("LIBTUNE_MODE", "cached");
  CHECK_THROWS_AS(app.counted.autotune(app.context), tune::not_tuned_error);
  const scoped_environment defaults("LIBTUNE_MODE", "default");
  CHECK(app.counted.autotune(app.context, {.size = 5}) == sample::scale_tuning{16, 4});
  const auto found = app.keys.read();
  CHECK(found.unreadable == 0);
  REQUIRE(found.keys.size() == 2);
  CHECK(found.keys[0].function.name == "sample.scale");
  CHECK(found.keys[0].function.key_fields == tune::describe_fields<sample::scale_key>());
  CHECK(tune::from_values<sample::scale_key>(found.keys[1].key.arguments).size == 5);
  CHECK(found.keys[0].key.device == app.context.device().info().identity);
  CHECK_FALSE(fs::exists(app.database));
  CHECK(app.counted.searches == 0);
}

TEST_CASE("a key that is tuned later is missing no more") {
  const application app;
  {
    const scoped_environment cached("LIBTUNE_MODE", "cached");
    CHECK_THROWS_AS(app.counted.autotune(app.context), tune::not_tuned_error);
  }
  CHECK(app.still_missed() == 1);
  app.counted.autotune(app.context);
  CHECK(app.still_missed() == 0);
  CHECK(app.missed() == 1);
}

TEST_CASE("in the mode tune a key is missing until it is tuned, also if the search fails") {
  const application app;
  app.counted.autotune(app.context);
  CHECK(app.still_missed() == 0);
  const tune::autotuner<sample::scale_key, sample::scale_tuning> failing{
      {.name = "sample.failing"},
      [](tune::tuning_session&, const sample::scale_key&) -> sample::scale_tuning {
        throw tune::error("this cannot be tuned");
      }};
  CHECK_THROWS_AS(failing(app.context), tune::error);
  CHECK(app.still_missed() == 1);
}

TEST_CASE("what is found, or not looked for, is not noted") {
  const application app;
  {
    const scoped_environment force("LIBTUNE_MODE", "force");
    app.counted.autotune(app.context);
  }
  CHECK_FALSE(fs::exists(app.keys.path()));
  for (const char* mode : {"cached", "default", "tune"}) {
    const scoped_environment found("LIBTUNE_MODE", mode);
    CHECK(app.counted.autotune(app.context) == sample::fastest);
  }
  const test_mode_guard testing{test_mode::defaults};
  app.counted.autotune(app.context, {.size = 7});
  CHECK_FALSE(fs::exists(app.keys.path()));
}

TEST_CASE("LIBTUNE_MISSED names another file, or none") {
  const application app;
  const scoped_environment cached("LIBTUNE_MODE", "cached");
  {
    const scoped_environment off("LIBTUNE_MISSED", "off");
    CHECK_THROWS_AS(app.counted.autotune(app.context), tune::not_tuned_error);
    CHECK(fs::is_empty(app.folder.path()));
  }
  const std::string other = app.folder / "elsewhere/keys";
  const scoped_environment elsewhere("LIBTUNE_MISSED", other.c_str());
  CHECK_THROWS_AS(app.counted.autotune(app.context), tune::not_tuned_error);
  CHECK(app.missed() == 0);
  CHECK(tune::missed_keys(other).read().keys.size() == 1);
}

}  // namespace missed_keys_test
