// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/ranged/cost_model.hpp"

#include <algorithm>
#include <cmath>

namespace tune {
namespace {

constexpr std::size_t unknowns = most_cost_terms + 1;
// The weight of the common factors, relative to one sample.
constexpr double weight_of_common = 0.01;
constexpr double negligible = 1e-6;  // a smaller squared column is ignored
constexpr int most_sweeps = 500;
constexpr double settled = 1e-7;

using row = std::array<double, unknowns>;

/// The normal equations of a linear system whose right sides are 1.
class equations {
 public:
  void add(const cost_samples& of, const row& scale) {
    for (std::size_t s = 0; s < of.times.size(); ++s) {
      if (!std::isfinite(of.times[s])) continue;
      row scaled;
      for (std::size_t i = 0; i < unknowns; ++i) {
        const double term = i < most_cost_terms ? of.terms[s][i] : 1;
        scaled[i] = term / of.times[s] * scale[i];
      }
      for (std::size_t i = 0; i < unknowns; ++i) {
        if (scaled[i] == 0) continue;  // as for unused terms
        right_[i] += scaled[i];
        for (std::size_t j = 0; j < unknowns; ++j) products_[i][j] += scaled[i] * scaled[j];
      }
    }
  }

  /// Pulls the solution towards another one.
  void add(const row& solution, double weight) {
    for (std::size_t i = 0; i < unknowns; ++i) {
      right_[i] += weight * solution[i];
      products_[i][i] += weight;
    }
  }

  /// Returns the non-negative solution of least squares, by coordinate descent.
  row solve(row from) const {
    row rest = right_;  // minus the products with the present solution
    for (std::size_t i = 0; i < unknowns; ++i) subtract(rest, i, from[i]);
    for (int sweep = 0; sweep < most_sweeps; ++sweep) {
      double most = 0;
      for (std::size_t i = 0; i < unknowns; ++i) {
        if (products_[i][i] <= negligible) continue;
        const double step = std::max(rest[i] / products_[i][i], -from[i]);
        if (step == 0) continue;
        most = std::max(most, std::abs(step));
        from[i] += step;
        subtract(rest, i, step);
      }
      if (most < settled) break;
    }
    return from;
  }

 private:
  void subtract(row& from, std::size_t unknown, double value) const {
    for (std::size_t j = 0; j < unknowns; ++j) from[j] -= products_[unknown][j] * value;
  }

  row right_{};
  std::array<row, unknowns> products_{};
};

/// Returns factors for which the mean square of each term, relative to the times, is 1.
row scale_of(std::span<const cost_samples> all) {
  row squares{};
  double count = 0;
  for (const cost_samples& each : all) {
    for (std::size_t s = 0; s < each.times.size(); ++s) {
      if (!std::isfinite(each.times[s])) continue;
      ++count;
      for (std::size_t i = 0; i < unknowns; ++i) {
        const double part = (i < most_cost_terms ? each.terms[s][i] : 1) / each.times[s];
        squares[i] += part * part;
      }
    }
  }
  row scale{};
  for (std::size_t i = 0; i < unknowns; ++i) {
    if (squares[i] > 0) scale[i] = std::sqrt(count / squares[i]);
  }
  return scale;
}

}  // namespace

std::vector<cost_factors> fit_costs(std::span<const cost_samples> all) {
  const row scale = scale_of(all);
  equations of_all;
  for (const cost_samples& each : all) of_all.add(each, scale);
  const row common = of_all.solve({});
  std::vector<cost_factors> fitted;
  for (const cost_samples& each : all) {
    equations own;
    own.add(each, scale);
    own.add(common, weight_of_common);
    cost_factors& factors = fitted.emplace_back(own.solve(common));
    for (std::size_t i = 0; i < unknowns; ++i) factors[i] *= scale[i];
  }
  return fitted;
}

}  // namespace tune
