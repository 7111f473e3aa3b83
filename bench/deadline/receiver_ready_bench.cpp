// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Question: which part of its final throughput does a receiver reach that has had a given time to
// tune its kernels, from an empty database?
//
// The receiver of examples/receiver (8 antennas, 4096 channels by default). For each time of
// --within a receiver is built by get_ready; with --plain by LIBTUNE_READY alone, where keys are
// searched in the order of construction, for one time only. Then one is built without a limit of
// time. Each has a database and a folder of compiled programs of its own in --folder, empty before;
// on CUDA set CUDA_CACHE_DISABLE=1, too. Nothing is tuned behind them. Last, rounds of --round
// seconds alternate between all receivers, each with frames as fast as it takes them. Reported: the
// report of each get_ready; for each receiver the median of its throughputs in all rounds, and its
// part of the final one.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "examples/common/choose_device.hpp"
#include "examples/receiver/digitiser.hpp"
#include "examples/receiver/receiver.hpp"
#include "libtune/child.hpp"
#include "libtune/extra/behind.hpp"
#include "libtune/extra/ready.hpp"

namespace {

using seconds = std::chrono::duration<double>;

struct settings {
  receiver::settings sizes{.antennas = 8, .channels = 4096, .heaps = 4};
  std::vector<double> within{15, 30, 60};
  std::string folder;
  bool plain = false;
  double round = 2;
  std::size_t rounds = 7;
  std::optional<std::size_t> device;
};

double since(std::chrono::steady_clock::time_point start) {
  return seconds(std::chrono::steady_clock::now() - start).count();
}

double median_of(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

/// A receiver with its throughputs.
struct contender {
  std::string name;
  std::unique_ptr<receiver::telescope> telescope{};
  std::vector<double> rates{};  // million samples/s of each input
};

class comparison {
 public:
  comparison(const tune::context& context, const settings& given, bool polls)
      : given_(given),
        context_(context),
        input_(given.sizes),
        knobs_{.wait = polls ? tune::loop_wait::polling : tune::loop_wait::asleep} {}

  void run() {
    const tune::behind_pause nothing_behind;
    for (const double within : given_.within) {
      contenders_.push_back(given_.plain ? build_plainly(within) : build_ready(within));
    }
    contenders_.push_back(finish());
    for (std::size_t round = 0; round < given_.rounds; ++round) {
      for (contender& each : contenders_) each.rates.push_back(rate_of(*each.telescope));
    }
    const double last = median_of(contenders_.back().rates);
    for (const contender& each : contenders_) {
      const double rate = median_of(each.rates);
      fmt::print(
          "{:>12}: {:.0f} million samples/s, {:.3f} of the final throughput; {:.0f} to {:.0f}\n",
          each.name, rate, rate / last, *std::ranges::min_element(each.rates),
          *std::ranges::max_element(each.rates));
    }
  }

 private:
  std::unique_ptr<receiver::telescope> make() const {
    return std::make_unique<receiver::telescope>(context_, given_.sizes, input_, false);
  }

  /// Names an empty database, and lets programs be kept in an empty folder from now on.
  std::string empty_database(const std::string& name) const {
    const std::string programs = fmt::format("{}/{}-programs", given_.folder, name);
    ::setenv("LIBTUNE_CACHE", programs.c_str(), 1);
    return fmt::format("{}/{}.db", given_.folder, name);
  }

  contender build_ready(double within) const {
    tune::set_tuning_options(context_, {.database = empty_database(fmt::format("{:g}", within))});
    contender made{.name = fmt::format("{:g} s", within)};
    const tune::readiness_report report =
        tune::get_ready(context_,
                        [&] {
                          made.telescope.reset();
                          made.telescope = make();
                        },
                        {.within = std::chrono::round<std::chrono::nanoseconds>(seconds(within)),
                         .frame = [&] { return made.telescope->frame_parts(); }});
    fmt::print("{}\n", to_string(report));
    return made;
  }

  contender build_plainly(double within) const {
    tune::set_tuning_options(
        context_, {.database = empty_database(fmt::format("{:g}", within)),
                   .ready = std::chrono::round<std::chrono::nanoseconds>(seconds(within))});
    const auto start = std::chrono::steady_clock::now();
    contender made{.name = fmt::format("{:g} s, plain", within), .telescope = make()};
    fmt::print("Built after {:.1f} s, in the order of construction\n\n", since(start));
    return made;
  }

  contender finish() const {
    tune::set_tuning_options(context_,
                             {.database = empty_database("final"), .ready = tune::no_ready_limit});
    const auto start = std::chrono::steady_clock::now();
    contender made{.name = "final", .telescope = make()};
    fmt::print("Built after {:.1f} s, without a limit of time\n\n", since(start));
    return made;
  }

  double rate_of(receiver::telescope& of) const {
    const auto samples = static_cast<double>(given_.sizes.samples());
    constexpr std::size_t probe = 32;
    const double frame = of.run(probe, false, knobs_).elapsed / static_cast<double>(probe);
    const auto frames = std::max(probe, static_cast<std::size_t>(given_.round / frame));
    return 1e-6 * static_cast<double>(frames) * samples / of.run(frames, false, knobs_).elapsed;
  }

  settings given_;
  tune::context context_;
  receiver::digitiser input_;
  receiver::run_knobs knobs_;
  std::vector<contender> contenders_;
};

}  // namespace

int main(int argc, char** argv) {
  tune::serve_if_worker(argc, argv);
  CLI::App app("Compares receivers that had little time to tune with one that is tuned.");
  settings given;
  app.add_option("--antennas", given.sizes.antennas)->capture_default_str();
  app.add_option("--channels", given.sizes.channels)->capture_default_str();
  app.add_option("--heaps", given.sizes.heaps, "of a frame")->capture_default_str();
  app.add_option("--within", given.within, "seconds to be ready, with commas between them")
      ->delimiter(',')
      ->capture_default_str();
  app.add_option("--folder", given.folder, "for the databases; must not exist yet")->required();
  app.add_flag("--plain", given.plain, "without get_ready; one time only");
  app.add_option("--round", given.round, "seconds of a round")->capture_default_str();
  app.add_option("--rounds", given.rounds)->capture_default_str()->check(CLI::Range(1, 1000));
  app.add_option("--device", given.device, "index of the device, as tunedb lists them");
  CLI11_PARSE(app, argc, argv);
  try {
    if (given.plain && given.within.size() != 1) {
      throw std::runtime_error("with --plain, --within is one time");
    }
    if (!std::filesystem::create_directory(given.folder)) {
      throw std::runtime_error("--folder " + given.folder + " exists already");
    }
    std::filesystem::permissions(given.folder, std::filesystem::perms::owner_all);
    const tune::device device = examples::choose_device(given.device);
    fmt::print("Device: {}; {} antennas, {} channels\n", device.name(), given.sizes.antennas,
               given.sizes.channels);
    comparison(device.create_context(), given, device.kind() == tune::device_kind::gpu).run();
    return 0;
  } catch (const std::exception& failure) {
    fmt::print(stderr, "receiver_ready_bench: {}\n", failure.what());
    return 1;
  }
}
