// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "bench/soak/live_step.hpp"

namespace soak {
namespace {

const tune::kernel_source source{"soak_step.kernel", R"(
KERNEL REQD_WORK_GROUP_SIZE(wgs, 1, 1)
void soak_step(GLOBAL const float* RESTRICT src, GLOBAL float* RESTRICT dest, float zero) {
  float x = src[get_global_id(0)];
  for (int i = 0; i < repeats; ++i) x = x + zero * x;
  dest[get_global_id(0)] = 2.0f * x;
})"};

float value_of(std::size_t element) { return static_cast<float>(element % 1000) + 0.5F; }

void fill_input(tune::operation& of, tune::command_queue queue) {
  tune::host_array<float> values({elements});
  for (std::size_t i = 0; i < elements; ++i) values(i) = value_of(i);
  of.buffer("src").set(queue, values);
}

}  // namespace

step::step(const tune::command_queue& queue, const tune::program& program, std::size_t wgs)
    : operation(queue),
      kernel_(program.create_kernel("soak_step")),
      src_(add_slot("src", {elements}, tune::dtype::float32)),
      dest_(add_slot("dest", {elements}, tune::dtype::float32)),
      range_{{elements}, {wgs}} {}

void step::do_run() { enqueue(kernel_, range_, src_, dest_, 0.0F); }

step_template::step_template(const tune::context& context, const step_key& key,
                             const step_tuning& tuning)
    : program_(tune::compile(context, source, tune::defines(key, tuning))), wgs_(tuning.wgs) {}

const tune::autotuner<step_key, step_tuning> step_template::autotune{
    {.name = "soak.step", .version = 0, .test = {}},
    [](tune::tuning_session& session, const step_key& key) {
      const auto queue = session.context().create_tuning_command_queue();
      const auto space = tune::space<step_tuning>()
                             .add(&step_tuning::wgs, {32, 64, 128, 256})
                             .add(&step_tuning::repeats, {1024, 64, 1});
      return session.tune(space, [&](const step_tuning& tuning) {
        auto made = step_template(session.context(), key, tuning).instantiate(queue);
        made.ensure_all_bound();
        fill_input(made, queue);
        return tune::make_measure(queue, std::move(made));
      });
    }};

live_step::live_step(const tune::context& context, int key)
    : life_(pipeline_, context, step_key{.number = key}),
      queue_(context.create_command_queue({.profiling = true})) {
  instance_.emplace(
      life_.instantiate(queue_, [](const step_template& made, const tune::command_queue& on) {
        return made.instantiate(on);
      }));
  (*instance_)->ensure_all_bound();
  fill_input(**instance_, queue_);
  instance_->run();
  queue_.finish();
}

bool live_step::is_right() {
  queue_.finish();
  const auto made = (*instance_)->buffer("dest").get<float>(queue_);
  for (std::size_t i = 0; i < elements; ++i) {
    if (made(i) != 2 * value_of(i)) return false;
  }
  return true;
}

}  // namespace soak
