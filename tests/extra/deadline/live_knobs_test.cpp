// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/deadline/live_knobs.hpp"

#include <doctest/doctest.h>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "libtune/base/error.hpp"
#include "libtune/extra/deadline/live_knobs_core.hpp"
#include "libtune/extra/deadline/pipeline_tuner.hpp"
#include "libtune/testing/fixtures.hpp"
#include "libtune/testing/temporary_directory.hpp"
#include "tests/tune/scale.hpp"

namespace live_knobs_test {

using seconds = std::chrono::duration<double>;
using tune::configuration;
using tune::knobs_change;
using tune::testing::test_mode;
using tune::testing::test_mode_guard;

/// A pipeline without time: each frame ends at once, with a latency that the test gives.
struct application {
  struct pipeline {
    pipeline(application& its, configuration with) : owner(its), knobs(std::move(with)) {
      owner.most_living = std::max(owner.most_living, ++owner.living);
    }
    ~pipeline() { --owner.living; }
    application& owner;
    configuration knobs;
  };

  test_mode_guard mode{test_mode::off};
  tune::context context = sample::make_device().device().create_context();
  tune::pipeline_space space{{.name = "sample.live_knobs", .version = 1}};
  tune::pipeline_goal goal{.deadline = seconds(10e-3), .quantile = 0.9};
  tune::live_knobs_options options{.share = 0.5,
                                   .calm_frames = 64,
                                   .rehearsals = 4,
                                   .trial_frames = 512,
                                   .probation_frames = 256};
  int living = 0;
  int most_living = 0;
  std::vector<configuration> made{};
  std::vector<tune::knobs_event> events{};
  std::size_t frames = 0;  // of the present configuration's course
  bool records = true;

  // In ms.
  std::function<double(const configuration&)> latency = [](const configuration& knobs) {
    return knobs["heaps"] == 4 ? 1.0 : 2.0;
  };
  std::function<double(const configuration&)> rehearsal = [this](const configuration& knobs) {
    return latency(knobs);
  };
  std::function<double(const configuration&)> figure = [](const configuration&) { return 0; };
  std::function<void(const configuration&)> making = [](const configuration&) {};

  std::optional<tune::live_knobs<pipeline>> live{};

  application() { space.knob("heaps", {2, 1, 4}).knob("graphs", {true, false}); }
  ~application() { live.reset(); }

  void start() {
    options.listener = [this](const tune::knobs_event& event) { events.push_back(event); };
    live.emplace(
        context, space, space.by_hand(), goal,
        tune::live_knobs<pipeline>::functions{
            .make =
                [this](const configuration& knobs) {
                  made.push_back(knobs);
                  making(knobs);
                  return std::make_shared<pipeline>(*this, knobs);
                },
            .rehearse = [this](pipeline& of) { return seconds(1e-3 * rehearsal(of.knobs)); }},
        options, false);
  }
  /// Serves frames, and does the work of libtune's thread between them.
  void serve(std::size_t count) {
    if (!live) start();
    for (std::size_t n = 0; n < count; ++n) {
      const auto now = live->epoch();
      if (records || now->knobs == live->knobs()) {
        live->record(*now, seconds(1e-3 * latency(now->knobs)), figure(now->knobs));
      }
      live->core().step();
    }
  }
  std::vector<knobs_change> changes_of(const configuration& knobs) const {
    std::vector<knobs_change> found;
    for (const auto& each : events) {
      if (each.after == knobs) found.push_back(each.change);
    }
    return found;
  }
};

const configuration by_hand{{"heaps", 2}, {"graphs", true}};
const configuration heaps_1{{"heaps", 1}, {"graphs", true}};
const configuration heaps_4{{"heaps", 4}, {"graphs", true}};

TEST_CASE("a better configuration is tried in turns, serves on probation, and is kept") {
  application app;
  app.serve(10000);
  CHECK(app.live->knobs() == heaps_4);
  CHECK(app.live->epoch()->knobs == heaps_4);
  CHECK(app.changes_of(heaps_4) ==
        std::vector{knobs_change::tried, knobs_change::promoted, knobs_change::kept});
  CHECK(app.changes_of(heaps_1) == std::vector{knobs_change::tried, knobs_change::taken_back});
  const auto counts = app.live->counts();
  CHECK(counts.kept == 1);
  CHECK(counts.frames == 10000);
  CHECK(counts.late == 0);
  CHECK(counts.candidate_frames >= app.options.probation_frames);
}

TEST_CASE("at most two pipelines exist, and the one that is replaced is destroyed") {
  application app;
  app.serve(10000);
  CHECK(app.made.size() > 3);
  CHECK(app.most_living == 2);
  CHECK(app.living == 1);
  app.live.reset();
  CHECK(app.living == 0);
}

TEST_CASE("a pipeline lives as long as a frame holds it, and no other is made meanwhile") {
  application app;
  app.start();
  std::shared_ptr<application::pipeline> held = app.live->epoch();
  app.serve(10000);
  CHECK(app.changes_of(heaps_4).back() == knobs_change::kept);
  CHECK(app.living == 2);
  CHECK(held->knobs == by_hand);
  CHECK(app.made.back() == heaps_4);
  held.reset();
  app.serve(1000);
  CHECK(!(app.made.back() == heaps_4));
}

TEST_CASE("a configuration that has lost is not tried again") {
  application app;
  app.latency = [](const configuration&) { return 2.0; };
  app.serve(20000);
  CHECK(app.live->knobs() == by_hand);
  CHECK(app.made.size() == 4);  // that by hand and its neighbours
  CHECK(app.live->counts().taken_back == 3);
}

TEST_CASE("nothing is made without headroom, and not before enough frames were calm") {
  application app;
  SUBCASE("no headroom") {
    app.latency = [](const configuration&) { return 4.1; };
    app.serve(10000);
    CHECK(app.made.size() == 1);
  }
  SUBCASE("frames near the deadline") {
    std::size_t n = 0;
    app.latency = [&](const configuration&) { return n++ % 60 == 0 ? 8.1 : 2; };
    app.serve(10000);
    CHECK(app.made.size() == 1);
  }
  SUBCASE("calm") {
    app.serve(app.options.calm_frames - 1);
    CHECK(app.made.size() == 1);
    app.serve(2);
    CHECK(app.made.size() == 2);
  }
}

TEST_CASE("a candidate that cannot be made or is slow in its rehearsal serves no frame") {
  application app;
  std::string reason;
  SUBCASE("throws") {
    app.making = [](const configuration& knobs) {
      if (knobs == heaps_1) throw std::runtime_error("too little memory");
    };
    reason = "too little memory";
  }
  SUBCASE("throws something else") {
    app.making = [](const configuration& knobs) {
      if (knobs == heaps_1) throw 1;
    };
    reason = "another type";
  }
  SUBCASE("is slow") {
    app.rehearsal = [](const configuration& knobs) { return knobs == heaps_1 ? 10 : 2; };
    reason = "a frame of its rehearsal took 10 ms";
  }
  SUBCASE("throws when it is rehearsed") {
    app.rehearsal = [](const configuration& knobs) {
      if (knobs == heaps_1) throw std::runtime_error("the device is lost");
      return 2;
    };
    reason = "the device is lost";
  }
  app.serve(10000);
  REQUIRE(app.changes_of(heaps_1) == std::vector{knobs_change::refused});
  CHECK(app.events.front().reason.find(reason) != std::string::npos);
  CHECK(app.live->counts().refused == 1);
  CHECK(app.live->knobs() == heaps_4);
}

TEST_CASE("a candidate that disturbs frames in service while it is rehearsed is refused") {
  application app;
  app.options.rehearsals = 1000;
  bool is_slow = false;
  app.rehearsal = [&](const configuration& knobs) {
    is_slow = knobs == heaps_1;
    return 2;
  };
  app.latency = [&](const configuration&) { return std::exchange(is_slow, false) ? 9 : 2; };
  app.serve(2000);
  CHECK(app.changes_of(heaps_1) == std::vector{knobs_change::refused});
  CHECK(app.live->counts().late == 0);
}

TEST_CASE("the first frame near the deadline takes a candidate back at once") {
  application app;
  app.rehearsal = [](const configuration&) { return 2; };
  app.latency = [](const configuration& knobs) { return knobs == heaps_1 ? 8.1 : 2; };
  app.serve(20000);
  // It is tried once more after all others, because the machine may have been the cause.
  CHECK(app.changes_of(heaps_1) == std::vector{knobs_change::tried, knobs_change::taken_back,
                                               knobs_change::tried, knobs_change::taken_back});
  CHECK(app.events[1].frames == 1);
  CHECK(app.events[1].reason.find("near to the deadline") != std::string::npos);
  CHECK(app.live->counts().candidate_late == 0);
  CHECK(app.events.back().after == heaps_1);
}

TEST_CASE("a candidate whose frames do not end gets a single frame") {
  application app;
  app.latency = [](const configuration&) { return 2.0; };
  app.records = false;
  app.serve(10000);
  const auto taken_back = app.events[1];
  CHECK(taken_back.change == knobs_change::taken_back);
  CHECK(taken_back.reason.find("not ended") != std::string::npos);
  CHECK(app.live->counts().candidate_frames == 0);
}

TEST_CASE("frames of a stall, while the candidate rests, do not speak for the candidate") {
  application app;
  app.options.share = 0.05;
  app.options.trial_frames = 128;
  std::size_t since_candidate = 0;
  std::size_t in_trial = 0;
  std::size_t stalled = 0;
  app.latency = [&](const configuration& knobs) {
    if (knobs != app.live->knobs()) {
      since_candidate = 0;
      ++in_trial;
      return 1.0;
    }
    // Far from the candidate's frames the device stalls once, for 600 frames.
    if (in_trial > 8 && (stalled > 0 || ++since_candidate > 30) && stalled < 600) {
      ++stalled;
      return 20.0;
    }
    return 1.0;
  };
  app.rehearsal = [](const configuration&) { return 1.0; };
  app.serve(6000);
  CHECK(stalled == 600);
  CHECK(in_trial > 128);
  CHECK(app.live->counts().promoted == 0);
}

TEST_CASE("a candidate on probation is taken back by a frame near the deadline") {
  application app;
  bool is_promoted = false;
  app.latency = [&](const configuration& knobs) {
    is_promoted = app.live->counts().promoted > 0;
    if (knobs == heaps_4) return is_promoted ? 8.5 : 1.0;
    return 2.0;
  };
  app.serve(10000);
  CHECK(app.changes_of(heaps_4).at(2) == knobs_change::taken_back);
  CHECK(app.live->knobs() == by_hand);
  CHECK(app.live->epoch()->knobs == by_hand);
  CHECK(app.live->counts().late == 0);
}

TEST_CASE("a candidate that is worse on probation than in its turns is taken back") {
  application app;
  app.latency = [&](const configuration& knobs) {
    if (knobs == heaps_4) return app.live->counts().promoted > 0 ? 2.5 : 1.0;
    return 2.0;
  };
  app.serve(10000);
  CHECK(app.changes_of(heaps_4).at(2) == knobs_change::taken_back);
  CHECK(app.live->knobs() == by_hand);
}

TEST_CASE("with a figure, the least one wins among those whose latencies are no worse") {
  application app;
  app.goal.figure = "busy";
  app.latency = [](const configuration& knobs) { return knobs == heaps_1 ? 3.0 : 2.0; };
  app.figure = [](const configuration& knobs) {
    return knobs["heaps"] == 1 ? 0.5 : knobs["heaps"] == 4 ? 0.9 : 1.0;
  };
  app.serve(10000);
  CHECK(app.changes_of(heaps_1).back() == knobs_change::taken_back);
  CHECK(app.changes_of(heaps_4).back() == knobs_change::kept);
}

TEST_CASE("candidates of a list are tried in its order, and no others") {
  application app;
  const configuration far{{"heaps", 4}, {"graphs", false}};
  app.latency = [](const configuration&) { return 2.0; };
  app.options.candidates = {far, heaps_1};
  app.serve(20000);
  CHECK(app.made == std::vector{by_hand, far, heaps_1});
}

TEST_CASE("the application may forbid a candidate for the present") {
  application app;
  bool has_memory = false;
  app.options.allows = [&](const configuration&) { return has_memory; };
  app.serve(1000);
  CHECK(app.made.size() == 1);
  has_memory = true;
  app.serve(10);
  CHECK(app.made.size() == 2);
}

TEST_CASE("kept knobs are the result of the next start") {
  application app;
  const tune::testing::temporary_directory folder;
  const std::string path = (folder / "tuning.db").string();
  const tune::testing::scoped_environment database("LIBTUNE_DB", path.c_str());
  app.goal.rate = 1000;
  SUBCASE("stored") { app.options.stores = true; }
  SUBCASE("not stored") {}
  app.serve(10000);
  REQUIRE(app.live->knobs() == heaps_4);
  CHECK(std::filesystem::exists(path) == app.options.stores);
  if (!app.options.stores) return;
  const tune::tuned_knobs found =
      tune::tune_pipeline(app.context, app.space, app.goal, [](const configuration&) {
        FAIL("it was tuned again");
        return std::unique_ptr<tune::tuned_pipeline>();
      });
  CHECK(found.knobs == heaps_4);
  CHECK(found.rate == 1000);
}

TEST_CASE("where tuning is off, nothing is tried") {
  application app;
  SUBCASE("in a test") {
    const test_mode_guard defaults(test_mode::defaults);
    app.start();
    app.serve(1000);
  }
  SUBCASE("by the mode") {
    const tune::testing::scoped_environment cached("LIBTUNE_MODE", "cached");
    app.serve(1000);
  }
  CHECK(app.made.size() == 1);
}

TEST_CASE("options that contradict themselves, and foreign configurations, are refused") {
  application app;
  SUBCASE("deadline") { app.goal.deadline = seconds(0); }
  SUBCASE("quantile") { app.goal.quantile = 2; }
  SUBCASE("headroom") { app.options.headroom = 0.9; }
  SUBCASE("period") { app.options.period = seconds(-1); }
  SUBCASE("share") { app.options.share = 0.6; }
  SUBCASE("storing") { app.options.stores = true; }
  SUBCASE("frames") { app.options.calm_frames = 1; }
  SUBCASE("candidate") { app.options.candidates = {{{"heaps", 3}, {"graphs", true}}}; }
  CHECK_THROWS_AS(app.start(), tune::argument_error);
}

}  // namespace live_knobs_test
