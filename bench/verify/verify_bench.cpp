// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Question: what does the check of a configuration cost, compared with running it?
//
//   verify_bench [SIDE]        rows and columns of the arrays, by default 4096, on a CPU 1024
//
// An operation that reads one array of floats and writes another, the least work for its bytes,
// goes through the steps of make_measure(queue, op, work, answer) before the timing: poison and
// guard bands, two runs, comparison with the answer, comparison of the runs. Wall-clock times of
// whole steps on the host, medians of 21, after two that are not counted. "answer alone" is
// answer::check after one run, as without a workload. The last column counts in runs.
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <exception>
#include <fmt/format.h>
#include <functional>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

#include "libtune/libtune.hpp"

namespace {

constexpr int repeats = 21;
constexpr const char* text = R"(
KERNEL REQD_WORK_GROUP_SIZE(256, 1, 1)
void twice(GLOBAL float* RESTRICT dest, GLOBAL const float* RESTRICT src) {
  dest[get_global_id(0)] = 2.0f * src[get_global_id(0)];
})";

class twice final : public tune::operation {
 public:
  twice(const tune::command_queue& queue, std::size_t side)
      : operation(queue),
        kernel_(tune::compile(queue.context(), {"twice.kernel", text}).create_kernel("twice")),
        dest_(add_slot("dest", {side, {side, {.exact = true}}}, tune::dtype::float32)),
        src_(add_slot("src", {side, {side, {.exact = true}}}, tune::dtype::float32)),
        items_(side * side) {}

 private:
  void do_run() override { enqueue(kernel_, {{items_}, {256}}, dest_, src_); }

  tune::kernel kernel_;
  tune::io_slot& dest_;
  tune::io_slot& src_;
  std::size_t items_;
};

double median_us(const std::function<void()>& step) {
  std::vector<double> times;
  for (int i = -2; i < repeats; ++i) {
    const auto start = std::chrono::steady_clock::now();
    step();
    const std::chrono::duration<double, std::micro> time = std::chrono::steady_clock::now() - start;
    if (i >= 0) times.push_back(time.count());
  }
  std::nth_element(times.begin(), times.begin() + repeats / 2, times.end());
  return times[repeats / 2];
}

void require_right(const std::optional<std::string>& wrong) {
  if (wrong) throw tune::error("the result is wrong: " + *wrong);
}

void report(const std::string& what, double time_us, double run_us) {
  std::cout << fmt::format("  {:<44} {:10.1f} us {:8.1f}\n", what, time_us, time_us / run_us);
}

void measure_costs(const tune::context& context, std::size_t side) {
  auto queue = context.create_tuning_command_queue();
  tune::host_array<float> src({side, side});
  for (std::size_t y = 0; y < side; ++y) {
    for (std::size_t x = 0; x < side; ++x) src(y, x) = static_cast<float>((y * 7 + x) % 1000);
  }
  tune::workload work(queue);
  work.set("src", std::move(src));
  twice op(queue, side);
  tune::answer expected;
  tune::take_answer(expected, work, op, {"dest"});

  const double run_us = median_us([&] {
    op.run();
    queue.finish();
  });
  report("a run", run_us, run_us);
  report("poison, inputs and guard bands", median_us([&] {
           work.restore(op);
           queue.finish();
         }),
         run_us);
  work.run(op);
  report("a look at the guard bands", median_us([&] { require_right(work.find_stray_write(op)); }),
         run_us);
  const auto alone = expected.check(queue, {{"dest", op.buffer("dest")}});
  report("the answer alone", median_us([&] { require_right(alone()); }), run_us);
  report("all of a check, with its two runs",
         median_us([&] { require_right(tune::find_fault(op, work, expected)); }), run_us);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    for (const tune::device& device : tune::all_devices()) {
      const bool is_cpu = device.kind() == tune::device_kind::cpu;
      const std::size_t side = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : is_cpu ? 1024 : 4096;
      if (side == 0 || side % 16 != 0) throw tune::argument_error("SIDE is a multiple of 16");
      std::cout << device.name() << " (" << device.platform_name() << "), " << side << " x " << side
                << " floats:\n";
      measure_costs(device.create_context(), side);
    }
    return 0;
  } catch (const std::exception& failure) {
    std::cerr << "verify_bench: " << failure.what() << '\n';
    return 1;
  }
}
