// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// A passive sonar: finds the tones in the blocks of samples of many hydrophones.
#pragma once

#include <algorithm>
#include <complex>
#include <deque>
#include <memory>

#include "examples/sonar/sea.hpp"
#include "libtune/extra/bare.hpp"
#include "libtune/extra/deadline.hpp"
#include "libtune/extra/metrics.hpp"
#include "libtune/extra/pipeline.hpp"
#include "operations/fft/fft.hpp"
#include "operations/percentile5/percentile5.hpp"

#include "sonar.kernel.hpp"

namespace sonar {

using seconds = std::chrono::duration<double>;

constexpr std::int64_t threshold = 40;  // times the median: noise exceeds it once in 2^40 bins

// [kernels]
// The steps of our own. Each is tuned for its sizes at first, with noise as its input.
inline const tune::kernel_tuner steps("sonar.step", 0, [](const tune::configuration& key) {
  const auto hydrophones = static_cast<std::size_t>(key["hydrophones"]);
  const auto rows = hydrophones * static_cast<std::size_t>(key["blocks"]);
  const bool is_window = key.text("step") == "window";
  tune::bare_kernel kernel(
      {.name = key.text("step"),
       .source = tune::kernel_source{"sonar.kernel", std::string(embedded::sonar_kernel)},
       .problem_size = {is_window ? length : bins, is_window ? rows : hydrophones}});
  kernel.parameter("block_size_x", {64, 32, 128, 256}).parameter("per_item", {1, 2, 4, 8});
  kernel.divide_grid_x({"block_size_x", "per_item"});
  kernel.define("length", std::int64_t{length}).define("threshold", threshold);
  kernel.define("hydrophones", key["hydrophones"]).define("blocks", key["blocks"]);
  if (is_window) {
    const auto samples = [=] { return noise<std::int16_t>(rows * length); };
    kernel.arguments(tune::out<float>({rows, length}, "windowed"),
                     tune::in({rows, length}, samples, "samples"));
  } else {
    const auto spectra = [=] { return noise<std::complex<float>>(rows * bins); };
    const auto ranks = [=] { return noise<float>(5 * rows); };
    kernel.arguments(tune::out<std::uint8_t>({hydrophones, bins}, "hits"),
                     tune::in({rows, bins}, spectra, "spectra"),
                     tune::in({5, rows}, ranks, "ranks"));
  }
  return kernel.reference(kernel, {{"block_size_x", 64}, {"per_item", 1}});
});
// [kernels]

/// The operations and arrays of a frame in flight.
struct lane {
  tune::operation_sequence steps;
  tune::captured_operation graph{steps};
  tune::device_array in = steps.buffer("window:samples");
  tune::device_array out = steps.buffer("detect:hits");
  tune::host_array<std::int16_t> samples = in.staging_array<std::int16_t>();
  tune::host_array<std::uint8_t> hits = out.staging_array<std::uint8_t>();
};
using lane_turn = tune::resource_allocation<std::unique_ptr<lane>>;

/// A sonar of given knobs, which hears the same frame of a synthetic sea again and again.
class pipeline final : public tune::tuned_pipeline {
 public:
  pipeline(const tune::context& context, std::size_t hydrophones, const tune::configuration& knobs)
      : hydrophones_(hydrophones),
        blocks_(static_cast<std::size_t>(knobs["blocks"])),
        knobs_(knobs),
        upload_(context.create_command_queue()),
        compute_(context.create_command_queue()) {
    make_lanes(context);
    for (const bool graphs : {false, true}) {  // drivers load, and graphs are recorded
      knobs_.set("graphs", graphs);
      frame_time_ = run({}).elapsed() / fewest_frames;
    }
    knobs_ = knobs;
  }

  // [run]
  tune::frame_record run(const tune::pipeline_load& load) override {
    const auto units = static_cast<double>(blocks_ * length);  // samples of a hydrophone
    const seconds period = load.rate > 0 ? seconds(units / load.rate) : frame_time_;
    frames_ = std::max(fewest_frames, static_cast<std::size_t>(load.duration / period));
    hits_.assign(hydrophones_ * bins, 0);
    tune::frame_record record;
    record.reserve(frames_);
    const bool polls = knobs_["polls"] != 0;
    const auto in_flight = static_cast<std::size_t>(knobs_["in_flight"]);
    tune::event_loop loop(polls ? tune::loop_wait::polling : tune::loop_wait::asleep);
    tune::job_queue jobs;
    const auto begin = clock::now();
    for (std::size_t n = 0; n < frames_; ++n) {
      seconds ready = clock::now() - begin;
      if (load.rate > 0) {  // the frame's last sample comes at its place in time
        ready = static_cast<double>(n + 1) * period;
        loop.run(sleep_until(begin + std::chrono::duration_cast<clock::duration>(ready)));
      }
      jobs.add(loop.spawn(frame(lanes_[n % in_flight].acquire(), begin, ready, record)));
      loop.run(jobs.finish(in_flight - 1));
    }
    loop.run(jobs.finish());
    record.finish(static_cast<double>(frames_) * units, clock::now() - begin);
    return record;
  }

  bool change(const tune::configuration& to) override {
    if (to["blocks"] != knobs_["blocks"]) return false;  // its arrays have other sizes
    knobs_ = to;
    return true;
  }
  // [run]

  /// Hydrophones x bins: the blocks of the last run in which the bin had a tone.
  const std::vector<std::size_t>& hits() const noexcept { return hits_; }
  /// The blocks of each hydrophone in the last run.
  std::size_t blocks() const noexcept { return frames_ * blocks_; }
  std::optional<tune::frame_clock> in_metrics;  ///< empty: its frames are in no metrics

 private:
  using clock = std::chrono::steady_clock;
  static constexpr std::size_t most_in_flight = 6;
  static constexpr std::size_t fewest_frames = 2 * most_in_flight;

  // [lanes]
  void make_lanes(const tune::context& context) {
    const std::size_t rows = hydrophones_ * blocks_;
    const auto tuned = [&](const char* step) {
      return steps(context, {{"step", step}, {"hydrophones", hydrophones_}, {"blocks", blocks_}});
    };
    const tune::tuned_kernel window = tuned("window"), detect = tuned("detect");
    const tune::operations::fft_template transform(
        context, {.size = {rows, length}, .src = tune::dtype::float32});
    const tune::operations::percentile5_template rank(context, bins, false);
    const std::vector<std::int16_t> sea = sea_of(hydrophones_, blocks_);
    for (std::size_t i = 0; i < most_in_flight; ++i) {
      tune::operation_sequence made(compute_,
                                    {{"window", window.instantiate(compute_)},
                                     {"transform", transform.instantiate(compute_)},
                                     {"rank", rank.instantiate(compute_, rows, bins)},
                                     {"detect", detect.instantiate(compute_)}},
                                    {{"windowed", {"window:windowed", "transform:src"}},
                                     {"spectra", {"transform:dest", "rank:src", "detect:spectra"}},
                                     {"ranks", {"rank:dest", "detect:ranks"}}});
      made.ensure_all_bound();
      std::unique_ptr<lane> one(new lane{std::move(made)});
      std::ranges::copy(sea, one->samples.data());
      lanes_.emplace_back(std::move(one));
    }
  }
  // [lanes]

  // A future without a result ends at its deadline.
  static tune::task<> sleep_until(clock::time_point time) {
    const tune::promise<int> never;
    try {
      co_await tune::wait_until(never.get_future(), time);
    } catch (const tune::deadline_error&) {
    }
  }

  // [frame]
  tune::task<> frame(lane_turn turn, clock::time_point begin, seconds ready,
                     tune::frame_record& record) {
    lane& own = *co_await turn.enter(upload_);
    upload_.write(own.in.buffer(), own.samples.data(), own.in.layout().bytes(), 0, false);
    compute_.wait_for({upload_.enqueue_marker()});  // it transforms the frame before meanwhile
    knobs_["graphs"] != 0 ? own.graph.run() : own.steps.run();
    compute_.read(own.out.buffer(), own.hits.data(), own.out.layout().bytes(), 0, false);
    const tune::event end = compute_.enqueue_marker();
    upload_.flush();
    compute_.flush();
    co_await tune::wait_for_events(end);
    for (std::size_t i = 0; i < hits_.size(); ++i) hits_[i] += own.hits.data()[i];
    turn.ready();
    record.add(ready, clock::now() - begin);
    if (in_metrics)
      in_metrics->record(std::chrono::nanoseconds(std::llround(1e9 * record.latencies().back())));
  }
  // [frame]

  std::size_t hydrophones_;
  std::size_t blocks_;
  tune::configuration knobs_;
  tune::command_queue upload_;
  tune::command_queue compute_;
  std::deque<tune::resource<std::unique_ptr<lane>>> lanes_;
  std::vector<std::size_t> hits_;
  std::size_t frames_ = 0;  // of the run
  seconds frame_time_{1};   // without waiting for input
};

}  // namespace sonar
