// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Question: what does a command graph save for a sequence of ten small kernels?
//
// One operation launches ten kernels, one after another, each of which adds one to the same 4096
// integers. It is run by operation::run(), which makes ten launches, and by
// captured_operation::run(), which makes one launch of a graph if the device has graphs, and else
// the same ten launches. A batch of 20 runs of each is made in turn, on one queue each, and the
// order within a pair alternates; queues are empty at the start of a batch. Each batch gives the
// host's time for the 20 calls of run(), without waiting for the work, and the device's time from a
// marker before the first to a marker after the last. Reported, over all pairs: the medians of
// both, for one run; the medians of the pairs' ratios, captured over plain; and the allocations of
// one run on either side. The batches are short so that no queue fills up, because then the host
// would wait for the device. At the end the integers show if every run did its work.
#include <benchmark/benchmark.h>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "bench/enqueue/host_time.hpp"
#include "libtune/libtune.hpp"
#include "libtune/operation/operation.hpp"
#include "libtune/testing/allocation_counter.hpp"

namespace {

using bench::median;

constexpr int batch = 20;
constexpr int kernels = 10;
constexpr std::size_t size = 4096;
constexpr const char* kernel_text = R"(
KERNEL void count(GLOBAL int* data, int amount) { data[get_global_id(0)] += amount; })";

class sequence final : public tune::operation {
 public:
  sequence(const tune::command_queue& queue, const tune::program& program)
      : operation(queue), data_(add_slot("data", {size}, tune::dtype::int32)) {
    for (int i = 0; i < kernels; ++i) kernels_.push_back(program.create_kernel("count"));
    ensure_all_bound();
    data_.buffer().zero(this->queue());
  }

  /// Every element, which is the number of launches so far; -1 if they differ.
  std::int32_t counted() {
    const auto host = data_.buffer().get<std::int32_t>(queue());
    for (std::size_t i = 0; i < size; ++i) {
      if (host(i) != host(0)) return -1;
    }
    return host(0);
  }

 private:
  void do_run() override {
    for (tune::kernel& kernel : kernels_) enqueue(kernel, {{size}, {64}}, data_, 1);
  }

  tune::io_slot& data_;
  std::vector<tune::kernel> kernels_;
};

struct batch_time {
  double host_ns = 0;
  double device_ns = 0;
};

template <class Runnable>
batch_time time_batch(tune::command_queue& queue, Runnable& runnable) {
  using nanoseconds = std::chrono::duration<double, std::nano>;
  const tune::event before = queue.enqueue_marker();
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < batch; ++i) runnable.run();
  const auto end = std::chrono::steady_clock::now();
  const tune::event after = queue.enqueue_marker();
  queue.finish();
  return {nanoseconds(end - start).count() / batch,
          nanoseconds(after.time_since(before)).count() / batch};
}

template <class Runnable>
double allocations_of(Runnable& runnable) {
  const tune::testing::allocation_counter counter;
  runnable.run();
  return static_cast<double>(counter.count());
}

/// The pairs of one of the two times.
struct comparison {
  void add(double plain_ns, double captured_ns) {
    plain.push_back(plain_ns);
    captured.push_back(captured_ns);
    ratios.push_back(captured_ns / plain_ns);
  }
  void report(benchmark::State& state, const std::string& what) const {
    state.counters[what + "_plain_ns"] = median(plain);
    state.counters[what + "_captured_ns"] = median(captured);
    state.counters[what + "_ratio"] = median(ratios);
  }
  std::vector<double> plain, captured, ratios;
};

void compare_runs(benchmark::State& state, const tune::device& device) {
  const tune::context context = device.create_context();
  const tune::program program = tune::compile(context, {"count.kernel", kernel_text});
  sequence plain(context.create_command_queue({.profiling = true}), program);
  sequence wrapped(context.create_command_queue({.profiling = true}), program);
  tune::captured_operation captured(wrapped);
  time_batch(plain.queue(), plain);  // drivers compile and allocate on the first launches
  time_batch(wrapped.queue(), captured);

  comparison host, on_device;
  bench::alternation in_turn;
  int batches = 1;
  for (auto _ : state) {
    const auto [one, other] = in_turn([&] { return time_batch(plain.queue(), plain); },
                                      [&] { return time_batch(wrapped.queue(), captured); });
    host.add(one.host_ns, other.host_ns);
    on_device.add(one.device_ns, other.device_ns);
    ++batches;
  }
  host.report(state, "host");
  on_device.report(state, "device");
  state.counters["plain_allocations"] = allocations_of(plain);
  state.counters["captured_allocations"] = allocations_of(captured);
  state.counters["captures"] = static_cast<double>(captured.captures());
  const std::int32_t expected = kernels * (batches * batch + 1);
  if (plain.counted() != expected || wrapped.counted() != expected) {
    state.SkipWithError("a run did not do its work");
  }
}

}  // namespace

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  for (const tune::device& device : tune::all_devices()) {
    benchmark::RegisterBenchmark(("graph/" + device.platform_name()).c_str(), compare_runs, device)
        ->Iterations(300)
        ->Unit(benchmark::kMillisecond);
  }
  benchmark::RunSpecifiedBenchmarks();
}
