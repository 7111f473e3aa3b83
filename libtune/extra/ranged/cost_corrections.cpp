// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/ranged/cost_corrections.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <map>
#include <utility>

#include "libtune/search/model/dot_product.hpp"

namespace tune {
namespace {

constexpr std::size_t most_nodes = 1024;
constexpr std::size_t most_ways = 16;  // for each configuration
// The kernel: its length, the distance of two ways for each flag in which they differ, and the
// variance that neighbours do not explain, relative to the total.
constexpr double reach = 3;  // octaves
constexpr double apart = 3;  // octaves
constexpr float unexplained = 0.5F;
constexpr double most_missed = 0.3;  // of a logarithm: larger errors say nothing about nearby sizes
constexpr int most_steps = 60;
constexpr float solved = 1e-6F;  // the square of an error

/// Returns the flags that are set in terms.
std::uint32_t flags_of(const cost_terms& terms, std::uint32_t flag_terms) noexcept {
  std::uint32_t set = 0;
  for (std::uint32_t left = flag_terms; left != 0; left &= left - 1) {
    const int bit = std::countr_zero(left);
    if (terms[static_cast<std::size_t>(bit)] != 0) set |= std::uint32_t{1} << bit;
  }
  return set;
}

/// Returns the terms that are either 0 or 1, and not constant.
std::uint32_t find_flag_terms(std::span<const cost_samples> samples) {
  std::uint32_t found = 0;
  for (std::size_t i = 0; i < most_cost_terms; ++i) {
    bool has_zero = false;
    bool has_one = false;
    bool has_other = false;
    for (const cost_samples& each : samples) {
      for (const cost_terms& terms : each.terms) {
        (terms[i] == 0 ? has_zero : terms[i] == 1 ? has_one : has_other) = true;
      }
    }
    if (has_zero && has_one && !has_other) found |= std::uint32_t{1} << i;
  }
  return found;
}

/// The covariance of two places, given the square of their distance: a Matern kernel of order 3/2,
/// tabulated, because it is computed for each pair.
class matern_kernel {
 public:
  matern_kernel() : values_(entries + 1) {
    for (std::size_t i = 0; i < entries; ++i) {
      const double distance = std::sqrt(3 * static_cast<double>(i) / per_unit) / reach;
      values_[i] = static_cast<float>((1 + distance) * std::exp(-distance));
    }
  }

  float operator()(float square) const {
    // NOLINTNEXTLINE(bugprone-incorrect-roundings): a square is not negative, and lround is slow
    return values_[std::min(static_cast<std::size_t>(square * per_unit + 0.5F), entries)];
  }

 private:
  static constexpr float per_unit = 32;
  static constexpr std::size_t entries = std::size_t{200} * 32;  // the last entry is below 0.01

  std::vector<float> values_;
};

/// A matrix, row after row.
struct matrix {
  std::size_t columns;
  std::vector<float> entries{};

  std::size_t rows() const { return columns == 0 ? 0 : entries.size() / columns; }
  float* row(std::size_t i) { return entries.data() + i * columns; }
  const float* row(std::size_t i) const { return entries.data() + i * columns; }
};

/// Returns the squares of the distances between places and others.
matrix squares(const std::vector<std::vector<double>>& places,
               const std::vector<std::vector<double>>& others) {
  matrix made{.columns = others.size()};
  made.entries.reserve(places.size() * others.size());
  for (const std::vector<double>& one : places) {
    for (const std::vector<double>& other : others) {
      double sum = 0;
      for (std::size_t d = 0; d < one.size(); ++d) sum += (one[d] - other[d]) * (one[d] - other[d]);
      made.entries.push_back(static_cast<float>(sum));
    }
  }
  return made;
}

/// Solves a symmetric system of linear equations by conjugate gradients (Hestenes and Stiefel,
/// 1952).
std::vector<float> solve(const matrix& left, const std::vector<float>& right) {
  const std::size_t count = right.size();
  std::vector<float> solution(count);
  std::vector<float> rest = right;
  std::vector<float> direction = right;
  std::vector<float> product(count);
  float square = detail::dot_product(rest.data(), rest.data(), count);
  const float enough = solved * square;
  for (int step = 0; step < most_steps && square > enough; ++step) {
    for (std::size_t i = 0; i < count; ++i) {
      product[i] = detail::dot_product(left.row(i), direction.data(), count);
    }
    const float length = square / detail::dot_product(direction.data(), product.data(), count);
    for (std::size_t i = 0; i < count; ++i) {
      solution[i] += length * direction[i];
      rest[i] -= length * product[i];
    }
    const float before =
        std::exchange(square, detail::dot_product(rest.data(), rest.data(), count));
    for (std::size_t i = 0; i < count; ++i) {
      direction[i] = rest[i] + square / before * direction[i];
    }
  }
  return solution;
}

/// The Gaussian processes of configurations at the same sizes.
class fitter {
 public:
  fitter(std::span<const size_range> ranges, std::span<const std::vector<double>> sizes) {
    std::vector<std::vector<double>> places;
    for (const std::vector<double>& each : sizes) {
      std::vector<double>& octaves = places.emplace_back();
      for (const double size : each) octaves.push_back(std::log2(std::max(size, 1.0)));
    }
    const size_grid grid(ranges);
    std::vector<std::vector<double>> nodes;
    for (std::size_t node = 0; node < grid.nodes(); ++node) nodes.push_back(grid.octaves(node));
    between_sizes_ = squares(places, places);
    to_nodes_ = squares(nodes, places);
  }

  /// Returns the ways of a configuration; if there are too many, those with the most samples.
  std::vector<cost_corrections::way> fit(const cost_samples& of, const cost_factors& factors,
                                         std::uint32_t flag_terms) const {
    std::vector<known> all;
    std::vector<float> missed;
    std::map<std::uint32_t, std::size_t> counts;  // of flags
    for (std::size_t s = 0; s < of.times.size(); ++s) {
      const double predicted = predicted_time(factors, of.terms[s]);
      if (!std::isfinite(of.times[s]) || !(predicted > 0) || std::isinf(predicted)) continue;
      all.push_back({.sample = s, .flags = flags_of(of.terms[s], flag_terms)});
      missed.push_back(static_cast<float>(
          std::clamp(std::log(of.times[s] / predicted), -most_missed, most_missed)));
      ++counts[all.back().flags];
    }
    const std::vector<float> weights = solve(covariances(all), missed);
    std::vector<std::pair<std::uint32_t, std::size_t>> frequent(counts.begin(), counts.end());
    std::ranges::stable_sort(frequent, std::ranges::greater(),
                             &std::pair<std::uint32_t, std::size_t>::second);
    std::vector<cost_corrections::way> ways;
    for (const auto& [flags, count] : frequent) {
      if (ways.size() < most_ways) ways.push_back(at_nodes(flags, all, weights));
    }
    return ways;
  }

 private:
  struct known {
    std::size_t sample;
    std::uint32_t flags;
  };

  static float square_of_ways(std::uint32_t one, std::uint32_t other) {
    return static_cast<float>(apart * apart * std::popcount(one ^ other));
  }

  matrix covariances(const std::vector<known>& all) const {
    matrix made{.columns = all.size(), .entries = std::vector<float>(all.size() * all.size())};
    for (std::size_t i = 0; i < all.size(); ++i) {
      const float* const from = between_sizes_.row(all[i].sample);
      for (std::size_t j = 0; j < i; ++j) {
        const float ways = square_of_ways(all[i].flags, all[j].flags);
        made.row(i)[j] = made.row(j)[i] = kernel_(from[all[j].sample] + ways);
      }
      made.row(i)[i] = 1 + unexplained;
    }
    return made;
  }

  cost_corrections::way at_nodes(std::uint32_t flags, const std::vector<known>& all,
                                 const std::vector<float>& weights) const {
    cost_corrections::way made{.flags = flags};
    std::vector<float> between_ways;
    between_ways.reserve(all.size());
    for (const known& each : all) between_ways.push_back(square_of_ways(flags, each.flags));
    for (std::size_t node = 0; node < to_nodes_.rows(); ++node) {
      const float* const from = to_nodes_.row(node);
      float sum = 0;
      for (std::size_t i = 0; i < all.size(); ++i) {
        sum += weights[i] * kernel_(from[all[i].sample] + between_ways[i]);
      }
      const double within = std::clamp(static_cast<double>(sum), -most_missed, most_missed);
      made.thousandths.push_back(static_cast<std::int16_t>(std::lround(1000 * std::expm1(within))));
    }
    return made;
  }

  matrix between_sizes_{.columns = 0};
  matrix to_nodes_{.columns = 0};
  matern_kernel kernel_;
};

}  // namespace

size_grid::size_grid(std::span<const size_range> ranges)
    : dimensions_(ranges.size()), nodes_(most_nodes + 1) {
  constexpr double wider = 1.1;
  for (double step = 1; nodes_ > most_nodes; step *= wider) {
    nodes_ = 1;
    for (std::size_t d = 0; d < dimensions_; ++d) {
      const double low = std::log2(static_cast<double>(ranges[d].low()));
      const double octaves = std::log2(static_cast<double>(ranges[d].high())) - low;
      const auto steps = static_cast<std::size_t>(std::ceil(octaves / step));
      axes_[d] = {.low = low,
                  .step = steps == 0 ? 1 : octaves / static_cast<double>(steps),
                  .nodes = steps + 1};
      nodes_ *= axes_[d].nodes;
    }
  }
}

std::vector<double> size_grid::octaves(std::size_t node) const {
  std::vector<double> place(dimensions_);
  for (std::size_t d = dimensions_; d-- > 0; node /= axes_[d].nodes) {
    place[d] = axes_[d].low + axes_[d].step * static_cast<double>(node % axes_[d].nodes);
  }
  return place;
}

size_grid::cell size_grid::find(std::span<const double> sizes) const noexcept {
  cell found{.count = 1};
  found.weights[0] = 1;
  for (std::size_t d = 0; d < dimensions_ && d < sizes.size(); ++d) {
    const axis& along = axes_[d];
    const auto last = static_cast<double>(along.nodes - 1);
    const double exact =
        std::clamp((std::log2(std::max(sizes[d], 1.0)) - along.low) / along.step, 0.0, last);
    const auto below = static_cast<std::uint32_t>(exact);
    const auto part = static_cast<float>(exact - below);
    for (std::size_t i = 0; i < found.count; ++i) {
      found.nodes[i] = found.nodes[i] * static_cast<std::uint32_t>(along.nodes) + below;
    }
    if (part == 0) continue;
    for (std::size_t i = 0; i < found.count; ++i) {
      found.nodes[found.count + i] = found.nodes[i] + 1;
      found.weights[found.count + i] = found.weights[i] * part;
      found.weights[i] *= 1 - part;
    }
    found.count *= 2;
  }
  return found;
}

cost_corrections::cost_corrections(std::span<const size_range> ranges, std::uint32_t flag_terms,
                                   std::vector<std::vector<way>> ways)
    : grid_(ranges), flag_terms_(flag_terms), ways_(std::move(ways)) {}

void cost_corrections::exchange(std::size_t one, std::size_t other) {
  if (empty()) return;
  ways_.resize(std::max({ways_.size(), one + 1, other + 1}));
  std::swap(ways_[one], ways_[other]);
}

double cost_corrections::at_sizes::operator()(std::size_t place,
                                              const cost_terms& terms) const noexcept {
  if (place >= all_.ways_.size()) return 1;
  const std::uint32_t flags = flags_of(terms, all_.flag_terms_);
  for (const way& each : all_.ways_[place]) {
    if (each.flags != flags) continue;
    float sum = 0;
    for (std::size_t i = 0; i < cell_.count; ++i) {
      sum += cell_.weights[i] * static_cast<float>(each.thousandths[cell_.nodes[i]]);
    }
    return 1 + 1e-3 * static_cast<double>(sum);
  }
  return 1;
}

cost_corrections fit_corrections(std::span<const size_range> ranges,
                                 std::span<const std::vector<double>> sizes,
                                 std::span<const cost_samples> samples,
                                 std::span<const cost_factors> factors) {
  const fitter all(ranges, sizes);
  const std::uint32_t flag_terms = find_flag_terms(samples);
  std::vector<std::vector<cost_corrections::way>> ways;
  for (std::size_t c = 0; c < samples.size(); ++c) {
    ways.push_back(all.fit(samples[c], factors[c], flag_terms));
  }
  return {ranges, flag_terms, std::move(ways)};
}

}  // namespace tune
