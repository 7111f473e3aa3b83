// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Question: does the best configuration of a flagger depend on the contents of its input?
//
// Each operation of the flaggers is captured twice, with noise and with strong interference (a
// fifth of the channels up to a million times as strong, and bursts over all channels), and then
// tuned with each of the two frames as its inputs (LIBTUNE_INPUTS), at the same shape. Printed are
// the best configurations by either, with their times on both, and the time that the winner on
// noise loses with interference.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <unistd.h>
#include <vector>

#include "examples/common/choose_device.hpp"
#include "libtune/child.hpp"
#include "libtune/extra/capture.hpp"
#include "operations/telescope/rfi/flagger.hpp"
#include "operations/telescope/rfi2d/rfi2d.hpp"

namespace {

using namespace tune::operations;  // NOLINT: the subjects
using tune::shape;

struct settings {
  std::size_t channels = 0;
  std::size_t baselines = 0;
  std::size_t times = 16;
  std::size_t shown = 6;
  std::string only;
  std::string budget;
  std::optional<std::size_t> device;
};

enum class contents { noise, interference };

/// Normal numbers, some of them with interference, for channels x baselines in any order.
class sky {
 public:
  sky(contents kind, std::size_t channels) : strong_(kind == contents::interference) {
    std::uniform_real_distribution<float> exponent(0, 6);
    for (std::size_t c = 0; c < channels; ++c) {
      const bool is_hit = strong_ && random_() % 5 == 0;
      strength_.push_back(is_hit ? std::pow(10.0F, exponent(random_)) : 0.0F);
    }
  }
  float amplitude(std::size_t channel) {
    return std::abs(normal_(random_)) + strength_[channel] * std::abs(normal_(random_)) + burst_;
  }
  float deviation(std::size_t channel) {
    return normal_(random_) + strength_[channel] * std::abs(normal_(random_)) + burst_;
  }
  /// Begins a row of samples, which may be in a burst.
  void begin_row() { burst_ = strong_ && random_() % 8 == 0 ? 1e4F : 0.0F; }

 private:
  bool strong_;
  float burst_ = 0;
  std::mt19937 random_{7};
  std::normal_distribution<float> normal_{};
  std::vector<float> strength_{};
};

/// An operation that is captured and tuned.
struct subject {
  std::string name;
  std::function<std::unique_ptr<tune::operation>(const tune::command_queue&)> make;
  std::function<void(tune::operation&, contents)> fill;
  /// Tunes the key of a captured run.
  std::function<void(const tune::context&, const std::vector<tune::named_value>& key,
                     const tune::tuning_options&)>
      tune;
};

template <class Key, class Tuning>
auto key_tuner(const tune::autotuner<Key, Tuning>& autotune) {
  return [&autotune](const tune::context& context, const std::vector<tune::named_value>& key,
                     const tune::tuning_options& options) {
    autotune(context, tune::from_values<Key>(key), options);
  };
}

template <class T>
void set(tune::operation& of, const char* slot, const shape& size,
         const std::function<T(std::size_t)>& element) {
  std::vector<T> values(size.elements());
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = element(i);
  of.buffer(slot).set(of.queue(),
                      tune::host_array<T>::copy_of({values.data(), values.size()}, size));
}

/// Deviations, baseline by baseline.
void set_deviations(tune::operation& of, contents kind, std::size_t channels,
                    std::size_t baselines) {
  sky from(kind, channels);
  set<float>(of, "deviations", {baselines, channels}, [&](std::size_t i) {
    if (i % channels == 0) from.begin_row();
    return from.deviation(i % channels);
  });
}

std::vector<subject> subjects(const settings& given) {
  const std::size_t channels = given.channels;
  const std::size_t baselines = given.baselines;
  std::vector<subject> all;
  const rfi::background_key background{.width = 13, .is_amplitude = true};
  all.push_back({"background",
                 [=](const auto& queue) {
                   const rfi::background_median_filter_template made(queue.context(), background,
                                                                     rfi::background_tuning{});
                   return std::make_unique<rfi::background_median_filter>(
                       made.instantiate(queue, channels, baselines));
                 },
                 [=](tune::operation& of, contents kind) {
                   sky from(kind, channels);
                   set<float>(of, "vis", {channels, baselines}, [&](std::size_t i) {
                     if (i % baselines == 0) from.begin_row();
                     return from.amplitude(i / baselines);
                   });
                 },
                 key_tuner(rfi::background_median_filter_template::autotune)});
  all.push_back(
      {"noise estimate",
       [=](const auto& queue) {
         const rfi::noise_estimate_template made(queue.context(), rfi::data_order::baseline_major,
                                                 channels, rfi::noise_estimate_tuning{});
         return std::make_unique<rfi::noise_estimate>(made.instantiate(queue, channels, baselines));
       },
       [=](tune::operation& of, contents kind) { set_deviations(of, kind, channels, baselines); },
       key_tuner(rfi::noise_estimate_template::autotune)});
  const rfi::threshold_sum_key threshold{.order = rfi::data_order::channel_major};
  all.push_back({"threshold",
                 [=](const auto& queue) {
                   const rfi::threshold_sum_template made(queue.context(), threshold,
                                                          rfi::threshold_sum_tuning{});
                   return std::make_unique<rfi::threshold_sum>(
                       made.instantiate(queue, channels, baselines));
                 },
                 [=](tune::operation& of, contents kind) {
                   set_deviations(of, kind, channels, baselines);
                   set<float>(of, "noise", {baselines}, [](std::size_t) { return 1.0F; });
                 },
                 key_tuner(rfi::threshold_sum_template::autotune)});
  all.push_back(
      {"rfi2d",
       [=](const auto& queue) {
         const rfi2d_template made(queue.context(), {}, rfi2d_tuning{});
         return std::make_unique<rfi2d>(made.instantiate(queue, given.times, channels, baselines));
       },
       [=](tune::operation& of, contents kind) {
         const shape size{given.times, channels, baselines};
         sky from(kind, channels);
         set<std::complex<float>>(of, "vis", size, [&](std::size_t i) {
           if (i % (channels * baselines) == 0) from.begin_row();
           return std::complex<float>(from.amplitude(i / baselines % channels), 0);
         });
         set<std::uint8_t>(of, "input_flags", size, [](std::size_t) { return std::uint8_t{0}; });
       },
       key_tuner(rfi2d_template::autotune)});
  std::erase_if(
      all, [&](const subject& each) { return !given.only.empty() && each.name != given.only; });
  return all;
}

/// Captures a run of a subject in a folder.
void capture(const subject& of, const tune::context& context, contents kind,
             const std::filesystem::path& folder) {
  const tune::command_queue queue = context.create_command_queue();
  const auto made = of.make(queue);
  made->ensure_all_bound();
  of.fill(*made, kind);
  tune::capture frames("flagging", {.folder = folder,
                                    .each_nth = 1,
                                    .memory_bytes = std::size_t{32} << 30,
                                    .bytes_per_second = 0});
  const auto point = frames.add(of.name, *made);
  frames.prepare();
  tune::frame_snapshot frame = frames.begin();
  point.run(frame);
  frames.end(frame);
  if (!frames.wait() || frames.counts().written != 1) throw tune::error(frames.last_failure());
}

/// The times of all configurations of a search, in ns.
using times = std::map<std::string, double>;

class recorder final : public tune::observer {
 public:
  void trial_finished(const tune::tuning_subject&, const tune::trial& made) override { note(made); }
  void trial_refined(const tune::tuning_subject&, const tune::trial& made) override { note(made); }
  times found{};

 private:
  void note(const tune::trial& made) {
    if (made.score) found[tune::to_string(made.configuration)] = made.score->count();
  }
};

times tune_with(const subject& of, const tune::context& context, const settings& given,
                const std::filesystem::path& frames) {
  ::setenv("LIBTUNE_INPUTS", frames.c_str(), 1);  // NOLINT(concurrency-mt-unsafe): one thread
  const auto heard = std::make_shared<recorder>();
  tune::tuning_options options{.database = (frames.parent_path() / "tuning.db").string(),
                               .mode = tune::tuning_mode::force};
  options.strategy = "random";  // the same configurations for both contents
  if (!given.budget.empty()) options.budget = tune::budget_from_text(given.budget);
  options.observers = {heard};
  of.tune(context, tune::find_captured_keys(frames).keys.at(0).key, options);
  return heard->found;
}

std::string best_of(const times& found) {
  return std::ranges::min_element(found, {}, [](const auto& each) { return each.second; })->first;
}

void print_both(const times& noise, const times& interference, std::size_t shown) {
  std::vector<std::pair<double, std::string>> order;
  for (const auto& [configuration, time] : noise) {
    const auto other = interference.find(configuration);
    if (other == interference.end()) continue;
    order.emplace_back(std::min(time / noise.at(best_of(noise)),
                                other->second / interference.at(best_of(interference))),
                       configuration);
  }
  std::ranges::sort(order);
  if (order.size() > shown) order.resize(shown);
  fmt::print("  {:>12} {:>16}  configuration\n", "noise us", "interference us");
  for (const auto& [rank, configuration] : order) {
    fmt::print("  {:>12.1f} {:>16.1f}  {}\n", noise.at(configuration) / 1e3,
               interference.at(configuration) / 1e3, configuration);
  }
}

void run(const subject& of, const tune::context& context, const settings& given,
         const std::filesystem::path& folder) {
  const auto frames_of = [&](contents kind) {
    const auto place =
        folder / fmt::format("{}-{}", of.name, kind == contents::noise ? "noise" : "interference");
    capture(of, context, kind, place);
    return place;
  };
  const times noise = tune_with(of, context, given, frames_of(contents::noise));
  const times interference = tune_with(of, context, given, frames_of(contents::interference));
  fmt::print("{}, {} channels x {} baselines\n", of.name, given.channels, given.baselines);
  print_both(noise, interference, given.shown);
  const std::string first = best_of(noise);
  const std::string second = best_of(interference);
  fmt::print("  winner on noise:        {}\n  winner on interference: {}\n", first, second);
  if (const auto there = interference.find(first); there != interference.end()) {
    fmt::print("  on interference the winner on noise takes {:.1f} % longer\n",
               100 * (there->second / interference.at(second) - 1));
  } else {
    fmt::print("  the winner on noise was not measured on interference\n");
  }
  std::fflush(stdout);  // the next subject may take minutes
}

}  // namespace

int main(int argc, char** argv) {
  tune::serve_if_worker(argc, argv);
  settings given;
  CLI::App app("Does the best configuration of a flagger depend on its contents?");
  app.add_option("--channels", given.channels, "4096 on a GPU, else 512");
  app.add_option("--baselines", given.baselines, "2016 on a GPU, else 32");
  app.add_option("--times", given.times, "of rfi2d")->capture_default_str();
  app.add_option("--operation", given.only, "background, noise estimate, threshold or rfi2d; all");
  app.add_option("--budget", given.budget, "of each search, as LIBTUNE_BUDGET: 60 s, 100 trials");
  app.add_option("--shown", given.shown, "configurations")->capture_default_str();
  app.add_option("--device", given.device, "the index of a device");
  CLI11_PARSE(app, argc, argv);
  try {
    const tune::device device = examples::choose_device(given.device);
    const bool is_gpu = device.kind() == tune::device_kind::gpu;
    if (given.channels == 0) given.channels = is_gpu ? 4096 : 512;
    if (given.baselines == 0) given.baselines = is_gpu ? 2016 : 32;
    const tune::context context = device.create_context();
    const auto folder =
        std::filesystem::temp_directory_path() / fmt::format("libtune_inputs_{}", ::getpid());
    std::filesystem::create_directories(folder);
    std::filesystem::permissions(folder, std::filesystem::perms::owner_all);
    fmt::print("{}\n", device.name());
    for (const subject& each : subjects(given)) run(each, context, given, folder);
    std::filesystem::remove_all(folder);
  } catch (const std::exception& failure) {
    fmt::print(stderr, "inputs_bench: {}\n", failure.what());
    return 1;
  }
}
