// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// A pipeline on a virtual clock: frames of several heaps pass the host, an upload, a kernel and a
// download, with noise, bursts in which the device is slower, and stops of the host with heavy
// tails.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <random>
#include <vector>

#include "libtune/extra/deadline/frame_record.hpp"

namespace bench {

/// A pipeline of a simulated machine. Configurations are numbered.
class simulated_pipeline {
 public:
  explicit simulated_pipeline(std::uint64_t seed) : random_(seed) {
    const auto between = [&](double low, double high) {
      return low * std::exp(uniform(random_) * std::log(high / low));
    };
    launch_ = between(20e-6, 120e-6);
    graph_gain_ = between(0.2, 0.8);
    upload_ = {between(5e-6, 30e-6), between(50e-6, 250e-6)};
    compute_ = {between(10e-6, 200e-6), between(60e-6, 250e-6)};
    download_ = {between(5e-6, 30e-6), between(20e-6, 120e-6)};
    wake_ = between(20e-6, 100e-6);
    noise_ = between(0.005, 0.05);
    deadline_ = between(2, 6) * 4 * std::max({upload_[1], compute_[1], download_[1]});
    burst_rate_ = between(1, 20);
    burst_seconds_ = between(1e-3, 10e-3);
    burst_factor_ = between(1.05, 1.5);
    stop_rate_ = between(0.01, 0.3);
    stop_least_ = between(0.2e-3, 1e-3);
    for (double& each : irregular_) each = std::exp(0.05 * normal(random_));
    place_disturbances();
  }

  static constexpr std::array<int, 5> heaps{1, 2, 4, 8, 16};
  static constexpr std::array<int, 4> in_flight{1, 2, 3, 4};
  static constexpr double horizon = 300;  // s, after which the disturbances repeat
  static constexpr std::size_t count = heaps.size() * in_flight.size() * 4;

  /// The units of a frame: its heaps.
  static int units_of(std::size_t configuration) {
    return heaps[configuration / (in_flight.size() * 4)];
  }
  /// Seconds.
  double deadline() const { return deadline_; }

  /// Runs frames from the present time on, or from another one.
  /// @param most_late  ends after this many late frames
  tune::frame_record run(std::size_t configuration, const tune::pipeline_load& load,
                         std::optional<double> from = std::nullopt,
                         std::size_t most_late = std::numeric_limits<std::size_t>::max()) {
    const int of_frame = units_of(configuration);
    const auto most = static_cast<std::size_t>(in_flight[configuration / 4 % in_flight.size()]);
    const bool graph = configuration % 2 != 0;
    const bool sleeps = configuration / 2 % 2 != 0;
    const double h = of_frame;
    const double host = launch_ * (graph ? graph_gain_ : 1);
    const double begin = from.value_or(now_);
    tune::frame_record made;
    std::array<double, 4> free{begin, begin, begin, begin};
    std::vector<double> ends;
    std::size_t late = 0;
    double end = begin;
    for (std::size_t n = 0;; ++n) {
      const double room = n >= most ? ends[n - most] : begin;
      const double ready = load.rate > 0 ? begin + static_cast<double>(n + 1) * h / load.rate
                                         : std::max(room, free[0]);
      if (ready > begin + load.duration.count()) break;
      const double factor = irregular_[configuration];
      double t = std::max({ready, room, free[0]});
      t = free[0] = after_stops(t) + host * jitter();
      t = free[1] = std::max(t, free[1]) + slowed(t, (upload_[0] + upload_[1] * h) * jitter());
      t = free[2] =
          std::max(t, free[2]) + slowed(t, (compute_[0] + compute_[1] * h) * factor * jitter());
      t = free[3] = std::max(t, free[3]) + slowed(t, (download_[0] + download_[1] * h) * jitter());
      if (sleeps) t += wake_ * std::exp(0.8 * normal(random_));
      end = std::max(end, after_stops(t));
      ends.push_back(end);
      made.add(tune::frame_record::seconds(ready - begin),
               tune::frame_record::seconds(end - begin));
      late += end - ready > deadline_ ? 1 : 0;
      if (late > most_late) break;
    }
    const double elapsed = std::max(end - begin, 1e-9);
    made.finish(h * static_cast<double>(ends.size()), tune::frame_record::seconds(elapsed));
    if (!from) now_ += elapsed + 1e-3;
    return made;
  }

 private:
  void place_disturbances() {
    std::exponential_distribution<double> to_burst(burst_rate_), to_stop(stop_rate_);
    for (double t = to_burst(random_); t < horizon; t += to_burst(random_)) {
      bursts_.push_back({t, t + burst_seconds_});
    }
    for (double t = to_stop(random_); t < horizon; t += to_stop(random_)) {
      const double length = stop_least_ * std::pow(uniform(random_) + 1e-9, -1 / 1.8);
      stops_.push_back({t, t + std::min(length, 0.05)});
    }
  }
  static bool is_in(const std::vector<std::array<double, 2>>& spans, double& t) {
    t = std::fmod(t, horizon);
    auto at = std::ranges::upper_bound(spans, t, {}, [](const auto& span) { return span[0]; });
    return at != spans.begin() && t < (*--at)[1] && (t = (*at)[1], true);
  }
  double after_stops(double t) const {
    double within = t;
    const double before = std::fmod(t, horizon);
    return is_in(stops_, within) ? t + (within - before) : t;
  }
  double slowed(double t, double work) const {
    return is_in(bursts_, t) ? work * burst_factor_ : work;
  }
  double jitter() { return std::exp(noise_ * normal(random_)); }

  std::mt19937_64 random_;
  std::uniform_real_distribution<double> uniform{0, 1};
  std::normal_distribution<double> normal{0, 1};
  double launch_, graph_gain_, wake_, noise_, deadline_;
  std::array<double, 2> upload_{}, compute_{}, download_{};
  double burst_rate_, burst_seconds_, burst_factor_, stop_rate_, stop_least_;
  std::array<double, count> irregular_{};
  std::vector<std::array<double, 2>> bursts_, stops_;
  double now_ = 0;
};

}  // namespace bench
