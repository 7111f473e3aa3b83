// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tune/engine/kernel_figures.hpp"

#include <cstddef>
#include <doctest/doctest.h>
#include <optional>
#include <string>
#include <vector>

#include "libtune/device/interface.hpp"
#include "libtune/kernel/compile.hpp"
#include "libtune/testing/devices.hpp"
#include "libtune/testing/fake_device.hpp"
#include "libtune/tune/engine/trial_attempt.hpp"
#include "libtune/tune/engine/trial_judge.hpp"
#include "tests/tune/scale.hpp"

namespace kernel_figures_test {

using tune::metric;
using metrics = std::vector<metric>;

struct bench {
  bench() {
    fake.add_kernel("scale", {.parameters = {},
                              .local_memory_bytes = [](const auto&) { return std::size_t{256}; },
                              .registers =
                                  [](const auto& macros) {
                                    return static_cast<std::size_t>(16 * macros.integer("wgs"));
                                  }});
    fake.add_kernel("Add<int>", {});
  }

  tune::program make(int wgs) const {
    tune::program made = context.create_program(
        {.name = "p", .text = "#define wgs " + std::to_string(wgs) + "\n", .options = {}});
    made.impl()->record_launches();
    return made;
  }

  tune::testing::fake_device fake{{.limits = {.max_work_group_size = 256,
                                              .max_work_group_extent = {256, 256, 64},
                                              .local_memory_bytes = 49152,
                                              .global_memory_bytes = 1 << 20,
                                              .max_allocation_bytes = 1 << 20,
                                              .simd_group_size = 32,
                                              .max_dynamic_local_memory_bytes = 65536,
                                              .registers_per_work_group = 65536,
                                              .work_items_per_compute_unit = 2048}}};
  tune::context context = fake.device().create_context();
};

TEST_CASE("before a launch a kernel has the work group that is asked for") {
  const bench b;
  const std::vector programs{b.make(2)};
  CHECK(tune::kernel_figures(programs, std::nullopt).empty());
  const tune::kernel kernel = programs[0].create_kernel("scale");
  CHECK(tune::kernel_figures(programs, std::nullopt) ==
        metrics{{"registers", 32, ""}, {"local_memory", 256, "B"}, {"private_memory", 0, "B"}});
  const metrics figures = tune::kernel_figures(
      programs, tune::resources{.work_group = {60, 2, 1}, .dynamic_local_memory_bytes = 5000});
  CHECK(figures == metrics{{"registers", 32, ""},
                           {"local_memory", 256, "B"},
                           {"dynamic_local_memory", 5000, "B"},
                           {"work_groups_per_unit", 17, ""},
                           {"occupancy", 17.0 * 128 / 2048, ""},
                           {"private_memory", 0, "B"}});
}

TEST_CASE("of several launches and kernels the greatest demand counts, and each kernel's own") {
  const bench b;
  const std::vector programs{b.make(1), b.make(4)};
  tune::kernel small = programs[0].create_kernel("scale");
  tune::kernel large = programs[1].create_kernel("scale");
  tune::kernel unknown = programs[1].create_kernel("Add<int>");
  const tune::kernel idle = programs[1].create_kernel("scale");
  tune::tuning_command_queue queue = b.context.create_tuning_command_queue();
  queue.enqueue(large, {{256}, {256}});  // nobody records it
  queue.start_recording();
  queue.enqueue(small, {{64}, {64}, 100});
  queue.enqueue(small, {{128}, {128}, 300});
  queue.stop_recording();
  metrics figures = tune::kernel_figures(programs, std::nullopt);
  CHECK(tune::find_metric(figures, "registers")->value == 16);
  CHECK(tune::find_metric(figures, "dynamic_local_memory")->value == 300);
  CHECK(tune::find_metric(figures, "work_groups_per_unit")->value == 32);
  CHECK(tune::find_metric(figures, "registers_of_scale") == nullptr);
  queue.start_recording();
  queue.enqueue(unknown, {{64}, {64}});
  queue.enqueue(small, {{128}, {128}, 300});
  queue.stop_recording();
  figures = tune::kernel_figures(programs, std::nullopt);
  CHECK(tune::find_metric(figures, "registers")->value == 16);
  CHECK(tune::find_metric(figures, "registers_of_scale")->value == 16);
  CHECK(tune::find_metric(figures, "registers_of_add_int_") == nullptr);
  CHECK(tune::find_metric(figures, "dynamic_local_memory_of_add_int_")->value == 0);
}

/// A search whose kernels have 16 registers for each wgs.
struct limited_search {
  limited_search() {
    fake.add_kernel("scale", {.parameters = {{}, {}}, .registers = [](const auto& macros) {
                                return static_cast<std::size_t>(16 * macros.integer("wgs"));
                              }});
  }

  tune::testing::fake_device fake = sample::make_device();
  tune::device device = fake.device();
  tune::context context = device.create_context();
  tune::space<sample::scale_tuning> space = sample::make_space();
  tune::search_problem problem{
      .space = space.core(),
      .configuration = [this](std::size_t i) { return tune::to_values(space[i]); },
      .needs = [this](std::size_t i) { return space.resources_of(space[i]); },
      .generate = [this](std::size_t i) { return sample::generate(context, space[i]); },
      .why_not = [this](const metrics& figures) { return space.why_not(figures); }};
};

TEST_CASE("a configuration whose kernels take too much is skipped before it runs") {
  limited_search b;
  b.space.limit("registers", {.most = 64});
  for (std::size_t i = 0; i < b.space.size(); ++i) {
    const std::size_t before = b.fake.calls(tune::testing::fake_call::launch);
    const tune::trial tried = tune::run_trial(b.problem, i, b.device, {}, b.fake.clock());
    CHECK(tune::find_metric(tried.metrics, "registers")->value == 16.0 * b.space[i].wgs);
    if (b.space[i].wgs <= 4) {
      CHECK(tried.outcome == tune::outcome::measured);
      CHECK(tune::find_metric(tried.metrics, "work_groups_per_unit"));
    } else {
      CHECK(tried.outcome == tune::outcome::skipped);
      CHECK(tried.reason == "registers = 128, and may be at most 64");
      CHECK(b.fake.calls(tune::testing::fake_call::launch) == before);
    }
  }
}

TEST_CASE(
    "an application restricts figures by its goal, which is judged before the first run too") {
  limited_search b;
  const tune::trial_judge judge({.constraints = {tune::at_most("registers", 64)}}, {});
  const tune::step_hooks hooks{.judge = &judge};
  const tune::measure_settings settings;
  const tune::wall_clock clock = b.fake.clock();
  const tune::known_failures nothing;
  for (std::size_t i = 0; i < b.space.size(); ++i) {
    tune::trial_attempt attempt(b.problem, i, b.device, settings, clock, hooks);
    attempt.admit(nothing);
    attempt.generate();
    CHECK(attempt.over() == (b.space[i].wgs > 4));
    if (attempt.over()) CHECK(attempt.result().outcome == tune::outcome::unfit);
  }
  CHECK(b.fake.calls(tune::testing::fake_call::launch) == 0);
}

TEST_CASE("a limit has two bounds, and forbids nothing where the figure is unknown") {
  auto space = sample::make_space();
  space.limit("occupancy", {.least = 0.25}).limit("private_memory", {.most = 0});
  CHECK_FALSE(space.why_not({}));
  CHECK_FALSE(space.why_not({{"occupancy", 0.25, ""}, {"private_memory", 0, "B"}}));
  CHECK(space.why_not({{"occupancy", 0.125, ""}}) == "occupancy = 0.125, and may be at least 0.25");
  CHECK(space.why_not({{"private_memory", 8, "B"}}) ==
        "private_memory = 8 B, and may be at most 0");
  space.limit([](const metrics& figures) -> std::optional<std::string> {
    if (figures.size() > 2) return "too many figures";
    return std::nullopt;
  });
  CHECK(space.why_not(metrics(3)) == "too many figures");
}

LIBTUNE_DEVICE_TEST_CASE("a device tells what the kernels of a configuration take", device) {
  const tune::context context = device.create_context();
  tune::program made = tune::compile(
      context, {"k.kernel", "KERNEL void k(GLOBAL int* a) { a[get_global_id(0)] = 1; }"});
  made.impl()->record_launches();
  tune::kernel kernel = made.create_kernel("k");
  const tune::buffer data = context.create_buffer(1024);
  kernel.set_arguments(data);
  tune::tuning_command_queue queue = context.create_tuning_command_queue();
  queue.start_recording();
  queue.enqueue(kernel, {{256}, {64}});
  queue.stop_recording();
  const metrics figures = tune::kernel_figures({&made, 1}, std::nullopt);
  CHECK(tune::find_metric(figures, "local_memory"));
  CHECK(tune::find_metric(figures, "dynamic_local_memory")->value == 0);
  if (device.info().backend != "CUDA") return;
  CHECK(tune::find_metric(figures, "registers")->value > 0);
  CHECK(tune::find_metric(figures, "binary_size")->value > 0);
  CHECK(tune::find_metric(figures, "occupancy")->value > 0);
  CHECK(tune::find_metric(figures, "occupancy")->value <= 1);
}

}  // namespace kernel_figures_test
