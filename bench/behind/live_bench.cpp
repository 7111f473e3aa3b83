// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Question: what does a live operation cost the thread of a pipeline?
//
// A kernel of one work item is run by operation::run() and by live_instance::run() with an epoch
// after each, in turn, in batches on the host's clock; the queue is emptied outside the timed parts
// and the order within a pair alternates. Reported, over all pairs: the time of each, the median of
// the pairs' ratios, and the time of epoch() alone with nothing ready. Graphs get the same
// measurements. Then tunings are published one after the other, each a little faster, and the
// pipeline runs until each has been kept: the longest and the median call of epoch() and of run()
// with and without a candidate under way, and the allocations of the pipeline's thread.
#include <algorithm>
#include <benchmark/benchmark.h>
#include <chrono>
#include <cstddef>
#include <string>
#include <thread>
#include <vector>

#include "bench/enqueue/host_time.hpp"
#include "libtune/extra/behind/tuning_news.hpp"
#include "libtune/extra/live/live.hpp"
#include "libtune/libtune.hpp"
#include "libtune/testing/allocation_counter.hpp"
#include "libtune/testing/fixtures.hpp"

namespace live_bench {

struct touch_key {
  int version = 1;
};
struct touch_tuning {
  int rounds = 4096;
};

}  // namespace live_bench

LIBTUNE_FIELDS(live_bench::touch_key, version)
LIBTUNE_FIELDS(live_bench::touch_tuning, rounds)

namespace live_bench {

using bench::median;
using bench::nanoseconds_each;

constexpr int batch = 200;
constexpr const char* kernel_text = R"(
KERNEL void touch(GLOBAL float* data, float factor, int offset) {
  float x = data[offset];
  for (int i = 0; i < rounds; ++i) x = x * factor + 1.0f;
  data[offset] = x;
})";

class touch_operation final : public tune::operation {
 public:
  touch_operation(const tune::command_queue& queue, const tune::program& program)
      : operation(queue),
        kernel_(program.create_kernel("touch")),
        data_(add_slot("data", {16}, tune::dtype::float32)) {}

 private:
  void do_run() override { enqueue(kernel_, {{1}, {1}}, data_, 0.5F, 0); }

  tune::kernel kernel_;
  tune::io_slot& data_;
};

class touch_template {
 public:
  static const tune::autotuner<touch_key, touch_tuning> autotune;

  touch_template(const tune::context& context, const touch_key&, const touch_tuning& tuning)
      : program_(tune::compile(context, {"touch.kernel", kernel_text}, tune::defines(tuning))) {}

  touch_operation instantiate(const tune::command_queue& queue) const { return {queue, program_}; }

 private:
  tune::program program_;
};
const tune::autotuner<touch_key, touch_tuning> touch_template::autotune{
    {.name = "live_bench.touch", .version = 0, .test = {}},
    [](tune::tuning_session&, const touch_key&) { return touch_tuning{}; }};

const auto make = [](const touch_template& made, const tune::command_queue& on) {
  return made.instantiate(on);
};

void compare_runs(benchmark::State& state, const tune::device& device, tune::live_run how) {
  const tune::context context = device.create_context();
  tune::command_queue queue = context.create_command_queue({.profiling = true});
  tune::live_pipeline pipeline;
  const tune::live<touch_template> life(pipeline, context, {}, [context](const touch_tuning&) {
    return touch_template(context, {}, {.rounds = 0});
  });
  auto instance = life.instantiate(queue, make, how);
  instance->ensure_all_bound();
  touch_operation bare = life.current().instantiate(queue);
  bare.ensure_all_bound();
  tune::captured_operation captured(bare);
  const auto run_bare = [&] {
    const double time = nanoseconds_each(batch, [&] {
      if (how == tune::live_run::graph) {
        captured.run();
      } else {
        bare.run();
      }
    });
    queue.finish();
    return time;
  };
  const auto run_live = [&] {
    const double time = nanoseconds_each(batch, [&] {
      instance.run();
      pipeline.epoch();
    });
    queue.finish();
    return time;
  };
  run_bare();  // drivers compile and allocate on the first launches
  run_live();
  std::vector<double> live, other, ratios, epochs;
  bench::alternation in_turn;
  for (auto _ : state) {
    const auto [one, two] = in_turn(run_live, run_bare);
    live.push_back(one);
    other.push_back(two);
    ratios.push_back(one / two);
    epochs.push_back(nanoseconds_each(batch, [&] { pipeline.epoch(); }));
  }
  const tune::testing::allocation_counter counter;
  run_live();
  state.counters["allocations"] = static_cast<double>(counter.count());
  state.counters["live_ns"] = median(live);
  state.counters["bare_ns"] = median(other);
  state.counters["ratio"] = median(ratios);
  state.counters["epoch_ns"] = median(epochs);
}

/// The calls of a kind, in nanoseconds.
struct calls {
  template <class Call>
  void time(Call&& call) {
    const auto start = std::chrono::steady_clock::now();
    call();
    const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - start;
    all.push_back(took.count());
  }
  double longest() const { return all.empty() ? 0 : *std::max_element(all.begin(), all.end()); }

  std::vector<double> all;
};

// The frames of an application: a run and an epoch in each.
struct frame_loop {
  template <class Instance>
  void operator()(Instance& instance, tune::live_pipeline& pipeline, tune::command_queue& queue,
                  int count) {
    const tune::testing::allocation_counter counter;
    for (int i = 0; i < count && runs.all.size() < runs.all.capacity(); ++i) {
      runs.time([&] { instance.run(); });
      epochs.time([&] { pipeline.epoch(); });
      if (i % 4 == 3) queue.finish();
    }
    allocations += counter.count();
  }

  calls runs = with_room();
  calls epochs = with_room();
  std::size_t allocations = 0;

 private:
  static calls with_room() {
    calls made;
    made.all.reserve(1'000'000);
    return made;
  }
};

void publish(const tune::device& device, int rounds) {
  const tune::unsealed_section publishing;
  tune::tuning_news::shared().publish(
      {.function = {.name = "live_bench.touch", .version = 0},
       .key = {tune::to_values(touch_key{}), device.info().identity},
       .values = tune::to_values(touch_tuning{rounds})});
}

void report(benchmark::State& state, const frame_loop& quiet, const frame_loop& busy) {
  state.counters["allocations"] = static_cast<double>(quiet.allocations + busy.allocations);
  state.counters["breaches"] = static_cast<double>(tune::seal_report().total());
  state.counters["epoch_ns"] = median(busy.epochs.all);
  state.counters["epoch_longest_us"] = busy.epochs.longest() / 1000;
  state.counters["run_ns"] = median(busy.runs.all);
  state.counters["run_longest_us"] = busy.runs.longest() / 1000;
  state.counters["quiet_epoch_ns"] = median(quiet.epochs.all);
  state.counters["quiet_epoch_longest_us"] = quiet.epochs.longest() / 1000;
  state.counters["quiet_run_ns"] = median(quiet.runs.all);
  state.counters["quiet_run_longest_us"] = quiet.runs.longest() / 1000;
}

void swap(benchmark::State& state, const tune::device& device, tune::live_run how) {
  const tune::context context = device.create_context();
  tune::command_queue queue = context.create_command_queue({.profiling = true});
  tune::live_pipeline pipeline;
  const tune::live<touch_template> life(pipeline, context);
  auto instance = life.instantiate(queue, make, how);
  instance->ensure_all_bound();
  frame_loop quiet, busy;
  quiet(instance, pipeline, queue, 100);
  quiet.runs.all.clear();
  quiet.epochs.all.clear();
  quiet.allocations = 0;  // the first run records the graph
  tune::seal({.scope = tune::seal_scope::this_thread});
  int rounds = 4096;
  std::size_t kept = 0, changes = 0;
  double total_ms = 0;
  for (auto _ : state) {
    quiet(instance, pipeline, queue, 500);
    rounds = rounds * 8 / 10;
    const auto start = std::chrono::steady_clock::now();
    publish(device, rounds);
    const std::chrono::duration<double> limit(5);
    while (std::chrono::steady_clock::now() - start < limit) {
      busy(instance, pipeline, queue, 20);
      const tune::live_counts now = pipeline.counts();
      if (now.kept + now.taken_back + now.refused > changes) break;
    }
    const tune::live_counts now = pipeline.counts();
    changes = now.kept + now.taken_back + now.refused;
    kept = now.kept;
    total_ms +=
        std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  }
  tune::unseal(tune::seal_scope::this_thread);
  queue.finish();
  state.counters["kept"] = static_cast<double>(kept);
  state.counters["swap_ms"] = total_ms / static_cast<double>(state.iterations());
  report(state, quiet, busy);
}

}  // namespace live_bench

int main(int argc, char** argv) {
  const tune::testing::autotune_defaults no_database;
  benchmark::Initialize(&argc, argv);
  for (const tune::device& device : tune::all_devices()) {
    for (const tune::live_run how : {tune::live_run::enqueue, tune::live_run::graph}) {
      const std::string name =
          device.platform_name() + (how == tune::live_run::graph ? "/graph" : "/enqueue");
      benchmark::RegisterBenchmark(("run/" + name).c_str(), live_bench::compare_runs, device, how)
          ->Iterations(200)
          ->Unit(benchmark::kMillisecond);
      benchmark::RegisterBenchmark(("swap/" + name).c_str(), live_bench::swap, device, how)
          ->Iterations(5)
          ->Unit(benchmark::kMillisecond);
    }
  }
  benchmark::RunSpecifiedBenchmarks();
}
