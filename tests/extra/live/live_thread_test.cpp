// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Live pipelines with their own thread.
#include <atomic>
#include <chrono>
#include <doctest/doctest.h>
#include <memory>
#include <optional>
#include <thread>

#include "tests/extra/live/live_bench.hpp"
#include "tests/store/child_process.hpp"

namespace live_thread_test {

using namespace std::chrono_literals;
using live_sample::bench;
using live_sample::step;
using live_sample::step_template;

/// A pipeline whose thread is libtune's.
struct application {
  explicit application(tune::live_options options = {}) : pipeline(std::move(options)) {
    instance.emplace(life.instantiate(queue, [this](const step_template& made, const auto& on) {
      while (held) std::this_thread::sleep_for(1ms);
      return made.instantiate(on);
    }));
    (*instance)->ensure_all_bound();
  }

  /// Runs frames until a condition holds, or long enough for the slowest machine.
  template <class Condition>
  bool run_until(Condition&& holds) {
    const auto end = std::chrono::steady_clock::now() + 60s;
    while (!holds()) {
      for (int i = 0; i < 50; ++i) {
        instance->run();
        pipeline.epoch();
      }
      std::this_thread::sleep_for(1ms);
      if (std::chrono::steady_clock::now() > end) return false;
    }
    return true;
  }

  tune::testing::fake_device fake = live_sample::make_device();
  tune::context context = fake.device().create_context();
  tune::command_queue queue = context.create_command_queue({.profiling = true});
  std::atomic<bool> held{false};
  tune::live_pipeline pipeline;
  tune::live<step_template> life{pipeline, context};
  std::optional<tune::live_instance<step>> instance;
};

TEST_CASE("its thread does its work while the program is sealed") {
  application app({.watch_every = 8});
  const tune::testing::scoped_seal sealed({.scope = tune::seal_scope::program});
  std::thread tuner([&] {
    tune::tuning_news::shared().publish(bench::better({.mark = 2, .time = 900}, app.context));
  });
  CHECK(app.run_until([&] { return app.pipeline.counts().kept == 1; }));
  tuner.join();
  CHECK((*app.instance)->tuning.mark == 2);
  app.pipeline.look_again();
  tune::tuning_news::shared().publish(bench::better({.mark = 3, .time = 950}, app.context));
  CHECK(app.run_until([&] { return app.pipeline.counts().taken_back == 1; }));
  CHECK((*app.instance)->tuning.mark == 2);
  CHECK(tune::seal_report().total() == 0);
}

TEST_CASE("the pipeline goes on while a candidate takes long to make, and may end meanwhile") {
  std::optional<application> app{std::in_place};
  app->held = true;
  tune::tuning_news::shared().publish(bench::better({.mark = 2, .time = 900}, app->context));
  for (int i = 0; i < 1000; ++i) {
    app->instance->run();
    app->pipeline.epoch();
  }
  CHECK((*app->instance)->tuning.mark == 1);
  std::thread compiler([&] {
    std::this_thread::sleep_for(20ms);
    app->held = false;
  });
  compiler.join();
  app.reset();
}

TEST_CASE("tunings of many tuners at once end in one") {
  application app({.block_epochs = 2, .warm = false});
  std::vector<std::thread> tuners;
  for (int tuner = 0; tuner < 4; ++tuner) {
    tuners.emplace_back([&, tuner] {
      for (int i = 0; i < 20; ++i) {
        tune::tuning_news::shared().publish(
            bench::better({.mark = 10 + tuner, .time = 900 - tuner * 100}, app.context));
      }
    });
  }
  for (std::thread& each : tuners) each.join();
  CHECK(app.run_until([&] { return app.pipeline.counts().kept > 0; }));
  CHECK((*app.instance)->tuning.mark >= 10);
}

TEST_CASE("a forked process ends what its parent has, and the parent goes on") {
  auto app = std::make_unique<application>();
  for (int round = 0; round < 5; ++round) {
    const int time = 900 - 100 * round;
    tune::tuning_news::shared().publish(
        bench::better({.mark = 2 + round, .time = time}, app->context));
    CHECK(tune::testing::in_forked_child([&] {
            bool refused = false;
            try {
              const tune::live_pipeline another;
            } catch (const tune::forked_process_error&) {
              refused = true;
            }
            app->pipeline.look_again();
            app.reset();
            return refused ? 0 : 1;
          }) == 0);
    const auto wanted = static_cast<std::size_t>(round) + 1;
    CHECK(app->run_until([&] { return app->pipeline.counts().kept == wanted; }));
  }
}

}  // namespace live_thread_test
