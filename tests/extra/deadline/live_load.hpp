// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// A pipeline in service on a virtual clock, with a live_knobs whose thread the test replaces:
// frames at a fixed rate wait for one device, with noise, bursts in which the device is slower, and
// stops of the host with heavy tails. The disturbances are the same with and without live_knobs.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <random>
#include <vector>

#include "libtune/extra/deadline.hpp"
#include "libtune/extra/deadline/live_knobs_core.hpp"
#include "libtune/testing/fixtures.hpp"
#include "tests/tune/scale.hpp"

namespace sample {

using seconds = std::chrono::duration<double>;

/// A pipeline that a live_knobs makes.
struct served_pipeline {
  tune::configuration knobs;
  double work = 0;              // s of a frame
  std::size_t slow_each = 0;    // each n-th frame takes 5 times as long; 0: none
  std::size_t served = 0;       // frames, those of rehearsals included
  std::shared_ptr<int> life{};  // released when it is destroyed
  double next() {
    ++served;
    return slow_each > 0 && served % slow_each == 0 ? 5 * work : work;
  }
};

/// A bad configuration.
struct disaster {
  double work = 1;            // of a frame, in that of the configuration by hand
  std::size_t slow_each = 0;  // see served_pipeline
};

/// The times at which the machine disturbs frames.
class disturbances {
 public:
  disturbances(std::uint64_t seed, double lasts, double strength) : seed_(seed) {
    if (strength == 0) return;
    std::mt19937_64 random(seed);
    std::uniform_real_distribution<double> uniform(0, 1);
    std::exponential_distribution<double> to_burst(2 * strength), to_stop(0.1 * strength);
    for (double t = to_burst(random); t < lasts; t += to_burst(random))
      bursts_.push_back({t, t + 5e-3});
    for (double t = to_stop(random); t < lasts; t += to_stop(random)) {
      stops_.push_back({t, t + std::min(3e-4 * std::pow(uniform(random) + 1e-9, -1 / 1.8), 0.05)});
    }
  }
  double after_stops(double t) const {
    const auto* found = span_of(stops_, t);
    return found != nullptr ? (*found)[1] : t;
  }
  /// True if a stop touches a span of time.
  bool is_stopped_in(double from, double to) const {
    return std::ranges::any_of(stops_,
                               [=](const auto& stop) { return stop[0] < to && stop[1] > from; });
  }
  double factor(double t, std::size_t frame) const {
    std::uint64_t mixed = (seed_ * 1000003 + frame) * 0x9E3779B97F4A7C15U;
    mixed = (mixed ^ (mixed >> 30U)) * 0xBF58476D1CE4E5B9U;
    const double noise = 1 + 0.1 * (static_cast<double>(mixed >> 11U) * 0x1p-53 - 0.5);
    return noise * (span_of(bursts_, t) != nullptr ? 1.3 : 1);
  }

 private:
  using spans = std::vector<std::array<double, 2>>;
  static const std::array<double, 2>* span_of(const spans& all, double t) {
    auto at = std::ranges::upper_bound(all, t, {}, [](const auto& span) { return span[0]; });
    return at != all.begin() && t < (*--at)[1] ? &*at : nullptr;
  }
  std::uint64_t seed_;
  spans bursts_, stops_;
};

/// The course of a run.
struct service {
  std::vector<bool> late;  // of each frame
  std::size_t late_frames() const {
    return static_cast<std::size_t>(std::ranges::count(late, true));
  }
};

/// A telescope that observes.
struct live_load {
  static constexpr double period = 1e-3;

  std::uint64_t seed = 1;
  double load = 0.4;    // of the device, with the first configuration
  double deadline = 2;  // in periods
  double sharing = 2;   // the time of a frame in service beside a rehearsal, in that without
  double strength = 1;  // of the disturbances; 0: none
  std::size_t frames = 60000;
  std::optional<disaster> others{};  // all configurations but that by hand
  tune::live_knobs_options options{.period = seconds(period)};

  tune::testing::test_mode_guard mode{tune::testing::test_mode::off};
  tune::context context = make_device().device().create_context();
  int living = 0;
  int most_living = 0;
  std::vector<tune::knobs_event> events{};
  tune::live_knobs_counts counts{};
  tune::configuration ends_with{};

  static tune::pipeline_space space() {
    tune::pipeline_space made({.name = "sample.live", .version = 1});
    made.knob("heaps", {2, 1, 4, 8}).knob("graphs", {true, false}).knob("in_flight", {2, 1, 3});
    return made;
  }

  /// The time of a frame: that of the first configuration is load * period.
  served_pipeline pipeline_of(const tune::configuration& knobs) {
    served_pipeline made{.knobs = knobs, .work = load * period};
    if (knobs == space().by_hand()) return made;
    if (others) {
      made.work *= others->work;
      made.slow_each = others->slow_each;
      return made;
    }
    std::mt19937_64 random(seed * 77 + static_cast<std::uint64_t>(knobs["heaps"]) * 8 +
                           static_cast<std::uint64_t>(knobs["in_flight"]) * 2 +
                           static_cast<std::uint64_t>(knobs["graphs"]));
    made.work *= std::exp(0.3 * std::normal_distribution<double>()(random));
    return made;
  }
  std::shared_ptr<served_pipeline> make(const tune::configuration& knobs) {
    auto made = std::make_shared<served_pipeline>(pipeline_of(knobs));
    ++living;
    made->life = std::shared_ptr<int>(&living, [](int* of) { --*of; });
    most_living = std::max(most_living, living);
    return made;
  }

  /// Observes without live_knobs.
  service run_without() {
    served_pipeline fixed = pipeline_of(space().by_hand());
    const disturbances machine(seed, static_cast<double>(frames) * period, strength);
    service made;
    double free = 0;
    for (std::size_t n = 0; n < frames; ++n) {
      const double ready = static_cast<double>(n) * period;
      const double start = std::max(machine.after_stops(ready), free);
      free = start + fixed.next() * machine.factor(start, n);
      made.late.push_back(machine.after_stops(free) - ready > deadline * period);
    }
    return made;
  }

  service run() {
    const disturbances machine(seed, static_cast<double>(frames) * period, strength);
    double now = 0;
    double thread_free = 0;  // libtune's thread
    double shared_until = 0;
    living = most_living = 0;
    tune::live_knobs_options all = options;
    all.listener = [&](const tune::knobs_event& event) { events.push_back(event); };
    tune::live_knobs<served_pipeline> live(
        context, space(), space().by_hand(),
        {.deadline = seconds(deadline * period), .quantile = 0.99},
        {.make =
             [&](const tune::configuration& knobs) {
               thread_free = now + 0.3;
               return make(knobs);
             },
         .rehearse =
             [&](served_pipeline& made) {
               const double latency = 2 * made.next();
               thread_free = shared_until = now + latency;
               return seconds(latency);
             }},
        all, false);
    struct frame {
      std::shared_ptr<served_pipeline> by;
      double ready, end;
    };
    std::deque<frame> under_way;
    service made;
    double free = 0;
    for (std::size_t n = 0; n < frames; ++n) {
      const double ready = static_cast<double>(n) * period;
      now = machine.after_stops(ready);
      while (!under_way.empty() && under_way.front().end <= now) {
        const frame& each = under_way.front();
        live.record(*each.by, seconds(each.end - each.ready));
        under_way.pop_front();
      }
      if (n % 2 == 0 && now >= thread_free) live.core().step();
      auto by = live.epoch();
      const double start = std::max(now, free);
      const double slower = start < shared_until ? sharing : 1;
      free = start + by->next() * machine.factor(start, n) * slower;
      const double end = machine.after_stops(free);
      made.late.push_back(end - ready > deadline * period);
      under_way.push_back({std::move(by), ready, end});
    }
    for (const frame& each : under_way) live.record(*each.by, seconds(each.end - each.ready));
    counts = live.counts();
    ends_with = live.knobs();
    return made;
  }
};

}  // namespace sample
