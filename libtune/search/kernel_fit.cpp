// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/search/kernel_fit.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "libtune/search/gaussian_process.hpp"

namespace tune::detail {
namespace {

using settings = additive_kernel::settings;

/// What is believed of one setting beforehand, and where it may go.
struct belief {
  double usual;
  double spread;  // of the logarithm
  float least;
  float most;

  double log_probability(float number) const {
    const double off = std::log(static_cast<double>(number) / usual) / spread;
    return -0.5 * off * off;
  }
};

constexpr belief of_scales{1.0, 1.0, 0.05F, 20.0F};
constexpr belief of_weights{1.0, 1.5, 0.02F, 50.0F};
constexpr belief of_noise{2e-3, 2.0, 1e-4F, 0.3F};

class climbing {
 public:
  climbing(const coordinates& places, settings from, std::span<const std::uint32_t> points,
           std::span<const float> values)
      : places_(places), with_(std::move(from)), points_(points), values_(values), best_(rate()) {}

  settings run() {
    for (float& scale : with_.scales) climb(scale, 1.8F, of_scales);
    climb(with_.single, 3, of_weights);
    climb(with_.pair, 3, of_weights);
    climb(with_.noise, 3, of_noise);
    return std::move(with_);
  }

 private:
  /// Goes on with a setting as long as it helps.
  void climb(float& number, float factor, const belief& believed) {
    for (const float step : {factor, 1 / factor}) {
      bool better = false;
      while (takes(number, std::clamp(number * step, believed.least, believed.most))) better = true;
      if (better) return;
    }
  }

  bool takes(float& number, float other) {
    if (other == number) return false;
    const float before = std::exchange(number, other);
    const double rated = rate();
    if (rated > best_) {
      best_ = rated;
      return true;
    }
    number = before;
    return false;
  }

  double rate() const {
    double sum = log_likelihood(additive_kernel(places_, with_), points_, values_);
    for (const float scale : with_.scales) sum += of_scales.log_probability(scale);
    sum += of_weights.log_probability(with_.single) + of_weights.log_probability(with_.pair);
    return sum + of_noise.log_probability(with_.noise);
  }

  const coordinates& places_;
  settings with_;
  std::span<const std::uint32_t> points_;
  std::span<const float> values_;
  double best_;
};

}  // namespace

additive_kernel::settings fit_kernel(const coordinates& places, additive_kernel::settings from,
                                     std::span<const std::uint32_t> points,
                                     std::span<const float> values) {
  return climbing(places, std::move(from), points, values).run();
}

}  // namespace tune::detail
