// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Question: how fast do the tutorial's three diffusion kernels become, and what takes the tuning
// time?
//
// On each GPU, each kernel is tuned exhaustively on a field of 4096 x 4096, without a database and
// without libtune's cache of programs. Reported: the winner, its time, and its least traffic (every
// point read once and written once) over that time, with the bandwidth of a device-to-device copy
// of the same field in the same run; and the split of the search's wall time into preparing
// configurations (nearly all compiling), measuring them, and the rest. Arguments: the size of the
// field, if not 4096.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "examples/diffusion/diffusion.hpp"
#include "libtune/child/serve_if_worker.hpp"
#include "libtune/libtune.hpp"
#include "libtune/tune/observer.hpp"

namespace {

using seconds = std::chrono::duration<double>;
using diffusion::variant;

/// Keeps the last completed search.
class search_keeper final : public tune::observer {
 public:
  void search_finished(const tune::search_finished_event& event) override { last = event; }
  tune::search_finished_event last;
};

// Bytes read plus bytes written, divided by the device time of the fastest of ten copies.
double copy_bandwidth(const tune::context& context, std::size_t size) {
  auto queue = context.create_command_queue({.profiling = true});
  const tune::array_layout layout(tune::dtype::float32, {size, size});
  const tune::device_array from(context, layout);
  const tune::device_array to(context, layout);
  from.zero(queue);
  double best = 0;
  for (int i = 0; i < 10; ++i) {
    constexpr int copies = 20;
    queue.finish();
    to.copy_from(queue, from);
    const tune::event start = queue.enqueue_marker();
    for (int copy = 0; copy < copies; ++copy) to.copy_from(queue, from);
    const tune::event end = queue.enqueue_marker();
    const double elapsed = seconds(end.time_since(start)).count();
    best = std::max(best, 2.0 * copies * static_cast<double>(layout.bytes()) / elapsed);
  }
  return best;
}

void report(const tune::search_finished_event& search, std::size_t size, double copy) {
  if (!search.best) return;
  const tune::trial& best = search.trials[*search.best];
  const double time = seconds(*best.score).count();
  const double bandwidth = 2.0 * sizeof(float) * static_cast<double>(size * size) / time;
  seconds prepared{0}, measured{0};
  std::size_t count = 0;
  for (const tune::trial& item : search.trials) {
    prepared += item.preparation;
    measured += item.elapsed - item.preparation;
    count += item.score ? 1 : 0;
  }
  const double total = seconds(search.elapsed).count();
  std::printf("  best %.2f us  %.0f GB/s, %.2f of a copy's %.0f  %s\n", time * 1e6, bandwidth / 1e9,
              bandwidth / copy, copy / 1e9, tune::to_string(best.configuration).c_str());
  std::printf("  %zu tried, %zu measured in %.2f s: %.2f preparing, %.2f measuring, %.2f else\n",
              search.trials.size(), count, total, prepared.count(), measured.count(),
              total - prepared.count() - measured.count());
}

void tune_on(const tune::device& device, std::size_t size) {
  const tune::context context = device.create_context();
  const auto keeper = std::make_shared<search_keeper>();
  tune::tuning_options options{
      .database = "", .mode = tune::tuning_mode::force, .given_by = tune::option_source::command};
  options.strategy = "exhaustive";
  options.observers = {keeper};
  const double copy = copy_bandwidth(context, size);
  for (const variant kernel : {variant::naive, variant::shared, variant::tiled}) {
    const diffusion::diffusion_key key{.kernel = kernel, .size = static_cast<int>(size)};
    diffusion::diffusion_template::autotune(context, key, options);
    std::printf("%s %s, %s at %zu x %zu\n", device.info().backend.c_str(), device.name().c_str(),
                tune::to_string(tune::to_values(key)).c_str(), size, size);
    report(keeper->last, size, copy);
  }
}

}  // namespace

int main(int argc, char** argv) {
  tune::serve_if_worker(argc, argv);
  ::setenv("LIBTUNE_CACHE", "off", 1);
  const std::size_t size = argc > 1 ? std::stoul(argv[1]) : 4096;
  for (const tune::device& device : tune::all_devices()) {
    if (device.kind() == tune::device_kind::gpu) tune_on(device, size);
  }
}
