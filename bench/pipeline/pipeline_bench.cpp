// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Question: how much host time do resources, tasks and a job queue add to a frame?
//
// A frame has three stages on two queues: a kernel of one work item on the first, one on the
// second, one on the first, each after the previous one; four frames may be under way. By hand that
// is three launches, two markers with a wait of the other queue, and a marker that the host waits
// for four frames later. The other side does the same by a task in a job_queue: each stage waits
// for its turn of a resource, and the end of a frame is awaited. Batches of frames are timed in
// turn, by the processor time of the enqueueing thread and by the wall clock; the order within a
// pair alternates. Reported, over all pairs: the median of each, their difference, and the
// allocations of a frame; and the wall clock of the same tasks on a loop that polls.
#include <array>
#include <benchmark/benchmark.h>
#include <chrono>
#include <cstddef>
#include <ctime>
#include <optional>
#include <vector>

#include "bench/enqueue/host_time.hpp"
#include "libtune/extra/pipeline/event_loop.hpp"
#include "libtune/extra/pipeline/event_waiter.hpp"
#include "libtune/extra/pipeline/job_queue.hpp"
#include "libtune/extra/pipeline/resource.hpp"
#include "libtune/extra/pipeline/task.hpp"
#include "libtune/libtune.hpp"
#include "libtune/testing/allocation_counter.hpp"

namespace {

using bench::median;

constexpr int batch = 100;
constexpr std::size_t in_flight = 4;
constexpr const char* kernel_text = R"(
KERNEL void touch(GLOBAL float* data, float factor, int offset) { data[offset] *= factor; })";

struct stages {
  explicit stages(const tune::device& device)
      : context(device.create_context()),
        program(tune::compile(context, {"touch.kernel", kernel_text})),
        buffer(context.create_buffer(64)),
        first(context.create_command_queue()),
        second(context.create_command_queue()),
        kernels{program.create_kernel("touch"), program.create_kernel("touch"),
                program.create_kernel("touch")} {
    for (tune::kernel& kernel : kernels) kernel.set_arguments(buffer, 1.0F, 0);
  }

  void launch(std::size_t stage) {
    (stage == 1 ? second : first).enqueue(kernels[stage], {{1}, {1}});
  }

  tune::context context;
  tune::program program;
  tune::buffer buffer;
  tune::command_queue first;
  tune::command_queue second;
  std::array<tune::kernel, 3> kernels;
};

/// Frames by hand.
void run_by_hand(stages& s, int frames) {
  std::array<std::optional<tune::event>, in_flight> ends;
  for (int i = 0; i < frames; ++i) {
    auto& end = ends[static_cast<std::size_t>(i) % in_flight];
    if (end) end->wait();
    s.launch(0);
    s.second.wait_for({s.first.enqueue_marker()});
    s.launch(1);
    s.first.wait_for({s.second.enqueue_marker()});
    s.launch(2);
    end = s.first.enqueue_marker();
  }
  for (auto& end : ends) {
    if (end) end->wait();
  }
}

using turn = tune::resource_allocation<tune::buffer>;

tune::task<> run_frame(stages& s, turn one, turn two, turn three) {
  co_await one.enter(s.first);
  s.launch(0);
  const tune::event after_one = s.first.enqueue_marker();
  one.ready(after_one);
  co_await two.enter(s.second);
  s.second.wait_for({after_one});
  s.launch(1);
  const tune::event after_two = s.second.enqueue_marker();
  two.ready(after_two);
  co_await three.enter(s.first);
  s.first.wait_for({after_two});
  s.launch(2);
  const tune::event end = s.first.enqueue_marker();
  three.ready(end);
  co_await tune::wait_for_events(end);
}

/// Frames by tasks.
struct tasks {
  explicit tasks(stages& s, tune::loop_wait wait = tune::loop_wait::asleep)
      : all(s), one(s.buffer), two(s.buffer), three(s.buffer), loop(wait) {}

  void run(int frames) { loop.run(run_frames(frames)); }
  tune::task<> run_frames(int frames) {
    for (int i = 0; i < frames; ++i) {
      co_await jobs.finish(in_flight - 1);
      jobs.add(loop.spawn(run_frame(all, one.acquire(), two.acquire(), three.acquire())));
    }
    co_await jobs.finish();
  }

  stages& all;
  tune::resource<tune::buffer> one;
  tune::resource<tune::buffer> two;
  tune::resource<tune::buffer> three;
  tune::job_queue jobs;
  tune::event_loop loop;
};

struct host_time {
  double thread_us = 0;  ///< processor time of the thread for one frame
  double wall_us = 0;
};

double thread_seconds() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

template <class Run>
host_time time_of(Run&& run) {
  const auto start = std::chrono::steady_clock::now();
  const double thread_start = thread_seconds();
  run();
  const double thread_time = thread_seconds() - thread_start;
  const std::chrono::duration<double, std::micro> wall = std::chrono::steady_clock::now() - start;
  return {1e6 * thread_time / batch, wall.count() / batch};
}

void compare_frames(benchmark::State& state, const tune::device& device) {
  stages s(device);
  tasks ours(s);
  tasks polling(s, tune::loop_wait::polling);
  for (int i = 0; i < 3; ++i) {  // drivers compile and allocate on the first launches
    run_by_hand(s, batch);
    ours.run(batch);
    polling.run(batch);
  }
  std::vector<double> hand, task, hand_wall, task_wall, polling_wall;
  bench::alternation in_turn;
  for (auto _ : state) {
    const auto [one, other] = in_turn([&] { return time_of([&] { ours.run(batch); }); },
                                      [&] { return time_of([&] { run_by_hand(s, batch); }); });
    task.push_back(one.thread_us);
    task_wall.push_back(one.wall_us);
    hand.push_back(other.thread_us);
    hand_wall.push_back(other.wall_us);
    polling_wall.push_back(time_of([&] { polling.run(batch); }).wall_us);
  }
  const tune::testing::allocation_counter by_hand;
  run_by_hand(s, batch);
  const auto hand_allocations = by_hand.count();
  const tune::testing::allocation_counter by_tasks;
  ours.run(batch);
  const auto task_allocations = by_tasks.count();
  state.counters["hand_us"] = median(hand);
  state.counters["task_us"] = median(task);
  state.counters["added_us"] = median(task) - median(hand);
  state.counters["hand_wall_us"] = median(hand_wall);
  state.counters["task_wall_us"] = median(task_wall);
  state.counters["polling_wall_us"] = median(polling_wall);
  state.counters["hand_allocations"] = static_cast<double>(hand_allocations) / batch;
  state.counters["task_allocations"] = static_cast<double>(task_allocations) / batch;
}

}  // namespace

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  for (const tune::device& device : tune::all_devices()) {
    benchmark::RegisterBenchmark(("pipeline/" + device.platform_name()).c_str(), compare_frames,
                                 device)
        ->Iterations(50)
        ->Unit(benchmark::kMillisecond);
  }
  benchmark::RunSpecifiedBenchmarks();
}
