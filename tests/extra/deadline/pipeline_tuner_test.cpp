// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/deadline/pipeline_tuner.hpp"

#include <doctest/doctest.h>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "libtune/base/error.hpp"
#include "libtune/store/database/tuning_database.hpp"
#include "libtune/testing/fixtures.hpp"
#include "libtune/testing/temporary_directory.hpp"
#include "libtune/tune/autotuner_core.hpp"
#include "tests/extra/deadline/modelled_pipeline.hpp"
#include "tests/tune/scale.hpp"

namespace pipeline_tuner_test {

using sample::modelled_pipeline;
using seconds = std::chrono::duration<double>;
using tune::testing::scoped_environment;
using tune::testing::test_mode;
using tune::testing::test_mode_guard;

/// An application with a pipeline of two knobs: the units of a frame, which need another pipeline,
/// and a way to wait that costs 0.2 ms.
struct application {
  test_mode_guard mode{test_mode::off};
  tune::testing::temporary_directory folder;
  std::string path = (folder / "tuning.db").string();
  scoped_environment database{"LIBTUNE_DB", path.c_str()};
  scoped_environment match{"LIBTUNE_MATCH", nullptr};
  scoped_environment no_mode{"LIBTUNE_MODE", nullptr};
  tune::context context = sample::make_device().device().create_context();
  tune::pipeline_goal goal{.deadline = seconds(2e-3)};
  tune::pipeline_options options{.contest = {.budget = seconds(120)}};
  int made = 0;
  int living = 0;
  int most_living = 0;

  struct pipeline final : tune::tuned_pipeline {
    pipeline(application& its, const tune::configuration& knobs) : owner(its), knobs(knobs) {
      ++owner.made;
      owner.most_living = std::max(owner.most_living, ++owner.living);
    }
    ~pipeline() override { --owner.living; }
    tune::frame_record run(const tune::pipeline_load& load) override {
      return modelled_pipeline{.units = knobs.number("heaps"),
                               .fixed = 1e-4,
                               .of_unit = 1e-4,
                               .extra = knobs["asleep"] != 0 ? 2e-4 : 0}
          .run(load);
    }
    bool change(const tune::configuration& to) override {
      if (to["heaps"] != knobs["heaps"]) return false;
      knobs = to;
      return true;
    }
    application& owner;
    tune::configuration knobs;
  };

  static tune::pipeline_space knobs() {
    tune::pipeline_space made({.name = "sample.pipeline", .version = 1, .key = {{"antennas", 8}}});
    made.knob("heaps", {2, 1, 4, 16, 18}).knob("asleep", {true, false});
    made.restrict("heaps < 18");
    return made;
  }
  tune::tuned_knobs tune(const tune::pipeline_space& space = knobs()) {
    return tune::tune_pipeline(
        context, space, goal,
        [this](const tune::configuration& with) { return std::make_unique<pipeline>(*this, with); },
        options);
  }
};

TEST_CASE("the knobs of the highest rate are found, stored and looked up") {
  application app;
  const tune::tuned_knobs found = app.tune();
  CHECK(found.knobs == tune::configuration{{"heaps", 16}, {"asleep", false}});
  CHECK(found.rate > 0.97 * 16 / 1.7e-3);
  CHECK(found.contest.standings.size() > 1);
  const int made = app.made;
  const tune::tuned_knobs again = app.tune();
  CHECK(again.knobs == found.knobs);
  CHECK(again.rate == found.rate);
  CHECK(again.contest.standings.empty());
  CHECK(app.made == made);
}

struct last_search final : tune::observer {
  void search_finished(const tune::search_finished_event& ended) override { event = ended; }
  tune::search_finished_event event;
};

TEST_CASE("the figures of all configurations are reported and stored as trials") {
  application app;
  const auto seen = std::make_shared<last_search>();
  tune::set_tuning_options(app.context, {.observers = {seen}});
  const tune::tuned_knobs found = app.tune();
  const tune::search_finished_event& search = seen->event;
  CHECK(search.trials.size() == 8);
  REQUIRE(search.best);
  const tune::trial& best = search.trials[*search.best];
  CHECK(tune::find_metric(best.metrics, "kept_rate")->value == found.rate);
  CHECK(best.score->count() == doctest::Approx(1e9 / found.rate));

  tune::tuning_database stored(app.path);
  CHECK(stored
            .trials({"sample.pipeline", 1, tune::describe_values(search.subject.arguments),
                     tune::describe_values(best.configuration)},
                    {search.subject.arguments, search.subject.device.identity})
            .size() == 8);
}

TEST_CASE("another goal, key or version is another result") {
  application app;
  static_cast<void>(app.tune());
  const int made = app.made;
  SUBCASE("goal") { app.goal.rate = 3000; }
  SUBCASE("deadline") { app.goal.deadline = seconds(1e-3); }
  static_cast<void>(app.tune());
  CHECK(app.made > made);
}

TEST_CASE("a pipeline takes a knob without being built again, and few exist at once") {
  application app;
  app.options.built = 2;
  app.options.kernels = tune::kernel_turns::when_built;
  int runs = 0;
  app.options.listener = [&](const tune::pipeline_run& run) {
    CHECK(run.record != nullptr);
    ++runs;
  };
  static_cast<void>(app.tune());
  CHECK(app.most_living == 2);
  CHECK(app.made < runs / 2);
  CHECK(app.living == 0);
}

TEST_CASE("a configuration that cannot be built is left out") {
  application app;
  const tune::tuned_knobs found = tune::tune_pipeline(
      app.context, application::knobs(), app.goal,
      [&](const tune::configuration& with) {
        if (with["heaps"] == 16) throw std::runtime_error("too little memory");
        return std::make_unique<application::pipeline>(app, with);
      },
      app.options);
  CHECK(found.knobs["heaps"] == 4);
}

TEST_CASE("if none can be built, the error says why") {
  application app;
  CHECK_THROWS_WITH_AS(tune::tune_pipeline(
                           app.context, application::knobs(), app.goal,
                           [](const tune::configuration&) -> std::unique_ptr<tune::tuned_pipeline> {
                             throw std::runtime_error("no such card");
                           },
                           app.options),
                       doctest::Contains("no such card"), tune::error);
}

TEST_CASE("if none keeps the deadline, the knobs by hand are returned and nothing is stored") {
  application app;
  app.goal.deadline = seconds(1e-4);
  const tune::tuned_knobs found = app.tune();
  CHECK(found.rate == 0);
  CHECK(found.knobs == application::knobs().by_hand());
  const int made = app.made;
  static_cast<void>(app.tune());
  CHECK(app.made > made);
}

TEST_CASE("in a test the knobs by hand are returned") {
  application app;
  const test_mode_guard defaults(test_mode::defaults);
  CHECK(app.tune().knobs == application::knobs().by_hand());
  CHECK(app.made == 0);
}

TEST_CASE("in turns, kernels are tuned for the best pipelines only") {
  application app;
  sample::counted_autotuner kernels("sample.of_pipeline");
  std::vector<std::int64_t> tuned;
  const tune::tuned_knobs found = tune::tune_pipeline(
      app.context, application::knobs(), app.goal,
      [&](const tune::configuration& with) {
        const int before = kernels.calls;
        static_cast<void>(
            kernels.autotune(app.context, {.size = static_cast<int>(64 * with["heaps"])}));
        if (kernels.calls > before) tuned.push_back(with["heaps"]);
        return std::make_unique<application::pipeline>(app, with);
      },
      app.options);
  CHECK(found.knobs["heaps"] == 16);
  CHECK(std::ranges::find(tuned, 16) != tuned.end());
  CHECK(std::ranges::find(tuned, 1) == tuned.end());
}

TEST_CASE("a large space is searched by some configurations and the neighbours of the best") {
  application app;
  tune::pipeline_space space({.name = "sample.large"});
  std::vector<int> many;
  for (int i = 1; i <= 16; ++i) many.push_back(i);
  space.knob("heaps", many).knob("asleep", {true, false}).knob("unused", many);
  app.options.configurations = 48;
  const tune::tuned_knobs found = app.tune(space);
  CHECK(found.knobs["heaps"] == 16);
  CHECK(found.knobs["asleep"] == 0);
}

TEST_CASE("wrong knobs are refused") {
  tune::pipeline_space space({.name = "sample.wrong", .key = {{"antennas", 8}}});
  CHECK_THROWS_AS(static_cast<void>(space.space()), tune::argument_error);
  space.knob("heaps", {4, 2});
  CHECK_THROWS_AS(space.knob("heaps", {1}), tune::argument_error);
  CHECK_THROWS_AS(space.knob("antennas", {1}), tune::argument_error);
  CHECK_THROWS_AS(space.knob("twice", {1, 1}), tune::argument_error);
  CHECK_THROWS_AS(space.knob("empty", std::vector<int>()), tune::argument_error);
  CHECK_THROWS_AS(space.knob("not a name", {1}), tune::argument_error);
  CHECK_THROWS_AS(space.restrict("heap < 3"), tune::argument_error);
  CHECK_THROWS_AS(space.restrict("heaps <"), tune::argument_error);
  space.restrict("heaps < 3");
  CHECK_THROWS_WITH_AS(static_cast<void>(space.by_hand()), doctest::Contains("by hand"),
                       tune::argument_error);
  CHECK_THROWS_AS(tune::pipeline_space({.name = "not a name!"}), tune::argument_error);
}

}  // namespace pipeline_tuner_test
