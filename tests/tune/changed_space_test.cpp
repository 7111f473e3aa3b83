// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// What becomes of a stored result when the space that it was found in has changed.
#include <doctest/doctest.h>
#include <functional>
#include <optional>
#include <stdexcept>

#include "libtune/store/database/tuning_database.hpp"
#include "libtune/testing/fixtures.hpp"
#include "libtune/testing/temporary_directory.hpp"
#include "libtune/tune/error.hpp"
#include "tests/tune/scale.hpp"

namespace changed_space_test {

using sample::fastest;
using sample::scale_key;
using sample::scale_tuning;
using tune::testing::fake_call;

using space_function = std::function<tune::space<scale_tuning>()>;

/// One start of an application after another, with the same database and device: each has the
/// autotuner "sample.changed" over a space of its own.
struct application {
  tune::testing::test_mode_guard mode{tune::testing::test_mode::off};
  tune::testing::temporary_directory folder;
  tune::testing::fake_device fake = sample::make_device();
  tune::context context = fake.device().create_context();
  int calls = 0;     // of the author's function
  int searches = 0;  // that began
  int measured = 0;  // configurations that were generated
  std::function<void(tune::tuning_session&)> before = [](tune::tuning_session&) {};
  int stages = 1;

  tune::tuning_options options(tune::tuning_mode what = tune::tuning_mode::tune) const {
    return {.database = (folder / "tuning.db").string(), .mode = what};
  }

  /// Starts it and asks so many times.
  scale_tuning start(const space_function& make_space, int times = 1,
                     tune::tuning_mode what = tune::tuning_mode::tune) {
    calls = searches = measured = 0;
    const tune::autotuner<scale_key, scale_tuning> autotune{
        {.name = "sample.changed", .version = 0, .test = sample::test_default},
        [&](tune::tuning_session& session, const scale_key&) {
          ++calls;
          before(session);
          scale_tuning best;
          for (int stage = 0; stage < stages; ++stage) {
            tune::space<scale_tuning> space = make_space();
            // A later search goes on from the result of the one before.
            if (stage > 0) space = stage_after(best);
            best = session.tune(space, [&](const scale_tuning& tuning) {
              ++measured;
              return sample::generate(session.context(), tuning);
            });
            ++searches;
          }
          return best;
        }};
    scale_tuning found;
    for (int i = 0; i < times; ++i) found = autotune(context, {}, options(what));
    return found;
  }

  static tune::space<scale_tuning> stage_after(const scale_tuning& best) {
    tune::space<scale_tuning> space;
    space.add(&scale_tuning::wgs, {best.wgs});
    space.add(&scale_tuning::rows, {0, 3});
    return space;
  }
};

tune::space<scale_tuning> without_fastest() {
  auto space = sample::make_space();
  space.restrict([](const scale_tuning& t) { return t != fastest; }, "not the fastest");
  return space;
}

tune::space<scale_tuning> with_more() {
  tune::space<scale_tuning> space;
  space.add(&scale_tuning::wgs, {4, 2, 8, 1});
  space.add(&scale_tuning::rows, {1, 2});
  return space;
}

tune::space<scale_tuning> with_needs() {
  auto space = sample::make_space();
  space.needs([](const scale_tuning& tuning) {
    const auto items = static_cast<std::size_t>(tuning == fastest ? 4096 : 1);
    return tune::resources{.work_group = {items, 1, 1}};
  });
  return space;
}

TEST_CASE("a result that a new restriction forbids is tuned anew, and replaced") {
  application app;
  CHECK(app.start(sample::make_space) == fastest);
  const scale_tuning now = app.start(without_fastest, 3);
  CHECK(now == scale_tuning{.wgs = 2, .rows = 2});
  CHECK(app.searches == 1);
  CHECK(app.start(without_fastest) == now);
  CHECK(app.searches == 0);
}

TEST_CASE("a result that asks for more than is declared now is tuned anew") {
  application app;
  CHECK(app.start(sample::make_space) == fastest);
  CHECK(app.start(with_needs) == scale_tuning{.wgs = 2, .rows = 2});
  CHECK(app.searches == 1);
}

TEST_CASE("without tuning a result that is forbidden is a miss like any other") {
  application app;
  CHECK(app.start(sample::make_space) == fastest);
  CHECK_THROWS_AS(app.start(without_fastest, 1, tune::tuning_mode::cached), tune::not_tuned_error);
  CHECK(app.start(without_fastest, 2, tune::tuning_mode::defaults) == sample::test_default);
  CHECK(app.searches == 0);
}

TEST_CASE("a result that is still in the space is used, and the space looked at once") {
  application app;
  CHECK(app.start(sample::make_space, 3) == fastest);
  CHECK(app.calls == 1);
  const std::size_t compiled = app.fake.calls(fake_call::compile);
  for (const space_function& space :
       {space_function(sample::make_space), space_function(with_more)}) {
    CHECK(app.start(space, 5) == fastest);
    CHECK(app.calls == 1);
    CHECK(app.measured == 0);
  }
  CHECK(app.fake.calls(fake_call::compile) == compiled);
}

TEST_CASE("a lookup neither compiles nor tunes to see the space") {
  application app;
  int inner_searches = 0;
  const tune::autotuner<scale_key, scale_tuning> inner{
      {.name = "sample.inner"}, [&](tune::tuning_session& session, const scale_key&) {
        ++inner_searches;
        return session.tune(sample::make_space(), [&](const scale_tuning& tuning) {
          return sample::generate(session.context(), tuning);
        });
      }};
  CHECK(app.start(sample::make_space) == fastest);
  const std::size_t compiled = app.fake.calls(fake_call::compile);
  SUBCASE("where it compiles before it searches") {
    app.before = [](tune::tuning_session& session) {
      static_cast<void>(sample::compile(session.context(), {.wgs = 5}));
    };
  }
  SUBCASE("where another is tuned before it searches") {
    app.before = [&](tune::tuning_session& session) {
      static_cast<void>(inner(session.context(), {.size = 7}, app.options()));
    };
  }
  SUBCASE("where it fails before it searches") {
    app.before = [](tune::tuning_session&) { throw std::runtime_error("not now"); };
  }
  SUBCASE("where it fails with something else") {
    app.before = [](tune::tuning_session&) { throw 7; };
  }
  // It cannot be told, so the result is used as it is.
  CHECK(app.start(without_fastest, 2) == fastest);
  CHECK(app.calls == 1);
  CHECK(inner_searches == 0);
  CHECK(app.fake.calls(fake_call::compile) == compiled);
}

TEST_CASE("what a function makes of several searches need not be in the space of the first") {
  application app;
  app.stages = 2;
  const scale_tuning found = app.start(sample::make_space);
  CHECK(found == scale_tuning{.wgs = 2, .rows = 0});
  CHECK(app.start(sample::make_space) == found);
  CHECK(app.searches == 0);
}

TEST_CASE("a result without a trial, as one that was imported, is used as it is") {
  application app;
  CHECK(app.start(sample::make_space) == fastest);
  {
    tune::tuning_database database((app.folder / "tuning.db").string());
    database.store({.name = "sample.changed",
                    .version = 0,
                    .key_fields = tune::describe_fields<scale_key>(),
                    .value_fields = tune::describe_fields<scale_tuning>()},
                   {{{"size", std::int64_t{64}}}, app.context.device().info().identity},
                   tune::to_values(scale_tuning{.wgs = 9, .rows = 9}), std::nullopt);
  }
  CHECK(app.start(sample::make_space) == scale_tuning{.wgs = 9, .rows = 9});
  CHECK(app.searches == 0);
}

}  // namespace changed_space_test
