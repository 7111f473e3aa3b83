// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Question: what does enqueueing an operation cost compared with the raw API call?
//
// Both launch the same kernel of one work item with three arguments. The raw side is
// clEnqueueNDRangeKernel or cuLaunchKernel on a kernel whose arguments have been set once. The
// other side is operation::run(): all slots are checked, all arguments set again, and the launch is
// checked. A batch of each is timed in turn, on the host's clock, and the queue is emptied outside
// the timed parts; the order within a pair alternates. Reported, over all pairs: the median time of
// one enqueue on either side, the median of the pairs' ratios, and the allocations of one run.
// Between the pairs a tune::frame_clock measures as many empty frames: the median time of one, and
// of one that is recorded with a given time, and the median of the ratios of the first to the
// enqueue of the operation.
#include <benchmark/benchmark.h>
#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "bench/enqueue/host_time.hpp"
#include "bench/enqueue/raw_cuda.hpp"
#include "bench/enqueue/raw_opencl.hpp"
#include "libtune/extra/metrics.hpp"
#include "libtune/libtune.hpp"
#include "libtune/testing/allocation_counter.hpp"

namespace {

using bench::median;
using bench::nanoseconds_each;

constexpr int batch = 200;
constexpr const char* kernel_text = R"(
KERNEL void touch(GLOBAL float* data, float factor, int offset) { data[offset] *= factor; })";

class touch_operation final : public tune::operation {
 public:
  touch_operation(const tune::command_queue& queue, const tune::program& program)
      : operation(queue),
        kernel_(program.create_kernel("touch")),
        data_(add_slot("data", {16}, tune::dtype::float32)) {}

 private:
  void do_run() override { enqueue(kernel_, {{1}, {1}}, data_, 1.0F, 0); }

  tune::kernel kernel_;
  tune::io_slot& data_;
};

std::unique_ptr<bench::raw_launch> make_raw(const tune::context& context,
                                            const tune::program& program) {
  const tune::device device = context.device();
  if (device.info().backend == "OpenCL") return std::make_unique<bench::raw_opencl>(device);
  return std::make_unique<bench::raw_cuda>(context, program);
}

void compare_enqueue(benchmark::State& state, const tune::device& device) {
  const tune::context context = device.create_context();
  const tune::program program = tune::compile(context, {"touch.kernel", kernel_text});
  touch_operation operation(context.create_command_queue(), program);
  operation.ensure_all_bound();
  const auto raw = make_raw(context, program);
  const auto run_operation = [&] {
    const double time = nanoseconds_each(batch, [&] { operation.run(); });
    operation.queue().finish();
    return time;
  };
  const auto run_raw = [&] {
    const double time = nanoseconds_each(batch, [&] {
      if (!raw->enqueue()) state.SkipWithError("the raw enqueue failed");
    });
    raw->finish();
    return time;
  };
  run_operation();  // drivers compile and allocate on the first launches
  run_raw();

  tune::frame_clock frames("enqueue", std::chrono::milliseconds(1));
  std::vector<double> ours, theirs, ratios, measured, recorded, frame_ratios;
  bench::alternation in_turn;
  for (auto _ : state) {
    const auto [one, other] = in_turn(run_operation, run_raw);
    ours.push_back(one);
    theirs.push_back(other);
    ratios.push_back(one / other);
    measured.push_back(nanoseconds_each(batch, [&] {
      frames.begin();
      frames.end();
    }));
    recorded.push_back(
        nanoseconds_each(batch, [&] { frames.record(std::chrono::microseconds(700)); }));
    frame_ratios.push_back(measured.back() / one);
  }
  const tune::testing::allocation_counter allocations;
  operation.run();
  state.counters["allocations"] = static_cast<double>(allocations.count());
  operation.queue().finish();
  state.counters["operation_ns"] = median(ours);
  state.counters["raw_ns"] = median(theirs);
  state.counters["ratio"] = median(ratios);
  state.counters["frame_ns"] = median(measured);
  state.counters["record_ns"] = median(recorded);
  state.counters["frame_ratio"] = median(frame_ratios);
}

}  // namespace

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  for (const tune::device& device : tune::all_devices()) {
    benchmark::RegisterBenchmark(("enqueue/" + device.platform_name()).c_str(), compare_enqueue,
                                 device)
        ->Iterations(300)
        ->Unit(benchmark::kMillisecond);
  }
  benchmark::RunSpecifiedBenchmarks();
}
