// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Question: how much more input does a receiver take in time if its knobs are tuned, and how do its
// frames fare at the edge of the card?
//
// The receiver of examples/receiver (8 antennas, 4096 channels by default). A frame is late after
// three times the time in which a frame of --heaps heaps is digitised at 1712 million samples/s. In
// one run: the knobs are tuned in --seconds; contests of the knobs set by hand alone, and of all
// heaps and both ways to wait with the others set by hand, find the rates that these keep; then
// rounds of --round seconds alternate between the tuned knobs and those set by hand at their own
// rates; last, --long seconds each at 90 and 95 % of the tuned rate. Reported: rates and their
// ratios; late frames, and quantiles of the times of frames from the last sample to the results on
// the host; the longest stop of the program by the system.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <fmt/format.h>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "examples/common/choose_device.hpp"
#include "examples/receiver/digitiser.hpp"
#include "examples/receiver/knobs.hpp"
#include "libtune/child.hpp"
#include "operations/fft/fft.hpp"

namespace {

using seconds = std::chrono::duration<double>;

struct settings {
  receiver::settings sizes{.antennas = 8, .channels = 4096, .heaps = 4};
  double seconds = 100;
  double by_hand = 25;
  double lasts = 60;
  std::optional<std::size_t> device;
};

double since(std::chrono::steady_clock::time_point start) {
  return seconds(std::chrono::steady_clock::now() - start).count();
}

double quantile_of(const std::vector<double>& sorted, double part) {
  const auto at = static_cast<std::size_t>(part * static_cast<double>(sorted.size()));
  return sorted[std::min(at, sorted.size() - 1)];
}

class comparison {
 public:
  comparison(const tune::context& context, const settings& given, bool polls)
      : given_(given),
        polls_(polls),
        context_(context),
        deadline_(3 * given.sizes.frame_seconds()),
        space_(receiver::knobs_of(given.sizes, polls).space()),
        make_(receiver::receivers(context, given.sizes, deadline_)) {}

  void run() {
    fmt::print("Deadline {:.3f} ms, {} configurations\n", 1e3 * deadline_, space_.size());
    const auto start = std::chrono::steady_clock::now();
    std::size_t runs = 0;
    const tune::tuned_knobs tuned =
        receiver::tune_knobs(context_, given_.sizes, polls_, tune::kernel_turns::after_knobs,
                             deadline_, given_.seconds, [&](const tune::pipeline_run&) { ++runs; });
    fmt::print("tuned: {:.0f} million samples/s with {}; {:.1f} s in {} runs, {:.1f} s in all\n",
               1e-6 * tuned.rate, to_string(tuned.knobs.values()), tuned.contest.spent.count(),
               runs, since(start));
    print_standings(tuned.contest);
    const auto by_hand = receiver::knobs_of(given_.sizes, polls_).by_hand();
    const double hand = compete("by hand", {space_.find(by_hand.values()).value()});
    const double swept = compete("by hand, swept over heaps and waiting", swept_by_hand(by_hand));
    if (hand > 0 && swept > 0) {
      fmt::print("tuned : by hand {:.3f}; tuned : swept {:.3f}\n", tuned.rate / hand,
                 tuned.rate / swept);
    }
    for (const double load : {0.9, 0.95}) last(tuned, load);
  }

 private:
  std::vector<std::size_t> swept_by_hand(const tune::configuration& by_hand) const {
    std::vector<std::size_t> found;
    for (std::size_t i = 0; i < space_.size(); ++i) {
      const tune::configuration one(space_.values(i));
      const bool others = one["in_flight"] == by_hand["in_flight"] &&
                          one["uploads"] == by_hand["uploads"] &&
                          one["graphs"] == by_hand["graphs"];
      if (others) found.push_back(i);
    }
    return found;
  }

  double compete(const std::string& name, const std::vector<std::size_t>& of) {
    std::unique_ptr<tune::tuned_pipeline> built;
    std::size_t heaps = 0;
    const tune::contest_result found = tune::find_best_pipeline(
        {.deadline = seconds(deadline_)}, of, {.budget = seconds(given_.by_hand)},
        [&](std::size_t index, const tune::pipeline_load& load) {
          const tune::configuration knobs(space_.values(index));
          if (!built || !built->change(knobs)) {
            built.reset();
            built = make_(knobs);
            heaps = static_cast<std::size_t>(knobs["heaps"]);
          }
          return std::optional(built->run(load));
        });
    const tune::contest_standing& best = found.standings.front();
    fmt::print("{}: {:.0f} million samples/s with {}\n", name, 1e-6 * best.kept_rate,
               to_string(space_.values(best.configuration)));
    return found.has_winner ? best.kept_rate : 0;
  }

  void print_standings(const tune::contest_result& of) const {
    for (const tune::contest_standing& each : of.standings) {
      fmt::print("  {}: throughput {:.0f}, kept {:.0f} million samples/s, {} of {} late\n",
                 to_string(space_.values(each.configuration)), 1e-6 * each.throughput,
                 1e-6 * each.kept_rate, each.late, each.frames);
    }
  }

  void last(const tune::tuned_knobs& tuned, double load) const {
    const receiver::chosen_knobs chosen = receiver::from(tuned.knobs);
    receiver::settings sizes = given_.sizes;
    sizes.frames_of_dump =
        std::max<std::size_t>(1, sizes.frames_of_dump * sizes.heaps / chosen.heaps);
    sizes.heaps = chosen.heaps;
    sizes.sample_rate = load * tuned.rate;
    const receiver::digitiser input(sizes);
    receiver::telescope telescope(context_, sizes, input, false);
    telescope.set_deadline(deadline_);
    telescope.run(20, false, chosen.run);
    const auto frames = static_cast<std::size_t>(given_.lasts / sizes.frame_seconds());
    const receiver::run_report report = telescope.run(frames, true, chosen.run);
    std::vector<double> sorted = telescope.record().latencies();
    std::ranges::sort(sorted);
    fmt::print(
        "{:.0f} % of it, {} frames in {:.1f} s: {} late, {} of them with a stop of the program; "
        "half {:.3f} ms, 99 % {:.3f}, 99.9 % {:.3f}, 99.99 % {:.3f}, longest {:.3f}, without "
        "stops {:.3f}; 99.9 % : half {:.3f}; longest stop {:.3f} ms\n",
        100 * load, frames, report.elapsed, report.late, report.late_stopped, 1e3 * report.median,
        1e3 * quantile_of(sorted, 0.99), 1e3 * report.p999, 1e3 * quantile_of(sorted, 0.9999),
        1e3 * report.longest, 1e3 * sorted.back(), report.p999 / report.median,
        1e3 * report.stopped);
  }

  settings given_;
  bool polls_;
  tune::context context_;
  double deadline_;
  tune::search_space space_;
  tune::pipeline_maker make_;
};

}  // namespace

int main(int argc, char** argv) {
  tune::serve_if_worker(argc, argv);
  CLI::App app("Compares tuned knobs of a receiver with those set by hand.");
  settings given;
  app.add_option("--antennas", given.sizes.antennas)->capture_default_str();
  app.add_option("--channels", given.sizes.channels)->capture_default_str();
  app.add_option("--heaps", given.sizes.heaps, "of a frame, by hand")->capture_default_str();
  app.add_option("--seconds", given.seconds, "to tune the knobs")->capture_default_str();
  app.add_option("--by-hand", given.by_hand, "seconds of the contests by hand")
      ->capture_default_str();
  app.add_option("--long", given.lasts, "seconds at 90 and at 95 %")->capture_default_str();
  app.add_option("--device", given.device, "index of the device, as tunedb lists them");
  CLI11_PARSE(app, argc, argv);
  try {
    const tune::device device = examples::choose_device(given.device);
    fmt::print("Device: {}; {} antennas, {} channels\n", device.name(), given.sizes.antennas,
               given.sizes.channels);
    comparison(device.create_context(), given, device.kind() == tune::device_kind::gpu).run();
    return 0;
  } catch (const std::exception& failure) {
    fmt::print(stderr, "receiver_knobs_bench: {}\n", failure.what());
    return 1;
  }
}
