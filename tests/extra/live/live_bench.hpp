// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// A template on a fake device, whose thread of libtune's is a call of step() in the test.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "libtune/extra/behind/tuning_news.hpp"
#include "libtune/extra/live/live.hpp"
#include "libtune/extra/live/live_core.hpp"
#include "libtune/kernel/compile.hpp"
#include "libtune/operation/operation.hpp"
#include "libtune/testing/fake_device.hpp"
#include "libtune/testing/fixtures.hpp"
#include "libtune/testing/temporary_directory.hpp"
#include "libtune/tune/autotuner.hpp"

namespace live_sample {

struct step_key {
  int size = 64;
};
/// Each launch adds one to all elements, takes `time` ns, and says by `mark` which tuning ran.
struct step_tuning {
  int mark = 1;
  int time = 1000;
  int round = 1;  ///< of the padding that it asks for

  friend bool operator==(const step_tuning&, const step_tuning&) = default;
};

}  // namespace live_sample

LIBTUNE_FIELDS(live_sample::step_key, size)
LIBTUNE_FIELDS(live_sample::step_tuning, mark, time, round)

namespace live_sample {

class step final : public tune::operation {
 public:
  step(const tune::command_queue& queue, const tune::program& program, std::size_t size,
       const step_tuning& tuning)
      : operation(queue),
        tuning(tuning),
        kernel_(program.create_kernel("step")),
        data_(add_slot("data",
                       {tune::dimension(size, {.round = static_cast<std::size_t>(tuning.round)})},
                       tune::dtype::float32)) {}

  void set_amount(float amount) {
    amount_ = amount;
    parameters_changed();
  }
  float amount() const { return amount_; }

  step_tuning tuning;

 private:
  void do_run() override {
    enqueue(kernel_, {{data_->buffer().layout().padded()[0]}, {1}}, data_, amount_);
  }

  tune::kernel kernel_;
  tune::slot_ref<> data_;
  float amount_ = 1;
};

class step_template {
 public:
  static const tune::autotuner<step_key, step_tuning> autotune;

  step_template(const tune::context& context, const step_key& key, const step_tuning& with)
      : tuning(with),
        size(static_cast<std::size_t>(key.size)),
        program(tune::compile(context, {"step.kernel", "KERNEL void step(...)"},
                              tune::defines(with))) {}

  step instantiate(const tune::command_queue& queue) const {
    return {queue, program, size, tuning};
  }

  step_tuning tuning;
  std::size_t size;
  tune::program program;
};

inline const tune::autotuner<step_key, step_tuning> step_template::autotune{
    {.name = "live_sample.step", .version = 0, .test = {}},
    [](tune::tuning_session& session, const step_key& key) {
      tune::space<step_tuning> space;
      space.add(&step_tuning::mark, {1, 2});
      space.add(&step_tuning::time, {1000});
      space.add(&step_tuning::round, {1});
      return session.tune(space, [&](const step_tuning& tuning) {
        const auto queue = session.context().create_tuning_command_queue();
        step operation = step_template(session.context(), key, tuning).instantiate(queue);
        operation.ensure_all_bound();
        operation.buffer("data").zero(operation.queue());
        return tune::make_measure(queue, std::move(operation));
      });
    }};

inline tune::testing::fake_device make_device(bool command_graphs = true) {
  tune::testing::fake_device fake({.command_graphs = command_graphs});
  fake.add_kernel("step", 2, [](tune::testing::fake_launch& launch) {
    const auto amount = launch.argument<float>(1);
    const float more = launch.integer("mark") == 9 ? 0.25F : 0;  // other bits
    for (float& each : launch.buffer<float>(0)) each += amount + more;
  });
  fake.set_time([](const tune::testing::fake_launch& launch) {
    return std::chrono::nanoseconds(launch.integer("time"));
  });
  return fake;
}

/// Keeps the events of live pipelines.
class listener final : public tune::observer {
 public:
  void live_changed(const tune::live_event& event) override { events.push_back(event); }

  std::vector<tune::live_event> events;
};

/// A pipeline of one operation, run and stepped by the test.
struct bench {
  explicit bench(tune::live_options options = {}, tune::live_run how = tune::live_run::enqueue,
                 bool command_graphs = true)
      : fake(make_device(command_graphs)),
        context(fake.device().create_context()),
        queue(context.create_command_queue({.profiling = true})),
        core(std::make_shared<tune::detail::live_core>(std::move(options), false)),
        pipeline(core) {
    tune::set_tuning_options(context, {.observers = {heard}});
    life.emplace(pipeline, context, step_key{});
    instance.emplace(life->instantiate(
        queue,
        [](const step_template& made, const tune::command_queue& on) {
          return made.instantiate(on);
        },
        how));
    (*instance)->ensure_all_bound();
    (*instance)->buffer("data").zero(queue);
  }

  static tune::better_tuning better(const step_tuning& tuning, const tune::context& on) {
    return {.function = {.name = "live_sample.step", .version = 0},
            .key = {tune::to_values(step_key{}), on.device().info().identity},
            .values = tune::to_values(tuning)};
  }
  void publish(const step_tuning& tuning) const {
    tune::tuning_news::shared().publish(better(tuning, context));
  }

  void frame() {
    instance->run();
    pipeline.epoch();
    ++frames;
  }
  /// Frames until nothing is under way, which is the work of libtune's thread in between.
  void settle(int most = 20'000) {
    core->step();
    for (int i = 0; i < most && !core->is_idle(); ++i) {
      frame();
      core->step();
    }
  }
  int mark() const { return (*instance)->tuning.mark; }
  float value() {
    const auto host = (*instance)->buffer("data").get<float>(queue);
    return host(0);
  }

  tune::testing::fake_device fake;
  tune::context context;
  tune::command_queue queue;
  std::shared_ptr<listener> heard = std::make_shared<listener>();
  std::shared_ptr<tune::detail::live_core> core;
  tune::live_pipeline pipeline;
  std::optional<tune::live<step_template>> life;
  std::optional<tune::live_instance<step>> instance;
  int frames = 0;
};

}  // namespace live_sample
