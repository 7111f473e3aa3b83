// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// What a search begins with, what it says of an end after that, and whether it ends there.
#include <SQLiteCpp/SQLiteCpp.h>
#include <algorithm>
#include <cstdlib>
#include <doctest/doctest.h>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "libtune/testing/fixtures.hpp"
#include "libtune/testing/temporary_directory.hpp"
#include "libtune/tune/observer.hpp"
#include "tests/store/captured_errors.hpp"
#include "tests/tune/scale.hpp"

namespace seeds_test {

using sample::scale_key;
using sample::scale_tuning;
using tune::testing::scoped_environment;
using tune::testing::test_mode;
using tune::testing::test_mode_guard;

/// The last search: its configurations in the order in which they were tried, and its end.
struct listener final : tune::observer {
  void search_started(const tune::search_started_event& event) override {
    covers = event.covers;
    tried.clear();
    taken_over = 0;
  }
  void trial_taken_over(const tune::tuning_subject&, const tune::trial&) override { ++taken_over; }
  void trial_finished(const tune::tuning_subject&, const tune::trial& made) override {
    tried.push_back(tune::to_string(made.configuration));
  }
  void search_finished(const tune::search_finished_event& event) override { last = event; }

  std::vector<std::string> tried;
  std::size_t taken_over = 0;
  bool covers = false;
  std::optional<tune::search_finished_event> last;
};

constexpr int groups = 40;  // candidates of the work group, with 2 of the rows

/// An application with a device whose best work group follows the key: an eighth of its size; or,
/// on one that is not regular, any.
struct application {
  explicit application(const std::string& platform = "fake platform", bool is_regular = true,
                       const std::string& name = "fake device")
      : fake(make_device(platform, is_regular, name)) {}

  tune::testing::fake_device make_device(const std::string& platform, bool is_regular,
                                         const std::string& name) const {
    tune::testing::fake_device_options made;
    made.identity = {name, platform, "1.0"};
    tune::testing::fake_device fake = sample::make_device(made);
    fake.set_time([is_regular, key = key](const tune::testing::fake_launch& launch) {
      const int best = is_regular ? *key / 8 : *key / 2 * 11 % 37 + 1;
      const std::int64_t off = std::abs(launch.integer("wgs") - best);
      return std::chrono::nanoseconds(10'000 + 500 * off + 50 * launch.integer("rows"));
    });
    return fake;
  }

  scale_tuning tune_key(int size, const tune::autotuner<scale_key, scale_tuning>& by,
                        tune::tuning_options with = {}) {
    with.database = (folder.path() / "tuning.db").string();
    if (with.strategy.empty()) with.strategy = "exhaustive";
    with.observers = {heard};
    *key = size;
    return by(context, {.size = size}, with);
  }
  const tune::search_finished_event& last() const { return *heard->last; }

  std::shared_ptr<int> key = std::make_shared<int>(0);  // that is tuned now
  test_mode_guard mode{test_mode::off};
  scoped_environment no_budget{"LIBTUNE_BUDGET", nullptr};
  scoped_environment no_strategy{"LIBTUNE_STRATEGY", nullptr};
  scoped_environment no_mode{"LIBTUNE_MODE", nullptr};
  scoped_environment no_match{"LIBTUNE_MATCH", nullptr};
  scoped_environment info{"LIBTUNE_LOG", "info"};
  scoped_environment no_goal{"LIBTUNE_OBJECTIVE", nullptr};
  tune::testing::temporary_directory folder;
  tune::testing::fake_device fake;
  tune::context context = fake.device().create_context();
  std::shared_ptr<listener> heard = std::make_shared<listener>();
};

tune::space<scale_tuning> make_space(const scale_key& key) {
  tune::space<scale_tuning> space;
  std::vector<int> sizes;
  for (int i = 1; i <= groups; ++i) sizes.push_back(i);
  space.add(&scale_tuning::wgs, sizes);
  space.add(&scale_tuning::rows, {1, 2});
  // Odd keys forbid some work groups, and say of others that they are too large.
  const bool is_odd = key.size % 2 != 0;
  space.restrict([is_odd](const scale_tuning& t) { return !is_odd || t.wgs != 6; }, "no six",
                 &scale_tuning::wgs);
  space.needs([is_odd](const scale_tuning& t) {
    const std::size_t items = is_odd && t.wgs == 7 ? std::size_t{1} << 30 : 1;
    return tune::resources{.work_group = {items, 1, 1}};
  });
  return space;
}

const tune::autotuner<scale_key, scale_tuning>& autotune() {
  static const tune::autotuner<scale_key, scale_tuning> made(
      {.name = "sample.seeds", .version = 0, .test = {.wgs = 1, .rows = 1}},
      [](tune::tuning_session& session, const scale_key& key) {
        return session.tune(make_space(key), [&](const scale_tuning& tuning) {
          return sample::generate(session.context(), tuning, static_cast<std::size_t>(key.size));
        });
      });
  return made;
}

constexpr std::size_t whole = 2 * groups;

/// Whole searches of even keys: enough to tell a bound.
void learn(application& app, int keys = 12) {
  const scoped_environment no_bound{"LIBTUNE_GOOD_ENOUGH", nullptr};
  for (int i = 0; i < keys; ++i) app.tune_key(40 + 2 * i, autotune());
}

/// The searches of learn() for the regular device: made once, and copied for each application.
void take_over(const application& app) {
  static const tune::testing::temporary_directory kept;
  if (!std::filesystem::exists(kept / "tuning.db")) {
    application first;
    learn(first);
    std::filesystem::copy_file(first.folder / "tuning.db", kept / "tuning.db");
  }
  std::filesystem::copy_file(kept / "tuning.db", app.folder / "tuning.db");
}

TEST_CASE("without neighbours there are no seeds, with few nothing is said of an end") {
  application app;
  const scoped_environment enough{"LIBTUNE_GOOD_ENOUGH", "5%"};
  app.tune_key(40, autotune());
  CHECK(app.last().seeds.tried == 0);
  CHECK(app.heard->tried.size() == whole);
  app.tune_key(42, autotune());
  CHECK(app.last().seeds.tried == 16);
  CHECK(app.last().seeds.judges == 0);
  app.tune_key(44, autotune());
  CHECK(app.last().seeds.judges == 2);
  CHECK(app.last().seeds.expected_loss);
  CHECK_FALSE(app.last().seeds.loss_bound);
  CHECK_FALSE(app.last().seeds.stopped);
  CHECK(app.heard->tried.size() == whole);
}

TEST_CASE("seeds come first, whatever the strategy, and only those that are legal for the key") {
  application app;
  learn(app, 8);  // the best work groups are 5 and 6
  CHECK(app.tune_key(47, autotune()).wgs == 5);
  REQUIRE(app.heard->tried.size() == whole - 2);
  CHECK(app.last().seeds.tried >= 10);
  CHECK(app.heard->tried.front() == "wgs=5, rows=1");
  const auto place = [&](const std::string& text) {
    return std::ranges::find(app.heard->tried, text) - app.heard->tried.begin();
  };
  // What it says of its needs is known before it is tried: no seed, but a trial of the search.
  CHECK(place("wgs=7, rows=1") >= static_cast<std::ptrdiff_t>(app.last().seeds.tried));
  CHECK(place("wgs=6, rows=1") == static_cast<std::ptrdiff_t>(whole - 2));
  for (const char* strategy : {"random", "model", "local", "genetic", "near"}) {
    app.tune_key(54 + static_cast<int>(strategy[0]), autotune(), {.strategy = strategy});
    CHECK(app.heard->tried.front().starts_with("wgs="));
    CHECK(app.last().seeds.tried == 16);
  }
}

TEST_CASE("a search stops after the seeds where their expected loss is good enough") {
  application app;
  take_over(app);
  const scoped_environment enough{"LIBTUNE_GOOD_ENOUGH", "5%"};
  const scale_tuning found = app.tune_key(53, autotune());
  const auto& end = app.last();
  CHECK(end.end == tune::search_end::target);
  CHECK(end.seeds.stopped);
  CHECK(end.seeds.tried == app.heard->tried.size());
  CHECK(end.seeds.tried <= 5);
  CHECK(end.seeds.judges >= 9);
  CHECK(*end.seeds.loss_bound == 0.05);
  CHECK(*end.seeds.expected_loss < 0.05);
  CHECK(std::abs(found.wgs - 53 / 8) <= 1);
  SUBCASE("the database has all of that") {
    SQLite::Database file((app.folder.path() / "tuning.db").string());
    SQLite::Statement rows(
        file,
        "SELECT ending, result, is_whole, seeds, loss_bound FROM libtune_search s"
        " JOIN libtune_course c ON c.search_id = s.id"
        " JOIN libtune_seeds e ON e.search_id = s.id ORDER BY s.id DESC");
    REQUIRE(rows.executeStep());
    CHECK(rows.getColumn(0).getString() == "target");
    CHECK(rows.getColumn(1).getString() == "found");
    CHECK(rows.getColumn(2).getInt() == 0);
    CHECK(rows.getColumn(3).getInt64() == static_cast<std::int64_t>(end.seeds.tried));
    CHECK(rows.getColumn(4).getDouble() == 0.05);
    REQUIRE(rows.executeStep());
    CHECK(rows.getColumn(2).getInt() == 1);
  }
  SUBCASE("a limit that is reached before counts") {
    app.tune_key(55, autotune(), {.budget = tune::tuning_budget{.trials = 1}});
    CHECK(app.last().end == tune::search_end::trials);
    CHECK_FALSE(app.last().seeds.stopped);
    CHECK(app.heard->tried.size() == 1);
  }
  SUBCASE("an interrupted search counts the seeds that it has tried") {
    app.tune_key(55, autotune(), {.budget = tune::tuning_budget{.trials = 1}});
    app.tune_key(55, autotune(), {.mode = tune::tuning_mode::resume});
    CHECK(app.heard->taken_over == 1);
    CHECK(app.last().seeds.stopped);
    CHECK(app.last().trials.size() == app.last().seeds.tried);
  }
  SUBCASE("the same in code") {
    const scoped_environment none{"LIBTUNE_GOOD_ENOUGH", nullptr};
    app.tune_key(55, autotune(), {.budget = tune::tuning_budget{.within = 0.05}});
    CHECK(app.last().seeds.stopped);
    app.tune_key(57, autotune());
    CHECK_FALSE(app.last().seeds.stopped);
  }
  SUBCASE("force uses nothing that is known") {
    app.tune_key(53, autotune(), {.mode = tune::tuning_mode::force});
    CHECK(app.last().seeds.tried == 0);
    CHECK(app.heard->tried.size() == whole - 2);
  }
}

TEST_CASE("a search goes on where the expected loss is not good enough, and says so") {
  application app("fake platform", false);
  learn(app);
  const scoped_environment enough{"LIBTUNE_GOOD_ENOUGH", "5%"};
  std::string text;
  {
    tune::testing::captured_errors log;
    app.tune_key(64, autotune());
    text = log.text();
  }
  CHECK(text.find("begins with 16 seeds from 12 keys of this device; if it stopped there it would "
                  "lose") != std::string::npos);
  CHECK(text.find("that is not within 5 %, so it continues") != std::string::npos);
  CHECK(app.last().seeds.tried == 16);
  CHECK(*app.last().seeds.loss_bound > 0.05);
  CHECK_FALSE(app.last().seeds.stopped);
  CHECK(app.last().end == tune::search_end::complete);
  CHECK(app.heard->tried.size() == whole);
}

TEST_CASE("other devices of the same maker give seeds, those of another maker none") {
  application app;
  take_over(app);
  const std::string known = (app.folder.path() / "tuning.db").string();
  for (const bool is_same : {true, false}) {
    application other(is_same ? "fake platform" : "other platform", true, "newer device");
    other.tune_key(48, autotune(), {.system_databases = {{known}}});
    CHECK(other.last().seeds.tried == (is_same ? 16 : 0));
  }
}

TEST_CASE("a tuning inside another stops, too") {
  application app;
  take_over(app);
  const scoped_environment enough{"LIBTUNE_GOOD_ENOUGH", "5%"};
  const tune::autotuner<scale_key, scale_tuning> outer(
      {.name = "sample.around_seeds", .version = 0, .test = {.wgs = 1, .rows = 1}},
      [&](tune::tuning_session& session, const scale_key& key) {
        app.tune_key(53, autotune());
        CHECK(app.last().seeds.stopped);
        *app.key = key.size;
        return session.tune(make_space(key), [&](const scale_tuning& tuning) {
          return sample::generate(session.context(), tuning, static_cast<std::size_t>(key.size));
        });
      });
  app.tune_key(64, outer);
  CHECK(app.last().subject.function == "sample.around_seeds");
  CHECK(app.heard->tried.size() == whole);
}

TEST_CASE("near without seeds goes over the whole space, and tells what it found of it") {
  application app;
  tune::testing::captured_errors log;
  app.tune_key(40, autotune(), {.strategy = "near"});
  CHECK(app.heard->covers);
  CHECK(log.text().find("of the variation of time") != std::string::npos);
  app.tune_key(42, autotune(), {.strategy = "near"});
  CHECK_FALSE(app.heard->covers);
}

}  // namespace seeds_test
