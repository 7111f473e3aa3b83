// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Question: does a receiver stay right, sealed and of the same size for hours, whatever happens to
// it? bench/soak/soak.py starts this program, disturbs it, and judges.
//
// Rounds of --round seconds. In each the receiver of examples/receiver takes frames at --rate,
// sealed, with knobs that change; a frame is captured; kernels are tuned behind it; and a step with
// a new key, whose default is slow, is swapped for its tuned one. After each round the results are
// checked, and a line of JSON on standard output tells: frames, late ones, breaches of the seal,
// wrong results, swaps, keys tuned behind, captured frames, resident memory, open files, threads.
// The exit status is 1 after a breach or a wrong result.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bench/soak/live_step.hpp"
#include "examples/common/choose_device.hpp"
#include "examples/receiver/behind.hpp"
#include "examples/receiver/checks.hpp"
#include "examples/receiver/receiver.hpp"
#include "libtune/base/seal.hpp"
#include "libtune/child.hpp"

namespace {

namespace fs = std::filesystem;

struct arguments {
  receiver::settings sizes{.antennas = 2, .channels = 256, .heaps = 2};
  double seconds = 60;
  double round = 5;
  double rate = 0;
  fs::path captures;
  std::optional<std::size_t> device;
};

std::size_t entries(const char* folder) {
  const fs::directory_iterator all(folder);
  return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

std::size_t resident_kib() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmRSS:")) return std::stoul(line.substr(6));
  }
  return 0;
}

class soaked_receiver {
 public:
  soaked_receiver(const tune::context& context, const arguments& given)
      : given_(given),
        context_(context),
        input_(given.sizes),
        telescope_(context, given.sizes, input_, false, capture_of(given)) {
    // From now on new keys are tuned behind the frames.
    tune::set_tuning_options(context,
                             {.mode = tune::tuning_mode::behind, .behind = {.slack = 1.0}});
    set_rate();
  }

  void round(std::size_t number) {
    // A new key once the one before has been swapped, so that no keys pile up.
    if (!step_ || has_ended(step_->counts())) step_.emplace(context_, ++key_);
    receiver::tune_other_observations(context_, given_.sizes, 4);
    if (!given_.captures.empty()) telescope_.captured().request();
    std::size_t frame = 0;
    const receiver::frame_knobs each{[&] {
                                       step_->frame();
                                       return knobs_[frame++ / 64 % knobs_.size()];
                                     },
                                     [](const receiver::run_knobs&, double) {}};
    tune::seal({.mode = tune::seal_mode::counts});
    const receiver::run_report report = telescope_.run(frames_, true, *knobs_[0], each);
    const tune::seal_summary seal = tune::seal_report();
    tune::unseal();
    note(seal);
    const std::size_t wrong = wrong_results();
    wrong_ += wrong;
    print(number, report, wrong);
    discard_captures();
  }

  bool is_good() const noexcept { return wrong_ == 0 && breaches_ == 0; }

 private:
  static tune::capture_options capture_of(const arguments& given) {
    if (given.captures.empty()) return {};
    return {.folder = given.captures, .on_request = true, .most_frames = 1000000000};
  }

  /// 0.6 of the rate that the slowest knobs take without waiting for input, unless one is given.
  void set_rate() {
    constexpr std::size_t free_frames = 64;
    double slowest = std::numeric_limits<double>::infinity();
    for (const std::size_t in_flight : {2, 3, 4}) {
      for (const bool graphs : {true, false}) {
        knobs_.push_back(std::make_shared<receiver::run_knobs>(
            receiver::run_knobs{.in_flight = in_flight, .graphs = graphs}));
        telescope_.run(given_.sizes.frames_of_dump, false, *knobs_.back());  // the first frames
        const receiver::run_report free = telescope_.run(free_frames, false, *knobs_.back());
        slowest = std::min(
            slowest, static_cast<double>(free.frames * given_.sizes.samples()) / free.elapsed);
      }
    }
    const double rate = given_.rate > 0 ? 1e6 * given_.rate : 0.6 * slowest;
    given_.sizes.sample_rate = rate;
    telescope_.set_sample_rate(rate);
    const auto wanted = static_cast<std::size_t>(given_.round / given_.sizes.frame_seconds());
    frames_ = tune::round_up(std::max<std::size_t>(wanted, 1), given_.sizes.frames_of_dump);
    fmt::print(stderr, "{} frames of {:.3f} ms in a round\n", frames_,
               1e3 * given_.sizes.frame_seconds());
  }

  void note(const tune::seal_summary& seal) {
    breaches_ += seal.total();
    for (const tune::seal_breach& each : seal.first) {
      fmt::print(stderr, "breach: {} ({}), by {}\n", each.what,
                 tune::sealed_action_name(each.action), each.thread);
      for (const std::string& at : each.stack) fmt::print(stderr, "  {}\n", at);
    }
  }

  static bool has_ended(const tune::live_counts& swaps) {
    return swaps.kept + swaps.taken_back + swaps.refused > 0;
  }

  std::size_t wrong_results() {
    std::size_t wrong = step_->is_right() ? 0 : 1;
    for (const receiver::check& each :
         receiver::check_results(given_.sizes, input_.seen(), telescope_)) {
      if (each.passed) continue;
      ++wrong;
      fmt::print(stderr, "wrong {}: {}\n", each.name, each.found);
    }
    return wrong;
  }

  void print(std::size_t number, const receiver::run_report& report, std::size_t wrong) {
    telescope_.captured().wait();
    const tune::capture_counts captured = telescope_.captured().counts();
    const tune::behind_summary behind = tune::behind_report();
    const tune::live_counts swaps = step_->counts();
    kept_ += swaps.kept;
    fmt::print(
        R"({{"round": {}, "frames": {}, "late": {}, "late_stopped": {}, "median_ms": {:.3f}, )"
        R"("longest_ms": {:.3f}, "breaches": {}, "wrong": {}, "tried": {}, "kept": {}, )"
        R"("taken_back": {}, "refused": {}, "drifts": {}, "kept_in_all": {}, "tuned_behind": {}, )"
        R"("failed_behind": {}, "captured": {}, "not_captured": {}, "rss_kib": {}, "files": {}, )"
        R"("threads": {}}})"
        "\n",
        number, report.frames, report.late, report.late_stopped, 1e3 * report.median,
        1e3 * report.longest, breaches_, wrong, swaps.tried, swaps.kept, swaps.taken_back,
        swaps.refused, swaps.drifts, kept_, behind.tuned, behind.failed, captured.written,
        captured.failed + captured.skipped, resident_kib(), entries("/proc/self/fd"),
        entries("/proc/self/task"));
    std::fflush(stdout);
  }

  /// Leaves the newest captured frame, for a replay.
  void discard_captures() const {
    if (given_.captures.empty()) return;
    std::vector<fs::path> files;
    std::error_code ignored;
    for (const auto& each : fs::directory_iterator(given_.captures, ignored)) {
      files.push_back(each.path());
    }
    std::ranges::sort(files);
    if (!files.empty()) files.pop_back();
    for (const fs::path& each : files) fs::remove(each, ignored);
  }

  arguments given_;
  tune::context context_;
  receiver::digitiser input_;
  receiver::telescope telescope_;
  std::vector<std::shared_ptr<const receiver::run_knobs>> knobs_;
  std::optional<soak::live_step> step_;
  int key_ = 0;             // of the step
  std::size_t frames_ = 0;  // of a round
  std::size_t kept_ = 0;
  std::size_t wrong_ = 0;
  std::uint64_t breaches_ = 0;
};

int run(const arguments& given) {
  const tune::device device = examples::choose_device(given.device);
  const tune::context context = device.create_context();
  if (device.kind() != tune::device_kind::gpu) {
    tune::set_tuning_options(context, {.mode = tune::tuning_mode::defaults});
  }
  soaked_receiver soaked(context, given);
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(given.seconds);
  for (std::size_t number = 0; std::chrono::steady_clock::now() < end; ++number) {
    soaked.round(number);
  }
  return soaked.is_good() ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  tune::serve_if_worker(argc, argv);
  CLI::App app("Receives for hours while it is disturbed, and checks itself.");
  arguments given;
  app.add_option("--antennas", given.sizes.antennas)->capture_default_str();
  app.add_option("--channels", given.sizes.channels)->capture_default_str();
  app.add_option("--heaps", given.sizes.heaps, "of a frame")->capture_default_str();
  app.add_option("--seconds", given.seconds)->capture_default_str();
  app.add_option("--round", given.round, "seconds between checks")->capture_default_str();
  app.add_option("--rate", given.rate, "million samples/s; 0.6 of what the slowest knobs take");
  app.add_option("--captures", given.captures, "folder for captured frames");
  app.add_option("--device", given.device, "the index of a device");
  CLI11_PARSE(app, argc, argv);
  try {
    return run(given);
  } catch (const std::exception& failure) {
    fmt::print(stderr, "soak_bench: {}\n", failure.what());
    return 2;
  }
}
