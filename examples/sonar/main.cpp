// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Finds the tones that hydrophones hear in a synthetic sea, frame by frame, and checks them.
#include <CLI/CLI.hpp>
#include <exception>
#include <fmt/format.h>

#include "examples/sonar/sonar.hpp"
#include "libtune/child.hpp"

namespace {

using sonar::seconds;

// [knobs]
/// The knobs; the first candidate of each is set by hand.
tune::pipeline_space knobs_of(std::size_t hydrophones, bool is_gpu) {
  tune::pipeline_space knobs({.name = "sonar.pipeline", .key = {{"hydrophones", hydrophones}}});
  knobs.knob("blocks", {4, 1, 2, 8, 16, 32}).knob("in_flight", {3, 1, 2, 6});
  return knobs.knob("graphs", {true, false}).knob("polls", {is_gpu, !is_gpu});
}

tune::pipeline_space by_hand(const tune::pipeline_space& knobs) {
  tune::pipeline_space only({.name = "sonar.by_hand", .key = knobs.identity().key});
  const tune::configuration first = knobs.by_hand();
  for (const auto& [name, value] : first.values()) only.knob(name, std::vector{value});
  return only;
}
// [knobs]

struct arguments {
  std::size_t hydrophones = 16;
  double rate = 48000;
  double lasts = 1;
  double deadline = 50;
  double tuned = 0;
  std::string metrics;
};

int run(const arguments& given) {
  const tune::context context = tune::create_some_context();
  const tune::device device = context.device();
  if (const std::string absence = tune::operations::fft_absence(device); !absence.empty()) {
    throw tune::no_device_error(absence);
  }
  const bool is_gpu = device.kind() == tune::device_kind::gpu;
  const seconds deadline(1e-3 * given.deadline);
  const tune::pipeline_space knobs = knobs_of(given.hydrophones, is_gpu);
  double rate = given.rate;
  tune::configuration chosen = knobs.by_hand();
  // [tune]
  const auto make = [&](const tune::configuration& of) {
    return std::make_unique<sonar::pipeline>(context, given.hydrophones, of);
  };
  const auto kernels = is_gpu ? tune::kernel_turns::after_knobs : tune::kernel_turns::never;
  for (const tune::pipeline_space& each : {by_hand(knobs), knobs}) {
    if (given.tuned == 0) break;
    const tune::tuned_knobs found = tune::tune_pipeline(
        context, each, {.deadline = deadline}, make,
        {.contest = {.budget = seconds(given.tuned)}, .built = 6, .kernels = kernels});
    fmt::print("{}: {:.0f} samples/s are in time\n", to_string(found.knobs.values()), found.rate);
    chosen = found.knobs;
    if (found.rate > 0) rate = 0.9 * found.rate;
  }
  // [tune]
  if (!is_gpu) tune::set_tuning_options(context, {.mode = tune::tuning_mode::defaults});
  const tune::metrics_exporter metrics({.file = given.metrics});
  sonar::pipeline pipeline(context, given.hydrophones, chosen);
  pipeline.in_metrics.emplace("sonar", std::chrono::round<std::chrono::nanoseconds>(deadline));
  tune::seal();  // from now on frames are only enqueued
  const tune::frame_record record = pipeline.run({.rate = rate, .duration = seconds(given.lasts)});
  tune::unseal();
  std::vector<double> sorted = record.latencies();
  std::ranges::sort(sorted);
  const auto late = sorted.end() - std::ranges::upper_bound(sorted, deadline.count());
  const bool is_right = sonar::are_right(pipeline.hits(), pipeline.blocks());
  fmt::print(
      "{}, {} hydrophones, {:.0f} samples/s: {} of {} frames late, half in {:.3f} ms, all in "
      "{:.3f} ms; the tones are {}\n",
      device.name(), given.hydrophones, rate, late, sorted.size(), 1e3 * sorted[sorted.size() / 2],
      1e3 * sorted.back(), is_right ? "right" : "WRONG");
  return is_right ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  tune::serve_if_worker(argc, argv);
  try {
    CLI::App app("Finds the tones that hydrophones hear in a synthetic sea, and checks them.");
    arguments given;
    app.option_defaults()->always_capture_default();
    app.add_option("--hydrophones", given.hydrophones)->check(CLI::Range(1, 4096));
    app.add_option("--rate", given.rate, "samples/s of each hydrophone")
        ->check(CLI::Range(1.0, 1e10));
    app.add_option("--seconds", given.lasts, "of sound")->check(CLI::Range(0.0, 3600.0));
    app.add_option("--deadline", given.deadline,
                   "ms from the last sample of a frame to its detections")
        ->check(CLI::Range(1e-3, 1e6));
    app.add_option("--tune", given.tuned,
                   "seconds in which to tune the knobs for the highest rate at which frames are in "
                   "time; it then receives 90 % of that rate")
        ->check(CLI::Range(0.0, 3600.0));
    app.add_option("--metrics", given.metrics, "file for metrics, whose name ends in .prom");
    CLI11_PARSE(app, argc, argv);
    return run(given);
  } catch (const tune::no_device_error& failure) {
    fmt::print(stderr, "sonar: {}\n", failure.what());
    return 2;
  } catch (const std::exception& failure) {
    fmt::print(stderr, "sonar: {}\n", failure.what());
    return 1;
  }
}
