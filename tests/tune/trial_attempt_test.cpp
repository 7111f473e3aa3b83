// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// An attempt at one configuration, its trial, and the resources of its kernels.
#include "libtune/tune/engine/trial_attempt.hpp"

#include <chrono>
#include <cmath>
#include <cstddef>
#include <doctest/doctest.h>
#include <functional>
#include <limits>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "libtune/device/interface.hpp"
#include "libtune/extra/behind/page_gate.hpp"
#include "libtune/kernel/compile.hpp"
#include "libtune/testing/devices.hpp"
#include "libtune/testing/fake_device.hpp"
#include "libtune/tune/engine/kernel_figures.hpp"
#include "libtune/tune/engine/prior_trials.hpp"
#include "libtune/tune/engine/run_trial.hpp"
#include "libtune/tune/engine/trial_failure.hpp"
#include "libtune/tune/engine/trial_judge.hpp"
#include "tests/tune/fake_compile_service.hpp"
#include "tests/tune/scale.hpp"

namespace trial_attempt_test {

using tune::testing::fake_call;
using stage = tune::trial_attempt::stage;

struct bench {
  tune::testing::fake_device fake = sample::make_device();
  tune::context context = fake.device().create_context();
  tune::device device = fake.device();
  tune::measure_settings settings;
  tune::wall_clock clock = fake.clock();
  tune::space<sample::scale_tuning> space = sample::make_space();
  tune::search_problem problem = sample::problem_of(
      space, [this](const sample::scale_tuning& t) { return sample::generate(context, t); });
  tune::known_failures nothing;
};

/// An attempt of the first configuration that has been admitted and generated.
struct begun_attempt : tune::trial_attempt {
  explicit begun_attempt(bench& b) : begun_attempt(b, no_hooks) {}
  begun_attempt(bench& b, const tune::step_hooks& hooks)
      : trial_attempt(b.problem, 0, b.device, b.settings, b.clock, hooks) {
    admit(b.nothing);
    generate();
  }
  static inline const tune::step_hooks no_hooks{};
};

TEST_CASE("an attempt is tried out, sampled, released, and generated again") {
  bench b;
  tune::trial_attempt attempt(b.problem, 0, b.device, b.settings, b.clock);
  attempt.admit(b.nothing);
  CHECK(attempt.at() == stage::waiting);
  attempt.generate();
  REQUIRE(attempt.is_live());
  attempt.try_out();
  CHECK(attempt.sample(3).size() == 3);
  attempt.release();
  CHECK_FALSE(attempt.is_live());
  CHECK_FALSE(attempt.over());
  CHECK(b.fake.live_bytes() == 0);
  attempt.generate();
  attempt.warm_up();
  CHECK(attempt.sample(1).size() == 1);
}

TEST_CASE("beside an application whole runs are timed in slices, and long ones are left out") {
  bench b;
  tune::detail::gate_page page;
  page.share_ppm = 1'000'000;
  tune::detail::page_gate gate(page);
  const tune::step_hooks hooks{.gate = &gate};
  const auto times_of = [&](tune::trial_attempt& attempt) {
    attempt.admit(b.nothing);
    attempt.generate();
    page.slices = 0;
    return attempt.sample_whole(7, true).size();
  };
  // A run takes 4010 ns.
  page.slice_ns = 13'000;
  tune::trial_attempt sliced(b.problem, 0, b.device, b.settings, b.clock, hooks);
  CHECK(times_of(sliced) == 7);
  CHECK(page.slices == 3);
  page.slice_ns = 4'000;
  tune::trial_attempt late(b.problem, 0, b.device, b.settings, b.clock, hooks);
  CHECK(times_of(late) == 0);
  CHECK(page.slices == 1);
  CHECK(late.over());
  CHECK(late.result().outcome == tune::outcome::skipped);
  CHECK(tune::find_metric(late.result().metrics, tune::deferred_behind) != nullptr);
}

TEST_CASE("an attempt takes a prebuilt program, and when it has forgotten it compiles") {
  bench b;
  tune::trial_attempt attempt(b.problem, 0, b.device, b.settings, b.clock);
  attempt.admit(b.nothing);
  attempt.generate_prebuilt();
  REQUIRE(attempt.has_wanted());
  attempt.add_program(attempt.wanted().digest, sample::made_of(attempt.wanted()));
  attempt.generate_prebuilt();
  CHECK(attempt.at() == stage::ready);
  attempt.release();
  attempt.generate_prebuilt();
  CHECK(attempt.at() == stage::ready);
  CHECK(b.fake.calls(fake_call::compile) == 0);
  attempt.release();
  attempt.forget_programs();
  attempt.generate_prebuilt();
  CHECK(attempt.at() == stage::ready);
  CHECK(b.fake.calls(fake_call::compile) == 1);
}

TEST_CASE("what ran out of memory says so, and can be tried once more") {
  bench b;
  b.fake.fail_next(fake_call::allocate, 1, {"no memory", tune::device_failure::out_of_memory});
  begun_attempt attempt(b);
  CHECK(attempt.over());
  CHECK(attempt.ran_out_of_memory());
  CHECK(attempt.result().outcome == tune::outcome::over_limit);
  attempt.retry();
  attempt.generate();
  CHECK(attempt.at() == stage::ready);
  CHECK(attempt.result().reason.empty());
}

TEST_CASE("an author may say why a configuration is skipped") {
  bench b;
  b.problem.generate = [](std::size_t) { return tune::measure::skipped("it spills registers"); };
  begun_attempt attempt(b);
  CHECK(attempt.result().outcome == tune::outcome::skipped);
  CHECK(attempt.result().reason == "it spills registers");
}

TEST_CASE("what fails gives back what it had on the device") {
  bench b;
  b.fake.fail_next(fake_call::launch, 1, {"illegal address", tune::device_failure::other});
  begun_attempt attempt(b);
  attempt.try_out();
  CHECK(attempt.over());
  CHECK_FALSE(attempt.is_live());
  CHECK(b.fake.live_bytes() == 0);
}

TEST_CASE("a cold cache is asked for where the settings say so") {
  bench b;
  b.settings.cache = tune::cache_state::cold;
  begun_attempt attempt(b);
  attempt.try_out();
  const std::size_t before = b.fake.calls(fake_call::fill);
  CHECK(attempt.sample(3).size() == 3);
  CHECK(b.fake.calls(fake_call::fill) >= before + 3);
}

/// Writes down what its hooks hear.
struct step_log {
  tune::step_listener listener = std::ref(*this);
  tune::step_hooks hooks{.listener = &listener};

  void operator()(const tune::step_event& event) {
    if (std::holds_alternative<tune::step_end>(event)) --under_way;
    const auto* begun = std::get_if<tune::step_begin>(&event);
    if (begun == nullptr) return;
    const tune::search_step& step = begun->step;
    lines.push_back(std::string(step_name(step.kind)) + " of " + to_string(step.configuration));
    steps.push_back(step);
    ++under_way;
  }
  std::vector<std::string> lines;
  std::vector<tune::search_step> steps;
  int under_way = 0;
};

TEST_CASE("every step that may not end is announced, and its end") {
  bench b;
  step_log log;
  begun_attempt attempt(b, log.hooks);
  attempt.try_out();
  attempt.sample(3);
  attempt.warm_up();
  CHECK(log.under_way == 0);
  const std::string of = " of " + to_string(attempt.result().configuration);
  CHECK(log.lines == std::vector<std::string>{"its preparation" + of, "its first run" + of,
                                              "timed runs" + of, "timed runs" + of, "a run" + of});
  CHECK(log.steps[2].launches == 1);
  CHECK(log.steps[3].launches >= 2);
  CHECK(log.steps[3].expected.count() > 0);
}

TEST_CASE("a step that fails has ended, too") {
  bench b;
  b.fake.fail_next(fake_call::launch);
  step_log log;
  begun_attempt attempt(b, log.hooks);
  attempt.try_out();
  CHECK(attempt.over());
  CHECK(log.under_way == 0);
}

TEST_CASE("a fault of the device is told from a launch that fails") {
  using tune::device_failure;
  const auto outcome_of = [](device_failure failure, bool works) {
    bench b;
    const tune::step_hooks hooks{.listener = nullptr, .device_works = [&] { return works; }};
    b.fake.fail_next(fake_call::launch, 1, {"told to fail", failure});
    begun_attempt attempt(b, hooks);
    attempt.try_out();
    return attempt.result().outcome;
  };
  CHECK(outcome_of(device_failure::fault, true) == tune::outcome::device_fault);
  CHECK(outcome_of(device_failure::other, false) == tune::outcome::device_fault);
  CHECK(outcome_of(device_failure::other, true) == tune::outcome::launch_failed);
  // The error can have nothing to do with it.
  CHECK(outcome_of(device_failure::invalid_launch, false) == tune::outcome::launch_failed);
}

TEST_CASE("a host without memory is an outcome of its own") {
  bench b;
  b.problem.generate = [](std::size_t) -> tune::measure { throw std::bad_alloc(); };
  begun_attempt attempt(b);
  CHECK(attempt.result().outcome == tune::outcome::out_of_memory);
  CHECK_FALSE(is_incident(attempt.result()));
}

TEST_CASE("a host without memory while it runs is no incident either, and may be tried once more") {
  bench b;
  int runs = 0;
  b.problem.generate = [&](std::size_t) {
    return tune::make_measure([&](int) -> double {
      if (runs++ == 0) throw std::bad_alloc();
      return 1e-6;
    });
  };
  begun_attempt attempt(b);
  attempt.try_out();
  CHECK(attempt.result().outcome == tune::outcome::out_of_memory);
  CHECK_FALSE(is_incident(attempt.result()));
  CHECK(attempt.ran_out_of_memory());
  CHECK(attempt.ran_out_of_host_memory());
  attempt.retry();
  attempt.generate();
  attempt.try_out();
  CHECK_FALSE(attempt.over());
}

TEST_CASE("what is denied is not generated") {
  bench b;
  tune::known_failures known;
  known.denied[canonical_text(b.problem.configuration(0))] = {tune::outcome::timed_out, "then"};
  tune::trial_attempt attempt(b.problem, 0, b.device, b.settings, b.clock);
  attempt.admit(known);
  CHECK(attempt.over());
  CHECK(attempt.result().outcome == tune::outcome::timed_out);
  CHECK(attempt.result().reason == "then");
  CHECK(attempt.result().origin == tune::trial_origin::cached);
}

}  // namespace trial_attempt_test

namespace trial_attempt_test::of_run_trial {

using tune::outcome;

/// Tries one configuration on a fake device with a virtual clock.
struct bench {
  tune::testing::fake_device fake = sample::make_device();
  tune::context context = fake.device().create_context();
  tune::space<sample::scale_tuning> space = sample::make_space();

  tune::trial try_with(std::function<tune::measure(const sample::scale_tuning&)> generate,
                       std::optional<tune::resources> needs = std::nullopt,
                       const tune::known_failures& known = {}) const {
    tune::search_problem problem = sample::problem_of(space, std::move(generate));
    problem.needs = [&](std::size_t) { return needs; };
    return tune::run_trial(problem, 0, fake.device(), {}, fake.clock(), known);
  }
  tune::trial try_it(std::optional<tune::resources> needs = std::nullopt,
                     const tune::known_failures& known = {}) const {
    return try_with([&](const sample::scale_tuning& t) { return sample::generate(context, t); },
                    needs, known);
  }
};

tune::measure constant_time(double seconds) {
  return tune::make_measure([seconds](int) { return seconds; });
}

TEST_CASE("a configuration that works has samples, a score, and no reason") {
  const bench b;
  const tune::trial result = b.try_it();
  CHECK(result.outcome == outcome::measured);
  CHECK(result.reason.empty());
  CHECK(result.score == tune::run_time(4010));
  CHECK(result.samples.size() >= 3);
  CHECK(tune::to_string(result.configuration) == "wgs=4, rows=1");
  CHECK(result.preparation >= std::chrono::milliseconds(1));  // the fake compiler's time
  CHECK(result.elapsed > result.preparation);
}

TEST_CASE("what it declares to need is compared with the device before anything is compiled") {
  const bench b;
  const tune::trial result = b.try_it(tune::resources{.work_group = {2048, 1, 1}});
  CHECK(result.outcome == outcome::over_limit);
  CHECK(result.reason.find("2048") != std::string::npos);
  CHECK(b.fake.calls(fake_call::compile) == 0);
}

TEST_CASE("each failure of the device is an outcome with its reason") {
  using tune::device_failure;
  const auto fails = [](outcome expected, fake_call call, device_failure failure,
                        std::size_t nth = 1) {
    const bench b;
    b.fake.fail_next(call, nth, {"told to fail", failure});
    const tune::trial result = b.try_it();
    CAPTURE(outcome_name(expected));
    CHECK(result.outcome == expected);
    CHECK_FALSE(result.reason.empty());
    CHECK_FALSE(result.score);
  };
  fails(outcome::compile_failed, fake_call::compile, device_failure::other);
  fails(outcome::over_limit, fake_call::allocate, device_failure::out_of_memory);
  fails(outcome::over_limit, fake_call::launch, device_failure::over_limit);
  fails(outcome::launch_failed, fake_call::launch, device_failure::other);
  fails(outcome::launch_failed, fake_call::launch, device_failure::other, 5);  // amid the samples
  fails(outcome::launch_failed, fake_call::launch, device_failure::invalid_launch);
}

TEST_CASE("whatever the author's function throws is a reason") {
  const bench b;
  const auto standard =
      b.try_with([](const auto&) -> tune::measure { throw std::logic_error("a bug"); });
  CHECK(standard.outcome == outcome::failed);
  CHECK(standard.reason == "a bug");
  const auto other = b.try_with([](const auto&) -> tune::measure { throw 7; });
  CHECK(other.outcome == outcome::failed);
  CHECK_FALSE(other.reason.empty());
}

TEST_CASE("a wrong result, which the check sees after one run, is never measured") {
  const bench b;
  const auto result = b.try_with([&](const sample::scale_tuning& t) {
    return sample::generate(b.context, t).check([&]() -> std::optional<std::string> {
      return std::to_string(b.fake.calls(fake_call::launch)) + " of 4 elements differ";
    });
  });
  CHECK(result.outcome == outcome::wrong_result);
  CHECK(result.reason == "1 of 4 elements differ");
  CHECK(result.samples.size() == 0);
  CHECK(b.fake.calls(fake_call::launch) == 1);
}

TEST_CASE("times that cannot be true never count") {
  const bench b;
  for (const double seconds : {std::nan(""), std::numeric_limits<double>::infinity(), 0.0, -1.0}) {
    CAPTURE(seconds);
    const auto result = b.try_with([&](const auto&) { return constant_time(seconds); });
    CHECK(result.outcome == outcome::invalid_time);
    CHECK_FALSE(result.score);
  }
}

TEST_CASE("a device that reports zero or negative times is not believed") {
  const bench b;
  for (const int nanoseconds : {0, -5}) {
    b.fake.set_time([&](const auto&) { return std::chrono::nanoseconds(nanoseconds); });
    CHECK(b.try_it().outcome == outcome::invalid_time);
  }
}

TEST_CASE("the programs of a trial are noted") {
  const bench b;
  const tune::trial once = b.try_it();
  REQUIRE(once.programs.size() == 1);
  CHECK(b.try_it().programs == once.programs);
  b.fake.fail_next(fake_call::compile);
  CHECK(b.try_it().programs == once.programs);
}

TEST_CASE("a program that is known not to compile is not compiled") {
  const bench b;
  b.fake.fail_next(fake_call::compile);
  const tune::trial first = b.try_it();
  CHECK(first.origin == tune::trial_origin::made);
  const tune::trial second =
      b.try_it({}, {.programs = {{first.programs.at(0), first.reason}}, .configurations = {}});
  CHECK(second.outcome == outcome::compile_failed);
  CHECK(second.origin == tune::trial_origin::cached);
  CHECK(second.reason == first.reason);
  CHECK(second.programs == first.programs);
  CHECK(b.fake.calls(fake_call::compile) == 1);
}

TEST_CASE("the same program with another text is compiled") {
  CHECK(
      bench().try_it({}, {.programs = {{"of another text", "no"}}, .configurations = {}}).outcome ==
      outcome::measured);
}

TEST_CASE("a configuration that is known not to compile is not even generated") {
  const bench b;
  const tune::known_failures known{
      .programs = {},
      .configurations = {{tune::canonical_text(tune::to_values(b.space[0])), "of then"}}};
  bool generated = false;
  const auto result = b.try_with(
      [&](const sample::scale_tuning&) -> tune::measure {
        generated = true;
        return nullptr;
      },
      {}, known);
  CHECK_FALSE(generated);
  CHECK(result.outcome == outcome::compile_failed);
  CHECK(result.origin == tune::trial_origin::cached);
  CHECK(result.reason == "of then");
}

}  // namespace trial_attempt_test::of_run_trial

namespace trial_attempt_test::of_limits {

const tune::device_limits limits{.max_work_group_size = 1024,
                                 .max_work_group_extent = {1024, 1024, 64},
                                 .local_memory_bytes = 49152,
                                 .max_dynamic_local_memory_bytes = 232448};

TEST_CASE("what the device allows breaks nothing") {
  CHECK_FALSE(tune::find_broken_limit({}, limits));
  CHECK_FALSE(tune::find_broken_limit({{32, 32, 1}, 49152}, limits));
  CHECK_FALSE(tune::find_broken_limit({{16, 1, 64}, 0}, limits));
}

TEST_CASE("a broken limit is named with both numbers") {
  CHECK(tune::find_broken_limit({{64, 32, 1}, 0}, limits) ==
        "a work group of 2048 work items, the device allows 1024");
  CHECK(tune::find_broken_limit({{1, 1, 128}, 0}, limits) ==
        "a work group of 128 along z, the device allows 64");
  CHECK(tune::find_broken_limit({{1, 1, 1}, 49153}, limits) ==
        "49153 bytes of local memory, the device has 49152 (and 232448 for kernels that ask for it "
        "at launch)");
}

TEST_CASE("local memory that a launch asks for has a limit of its own, of all together") {
  CHECK_FALSE(tune::find_broken_limit({{1, 1, 1}, 0, 232448}, limits));
  CHECK_FALSE(tune::find_broken_limit({{1, 1, 1}, 49152, 183296}, limits));
  CHECK(tune::find_broken_limit({{1, 1, 1}, 49152, 183297}, limits) ==
        "232449 bytes of local memory, 183297 of them at launch, the device has 232448");
  CHECK(tune::find_broken_limit({{1, 1, 1}, 49153, 1}, limits));
}

}  // namespace trial_attempt_test::of_limits

namespace trial_attempt_test::of_kernel_figures {

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

}  // namespace trial_attempt_test::of_kernel_figures
