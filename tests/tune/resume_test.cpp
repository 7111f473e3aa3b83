// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// What a call of an autotuner knows of the searches before it.
#include <doctest/doctest.h>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>

#include "libtune/testing/fixtures.hpp"
#include "libtune/testing/temporary_directory.hpp"
#include "libtune/tune/error.hpp"
#include "tests/tune/scale.hpp"

namespace sample {

enum class layout { row, column };
struct layout_tuning {
  sample::layout layout = layout::row;
};
enum class renamed_layout { rows, columns };
struct renamed_tuning {
  renamed_layout layout = renamed_layout::rows;
};

}  // namespace sample

LIBTUNE_ENUM(sample::layout, row, column)
LIBTUNE_ENUM(sample::renamed_layout, rows, columns)
LIBTUNE_FIELDS(sample::layout_tuning, layout)
LIBTUNE_FIELDS(sample::renamed_tuning, layout)

namespace {

using sample::fastest;
using sample::scale_key;
using sample::scale_tuning;
using tune::testing::fake_call;

/// An application with a database of its own, a device, and an observer of everything.
struct application {
  struct listener final : tune::observer {
    void looked_up(const tune::lookup_event& event) override { failed_at = event.failed_at; }
    void search_started(const tune::search_started_event&) override {
      made = taken = remembered = 0;
    }
    void trial_taken_over(const tune::tuning_subject&, const tune::trial&) override { ++taken; }
    void trial_finished(const tune::tuning_subject&, const tune::trial& finished) override {
      ++(finished.origin == tune::trial_origin::made ? made : remembered);
    }
    int made = 0;
    int taken = 0;
    int remembered = 0;
    std::optional<std::string> failed_at;
  };

  tune::testing::test_mode_guard mode{tune::testing::test_mode::off};
  tune::testing::temporary_directory folder;
  tune::testing::fake_device fake = sample::make_device();
  tune::context context = fake.device().create_context();
  std::shared_ptr<listener> heard = std::make_shared<listener>();

  tune::tuning_options options(tune::tuning_mode what = tune::tuning_mode::tune) const {
    return {.database = (folder / "tuning.db").string(), .mode = what, .observers = {heard}};
  }
  std::size_t compiled() const { return fake.calls(fake_call::compile); }
};

/// Tunes a kernel with this text; fails after the search as long as it is told to.
struct unreliable {
  bool fails = true;
  std::string text = "one";
  int stages = 1;
  tune::autotuner<scale_key, scale_tuning> autotune{
      {.name = "sample.unreliable"}, [this](tune::tuning_session& session, const scale_key&) {
        scale_tuning best;
        for (int stage = 0; stage < stages; ++stage) {
          best = session.tune(sample::make_space(), [&](const scale_tuning& tuning) {
            tune::compile(session.context(), {"scale.kernel", text}, tune::defines(tuning));
            return tune::make_measure([=](int) { return (tuning.wgs * 10 + tuning.rows) * 1e-6; });
          });
        }
        if (fails) throw std::runtime_error("not yet");
        return best;
      }};
};

}  // namespace

TEST_CASE("what was measured for a call that failed in the end is not measured again") {
  const application app;
  unreliable tunes;
  CHECK_THROWS_AS(tunes.autotune(app.context, {}, app.options()), std::runtime_error);
  CHECK(app.heard->made == 6);
  tunes.fails = false;
  CHECK(tunes.autotune(app.context, {}, app.options()) == fastest);
  CHECK(app.heard->made == 0);
  CHECK(app.heard->taken == 6);
}

TEST_CASE("each search of a call continues its own") {
  const application app;
  unreliable tunes;
  tunes.stages = 2;
  CHECK_THROWS_AS(tunes.autotune(app.context, {}, app.options()), std::runtime_error);
  tunes.fails = false;
  tunes.stages = 3;
  const std::size_t compiled = app.compiled();
  CHECK(tunes.autotune(app.context, {}, app.options()) == fastest);
  // Only the third, and two of each of the others, which are measured again.
  CHECK(app.compiled() == compiled + 6 + 2 * 2);
  CHECK(app.heard->made == 6);
}

TEST_CASE("a kernel that was changed between two attempts is measured anew") {
  const application app;
  unreliable tunes;
  CHECK_THROWS_AS(tunes.autotune(app.context, {}, app.options()), std::runtime_error);
  tunes.text = "two";
  CHECK_THROWS_AS(tunes.autotune(app.context, {}, app.options()), std::runtime_error);
  CHECK(app.heard->made == 6);
  CHECK(app.heard->taken == 0);
  CHECK_THROWS_AS(tunes.autotune(app.context, {}, app.options()), std::runtime_error);
  CHECK(app.heard->taken == 6);
}

TEST_CASE("another key, or mode force, takes over nothing") {
  const application app;
  unreliable tunes;
  CHECK_THROWS_AS(tunes.autotune(app.context, {}, app.options()), std::runtime_error);
  SUBCASE("another key") {
    CHECK_THROWS_AS(tunes.autotune(app.context, {.size = 65}, app.options()), std::runtime_error);
  }
  SUBCASE("force") {
    CHECK_THROWS_AS(tunes.autotune(app.context, {}, app.options(tune::tuning_mode::force)),
                    std::runtime_error);
  }
  CHECK(app.heard->made == 6);
  CHECK(app.heard->taken == 0);
}

TEST_CASE("trials of a search whose result was stored are not used by a forced one") {
  const application app;
  unreliable tunes;
  tunes.fails = false;
  tunes.autotune(app.context, {}, app.options());
  tunes.autotune(app.context, {}, app.options(tune::tuning_mode::force));
  CHECK(app.heard->made == 6);
}

TEST_CASE("what does not compile is compiled once, for whichever key, until forced") {
  const application app;
  unreliable tunes;
  tunes.fails = false;
  app.fake.fail_when(fake_call::compile,
                     [](const auto& macros) { return macros.integer("wgs") == 8; });
  tunes.autotune(app.context, {}, app.options());
  CHECK(app.compiled() == 6);
  CHECK(tunes.autotune(app.context, {.size = 65}, app.options()) == fastest);
  CHECK(app.compiled() == 6 + 4);
  CHECK(app.heard->made == 4);
  CHECK(app.heard->remembered == 2);
  tunes.autotune(app.context, {.size = 66}, app.options(tune::tuning_mode::force));
  CHECK(app.compiled() == 6 + 4 + 6);
}

TEST_CASE("a compiler that works again is believed, and what it said before forgotten") {
  const application app;
  unreliable tunes;
  tunes.fails = false;
  app.fake.fail_when(fake_call::compile, [](const auto&) { return true; });
  CHECK_THROWS_AS(tunes.autotune(app.context, {}, app.options()), tune::tuning_failed_error);
  app.fake.clear_failures();
  CHECK(tunes.autotune(app.context, {}, app.options()) == fastest);
  CHECK(app.heard->remembered == 6);
  CHECK(app.heard->made == 6);
  tunes.autotune(app.context, {.size = 65}, app.options());
  CHECK(app.heard->remembered == 0);
}

TEST_CASE("what fails at launch is tried again by the next search") {
  const application app;
  sample::counted_autotuner counted("sample.launched");
  app.fake.fail_when(fake_call::launch,
                     [](const auto& macros) { return macros.integer("wgs") == 2; });
  CHECK(counted.autotune(app.context, {}, app.options()).wgs == 4);
  app.fake.clear_failures();
  CHECK(counted.autotune(app.context, {.size = 65}, app.options()) == fastest);
  CHECK(app.heard->made == 6);
}

TEST_CASE("a key whose search failed is never taken for tuned, and a lookup says that it failed") {
  const application app;
  unreliable tunes;
  tunes.fails = false;
  app.fake.fail_when(fake_call::compile, [](const auto&) { return true; });
  try {
    tunes.autotune(app.context, {}, app.options());
    FAIL("nothing compiles");
  } catch (const tune::tuning_failed_error& failure) {
    CHECK(failure.trials().size() == 6);
  }
  CHECK_FALSE(app.heard->failed_at);
  CHECK_THROWS_WITH_AS(tunes.autotune(app.context, {}, app.options(tune::tuning_mode::cached)),
                       doctest::Contains("found none that works"), tune::not_tuned_error);
  CHECK(app.heard->failed_at);
  CHECK(tunes.autotune(app.context, {}, app.options(tune::tuning_mode::defaults)) ==
        scale_tuning{});
  app.fake.clear_failures();
  CHECK(tunes.autotune(app.context, {}, app.options()) == fastest);
  CHECK(tunes.autotune(app.context, {}, app.options()) == fastest);
  CHECK_FALSE(app.heard->failed_at);
}

TEST_CASE("a stored value that is none of the present tuning's counts as not there") {
  const application app;
  const auto store_column = [&] {
    const tune::autotuner<scale_key, sample::layout_tuning> before{
        {.name = "sample.layout"}, [](tune::tuning_session&, const scale_key&) {
          return sample::layout_tuning{sample::layout::column};
        }};
    CHECK(before(app.context, {}, app.options()).layout == sample::layout::column);
  };
  store_column();
  // The enumerators have been renamed, and the version was not raised.
  int searches = 0;
  const tune::autotuner<scale_key, sample::renamed_tuning> after{
      {.name = "sample.layout"}, [&](tune::tuning_session&, const scale_key&) {
        ++searches;
        return sample::renamed_tuning{sample::renamed_layout::columns};
      }};
  CHECK(after(app.context, {}, app.options()).layout == sample::renamed_layout::columns);
  CHECK(after(app.context, {}, app.options()).layout == sample::renamed_layout::columns);
  CHECK(searches == 1);
}
