// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Live knobs with their thread, beside a sealed pipeline.
#include <atomic>
#include <chrono>
#include <doctest/doctest.h>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

#include "libtune/base/seal.hpp"
#include "libtune/extra/deadline.hpp"
#include "libtune/testing/allocation_counter.hpp"
#include "libtune/testing/fixtures.hpp"
#include "tests/device/lock_watch.hpp"
#include "tests/tune/scale.hpp"

namespace live_knobs_thread_test {

using namespace std::chrono_literals;
using tune::configuration;

struct pipeline {
  int heaps;
  std::atomic<std::thread::id>* destroyed_by;

  ~pipeline() { *destroyed_by = std::this_thread::get_id(); }
};

struct application {
  tune::testing::test_mode_guard mode{tune::testing::test_mode::off};
  tune::context context = sample::make_device().device().create_context();
  tune::pipeline_space space{{.name = "sample.live_thread"}};
  tune::live_knobs_options options{
      .share = 0.25, .calm_frames = 32, .rehearsals = 2, .probation_frames = 128};
  std::atomic<std::thread::id> destroyed_by{};
  std::optional<tune::live_knobs<pipeline>> live{};

  application() { space.knob("heaps", {2, 4}); }
  ~application() { live.reset(); }

  void start(const std::function<void(const configuration&)>& making) {
    live.emplace(context, space, space.by_hand(),
                 tune::pipeline_goal{.deadline = 10ms, .quantile = 0.9},
                 tune::live_knobs<pipeline>::functions{
                     .make =
                         [this, making](const configuration& knobs) {
                           making(knobs);
                           return std::shared_ptr<pipeline>(
                               new pipeline{static_cast<int>(knobs["heaps"]), &destroyed_by});
                         },
                     .rehearse = [](pipeline&) { return 1ms; }},
                 options);
  }
  void frame() {
    const std::shared_ptr<pipeline> now = live->epoch();
    live->record(*now, now->heaps == 4 ? 1ms : 2ms);
  }
};

TEST_CASE("the pipeline's thread allocates, locks and destroys nothing while knobs change") {
  application app;
  bool made_unsealed = true;
  app.start([&](const configuration&) { made_unsealed = made_unsealed && !tune::is_sealed(); });
  tune::seal();
  const tune::testing::allocation_counter allocations;
  const sealed::lock_watch locks;
  const auto limit = std::chrono::steady_clock::now() + 60s;
  while (app.live->counts().kept == 0 && std::chrono::steady_clock::now() < limit) {
    app.frame();
    std::this_thread::sleep_for(20us);
  }
  const std::size_t allocated = allocations.count();
  const std::size_t locked = locks.count();
  const bool is_replaced = app.live->epoch()->heaps == 4;
  while (app.destroyed_by == std::thread::id{} && std::chrono::steady_clock::now() < limit) {
    std::this_thread::sleep_for(1ms);
  }
  tune::unseal();
  CHECK(app.live->counts().kept == 1);
  CHECK(allocated == 0);
  CHECK(locked == 0);
  CHECK(tune::seal_report().total() == 0);
  CHECK(made_unsealed);
  CHECK(is_replaced);
  CHECK(app.destroyed_by != std::thread::id{});
  CHECK(app.destroyed_by != std::this_thread::get_id());
}

TEST_CASE("the pipeline serves on while a candidate is made that does not come to an end") {
  std::promise<void> begun, ends;
  const std::shared_future<void> end = ends.get_future().share();
  application app;  // its thread waits for the end, and is joined before that is destroyed
  app.start([&, first = true](const configuration&) mutable {
    if (!std::exchange(first, false)) {
      begun.set_value();
      end.wait();
    }
  });
  std::future<void> is_made = begun.get_future();
  const auto limit = std::chrono::steady_clock::now() + 60s;
  while (is_made.wait_for(0s) != std::future_status::ready &&
         std::chrono::steady_clock::now() < limit) {
    app.frame();
    std::this_thread::sleep_for(20us);
  }
  for (int n = 0; n < 10000; ++n) app.frame();  // more than libtune's thread could take later
  const tune::live_knobs_counts counts = app.live->counts();
  CHECK(counts.frames >= 10000);
  CHECK(counts.candidate_frames == 0);
  CHECK(app.live->epoch()->heaps == 2);
  ends.set_value();
}

}  // namespace live_knobs_thread_test
