// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "operations/telescope/pfb/pfb_weights.hpp"

#include <cmath>
#include <fmt/format.h>
#include <numbers>

namespace tune::operations {
namespace {

double sinc(double x) {
  const double angle = std::numbers::pi * x;
  return angle == 0 ? 1 : std::sin(angle) / angle;
}

}  // namespace

std::vector<float> pfb_weights(std::size_t taps, std::size_t step, double cutoff,
                               pfb_window window) {
  const std::size_t count = taps * step;
  if (count == 0 || (count == 1 && window == pfb_window::hann)) {
    throw argument_error(
        fmt::format("pfb_weights cannot make {} x {} weights; ask for more taps, or a longer step",
                    taps, step));
  }
  std::vector<double> exact(count);
  double energy = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const auto place = static_cast<double>(i);
    const double x = (place + 0.5) / static_cast<double>(step) - static_cast<double>(taps) / 2;
    exact[i] = sinc(cutoff * x);
    if (window == pfb_window::hann) {
      const double sine = std::sin(std::numbers::pi * place / static_cast<double>(count - 1));
      exact[i] *= sine * sine;
    }
    energy += exact[i] * exact[i];
  }
  const double scale = 1 / std::sqrt(energy);
  std::vector<float> weights;
  weights.reserve(count);
  for (const double weight : exact) weights.push_back(static_cast<float>(weight * scale));
  return weights;
}

}  // namespace tune::operations
