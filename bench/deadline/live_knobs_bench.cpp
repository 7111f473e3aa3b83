// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Question: does a receiver near the edge of the card have more late frames while live_knobs tries
// other knobs?
//
// The receiver of examples/receiver at --load of the rate that it takes without waiting for input.
// The knobs are those that a frame may change: frames in flight, queues of uploads, graphs.
// Candidates have no rehearsal, which would need a second receiver. Rounds of --round seconds
// alternate between one live_knobs that goes on and the first knobs, after one that does not count.
// Reported for both: frames, late ones, late ones with a stop of the program by the system,
// quantiles of the latencies; the changes of the knobs.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <fmt/format.h>
#include <memory>
#include <optional>
#include <vector>

#include "examples/common/choose_device.hpp"
#include "examples/receiver/digitiser.hpp"
#include "examples/receiver/knobs.hpp"
#include "libtune/child.hpp"

namespace {

using seconds = std::chrono::duration<double>;

struct settings {
  receiver::settings sizes{.antennas = 8, .channels = 4096, .heaps = 4};
  double load = 0.9;
  double round = 10;
  std::size_t rounds = 6;
  tune::live_knobs_options live{.headroom = 0.6};
  double quantile = 0.99;
  std::optional<std::size_t> device;
};

/// The frames of all rounds of a kind.
struct tally {
  std::vector<double> latencies;
  std::size_t late = 0;
  std::size_t late_stopped = 0;

  void print(const char* name) {
    std::ranges::sort(latencies);
    const auto of = [&](double part) {
      const auto at = static_cast<std::size_t>(part * static_cast<double>(latencies.size()));
      return 1e3 * latencies[std::min(at, latencies.size() - 1)];
    };
    fmt::print(
        "{}: {} frames, {} late, {} of them with a stop of the program; half {:.3f} ms, 99 % "
        "{:.3f}, 99.9 % {:.3f}, longest {:.3f}\n",
        name, latencies.size(), late, late_stopped, of(0.5), of(0.99), of(0.999),
        1e3 * latencies.back());
  }
};

receiver::run_knobs of_frame(const tune::configuration& knobs) {
  return {.in_flight = static_cast<std::size_t>(knobs["in_flight"]),
          .uploads = static_cast<std::size_t>(knobs["uploads"]),
          .graphs = knobs["graphs"] != 0};
}

class comparison {
 public:
  comparison(const tune::context& context, settings given, bool polls)
      : given_(std::move(given)),
        input_(given_.sizes),
        telescope_(context, given_.sizes, input_, false),
        wait_(polls ? tune::loop_wait::polling : tune::loop_wait::asleep) {
    space_.knob("in_flight", {3, 2, 4, 6}).knob("uploads", {1, 2}).knob("graphs", {true, false});
    start(context);
  }

  void run() {
    tally with, without, uncounted;
    const auto first = std::make_shared<const receiver::run_knobs>(knobs_of(space_.by_hand()));
    const receiver::frame_knobs fixed{[&] { return first; },
                                      [](const receiver::run_knobs&, double) {}};
    const receiver::frame_knobs changing{[&] { return live_->epoch(); },
                                         [&](const receiver::run_knobs& its, double latency) {
                                           live_->record(its, seconds(latency));
                                         }};
    round(uncounted, fixed);  // neither kind is the first to run at this rate
    for (std::size_t n = 0; n < given_.rounds; ++n) {
      round(with, changing);
      round(without, fixed);
    }
    with.print("with live knobs   ");
    without.print("without live knobs");
    const tune::live_knobs_counts counts = live_->counts();
    fmt::print("tried {}, promoted {}, kept {}, taken back {}; candidates: {} frames, {} late\n",
               counts.tried, counts.promoted, counts.kept, counts.taken_back,
               counts.candidate_frames, counts.candidate_late);
    fmt::print("now {}\n", to_string(live_->knobs().values()));
  }

 private:
  receiver::run_knobs knobs_of(const tune::configuration& knobs) const {
    receiver::run_knobs made = of_frame(knobs);
    made.wait = wait_;
    return made;
  }

  /// Measures the rate, which sets the deadline and the input of the rounds.
  void start(const tune::context& context) {
    const receiver::run_knobs first = knobs_of(space_.by_hand());
    telescope_.run(50, false, {.uploads = 2, .graphs = false, .wait = wait_});
    telescope_.run(50, false, first);
    const receiver::run_report free = telescope_.run(200, false, first);
    const double period = free.elapsed / 200 / given_.load;
    telescope_.set_sample_rate(static_cast<double>(given_.sizes.samples()) / period);
    telescope_.set_deadline(3 * period);
    frames_ = std::max<std::size_t>(1, static_cast<std::size_t>(given_.round / period));
    fmt::print("a frame each {:.3f} ms, deadline {:.3f} ms, {} rounds of {} frames\n", 1e3 * period,
               3e3 * period, given_.rounds, frames_);
    given_.live.listener = [](const tune::knobs_event& event) {
      fmt::print("  {}\n", to_string(event));
    };
    live_.emplace(context, space_, space_.by_hand(),
                  tune::pipeline_goal{.deadline = seconds(3 * period), .quantile = given_.quantile},
                  tune::live_knobs<receiver::run_knobs>::functions{
                      .make =
                          [this](const tune::configuration& knobs) {
                            return std::make_shared<receiver::run_knobs>(knobs_of(knobs));
                          }},
                  given_.live);
  }

  void round(tally& of, const receiver::frame_knobs& each) {
    const receiver::run_report report =
        telescope_.run(frames_, true, knobs_of(space_.by_hand()), each);
    of.late += report.late;
    of.late_stopped += report.late_stopped;
    const auto& latencies = telescope_.record().latencies();
    of.latencies.insert(of.latencies.end(), latencies.begin(), latencies.end());
  }

  settings given_;
  receiver::digitiser input_;
  receiver::telescope telescope_;
  tune::loop_wait wait_;
  std::size_t frames_ = 0;
  tune::pipeline_space space_{{.name = "live_knobs_bench"}};
  std::optional<tune::live_knobs<receiver::run_knobs>> live_;
};

}  // namespace

int main(int argc, char** argv) {
  tune::serve_if_worker(argc, argv);
  CLI::App app("Compares a receiver with and without knobs that change while it runs.");
  settings given;
  app.add_option("--antennas", given.sizes.antennas)->capture_default_str();
  app.add_option("--channels", given.sizes.channels)->capture_default_str();
  app.add_option("--heaps", given.sizes.heaps, "of a frame")->capture_default_str();
  app.add_option("--load", given.load, "part of the rate without waiting")->capture_default_str();
  app.add_option("--round", given.round, "seconds")->capture_default_str();
  app.add_option("--rounds", given.rounds, "of each kind")->capture_default_str();
  app.add_option("--share", given.live.share, "of candidates")->capture_default_str();
  app.add_option("--headroom", given.live.headroom)->capture_default_str();
  app.add_option("--quantile", given.quantile, "to minimise")->capture_default_str();
  app.add_option("--calm", given.live.calm_frames, "frames")->capture_default_str();
  app.add_option("--probation", given.live.probation_frames, "frames")->capture_default_str();
  app.add_option("--device", given.device, "index of the device, as tunedb lists them");
  CLI11_PARSE(app, argc, argv);
  try {
    const tune::device device = examples::choose_device(given.device);
    fmt::print("Device: {}; {} antennas, {} channels\n", device.name(), given.sizes.antennas,
               given.sizes.channels);
    comparison(device.create_context(), given, device.kind() == tune::device_kind::gpu).run();
    return 0;
  } catch (const std::exception& failure) {
    fmt::print(stderr, "live_knobs_bench: {}\n", failure.what());
    return 1;
  }
}
