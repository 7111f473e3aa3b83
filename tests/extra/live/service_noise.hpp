// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <cstdint>
#include <random>

namespace tune::testing {

/// Disturbs times as a device in service does: noise of a few per cent, outliers, slow drift of
/// clocks, steps of clocks, and neighbours that come and go. The same times for the same seed.
class service_noise {
 public:
  explicit service_noise(std::uint64_t seed) : random_(seed * 0x9E3779B97F4A7C15U) {
    level_ = 0.01 + 0.03 * uniform_(random_);
    period_ = 200 + 2000 * uniform_(random_);
  }

  double next(double time) {
    ++count_;
    const double noise = std::exp(level_ * normal_(random_));
    const double wave = 1 + 0.04 * std::sin(6.283 * count_ / period_);
    if (uniform_(random_) < 0.0005) step_ = std::exp(0.05 * normal_(random_));
    if (uniform_(random_) < (busy_ ? 0.02 : 0.002)) busy_ = !busy_;
    const double neighbour = busy_ ? 1.15 : 1;
    const double outlier = uniform_(random_) < 0.01 ? 1 + 9 * uniform_(random_) : 1;
    return time * noise * wave * step_ * neighbour * outlier;
  }

 private:
  std::mt19937_64 random_;
  std::normal_distribution<double> normal_;
  std::uniform_real_distribution<double> uniform_{0, 1};
  double level_ = 0;
  double period_ = 0;
  double count_ = 0;
  double step_ = 1;
  bool busy_ = false;
};

}  // namespace tune::testing
