// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/ranged/portfolio_fit.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <span>
#include <tuple>
#include <utility>

#include "libtune/base/error.hpp"
#include "libtune/extra/ranged/sample_costs.hpp"

namespace tune {
namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();
constexpr std::size_t most_folds = 16;     // each fold takes a fit
constexpr std::size_t many_samples = 400;  // from here on, a quarter of the folds suffices
constexpr std::size_t few_folds = most_folds / 4;
constexpr double least_time = 1e-300;  // so that ratios of times exist
constexpr double weight_of_predicted = 3;

using numbers = std::vector<std::size_t>;

/// A tree that grows at the leaf with the largest gain.
class grower {
 public:
  grower(const size_times& times, const sample_costs& all, const numbers& chosen)
      : times_(times), all_(all), chosen_(chosen) {
    numbers every(times.samples.size());
    std::iota(every.begin(), every.end(), std::size_t{0});
    leaves_.push_back(make_leaf(0, std::move(every)));
    nodes_.push_back({.threshold = 0, .coordinate = -1, .below = leaves_.front().choice});
  }

  /// Returns false if no comparison saves enough.
  bool grow() {
    const auto best = std::ranges::max_element(leaves_, {}, &leaf::gain);
    if (best->gain < sample_costs::least_gain) return false;
    const leaf split = std::move(*best);
    leaves_.erase(best);
    numbers below;
    numbers above;
    for (const std::size_t s : split.samples) {
      (coordinate(s, split.by) <= split.threshold ? below : above).push_back(s);
    }
    const auto first = static_cast<std::uint32_t>(nodes_.size());
    nodes_[split.node] = {.threshold = split.threshold,
                          .coordinate = static_cast<std::int32_t>(split.by),
                          .below = first,
                          .above = first + 1};
    for (numbers* side : {&below, &above}) {
      leaves_.push_back(make_leaf(nodes_.size(), std::move(*side)));
      nodes_.push_back({.threshold = 0, .coordinate = -1, .below = leaves_.back().choice});
    }
    return true;
  }

  double cost() const {
    double sum = 0;
    for (const leaf& each : leaves_) sum += each.cost;
    return sum;
  }
  std::vector<size_tree::node> nodes() const { return nodes_; }

 private:
  struct leaf {
    std::size_t node = 0;
    numbers samples{};
    std::uint32_t choice = 0;
    double cost = 0;
    double gain = 0;  // of the best comparison
    std::size_t by = 0;
    double threshold = 0;
  };

  double coordinate(std::size_t sample, std::size_t by) const {
    return times_.samples[sample].point[by];
  }

  // Between powers of two, the best threshold is the geometric mean.
  static double between(double low, double high) {
    return low > 0 ? std::sqrt(low * high) : (low + high) / 2;
  }

  std::pair<std::uint32_t, double> cheapest(std::span<const double> sums) const {
    const auto least = std::ranges::min_element(sums);
    return {static_cast<std::uint32_t>(least - sums.begin()), *least};
  }

  leaf make_leaf(std::size_t node, numbers samples) const {
    leaf made{.node = node, .samples = std::move(samples)};
    std::vector<double> sums(chosen_.size());
    for (const std::size_t s : made.samples) add(sums, s, 1);
    std::tie(made.choice, made.cost) = cheapest(sums);
    const std::size_t coordinates = times_.samples.front().point.size();
    for (std::size_t by = 0; by < coordinates; ++by) find_split(made, by, sums);
    return made;
  }

  void find_split(leaf& of, std::size_t by, const std::vector<double>& all) const {
    const auto its = [&](std::size_t s) { return coordinate(s, by); };
    const auto is_first = [&](std::size_t s) { return its(s) == its(of.samples.front()); };
    if (std::ranges::all_of(of.samples, is_first)) return;  // constant, as unused coordinates are
    numbers order = of.samples;
    std::ranges::stable_sort(order, {}, its);
    std::vector<double> below(chosen_.size());
    std::vector<double> above = all;
    for (std::size_t i = 0; i + 1 < order.size(); ++i) {
      add(below, order[i], 1);
      add(above, order[i], -1);
      const double low = coordinate(order[i], by);
      const double high = coordinate(order[i + 1], by);
      if (low == high) continue;
      const double gain = of.cost - cheapest(below).second - cheapest(above).second;
      if (gain <= of.gain) continue;
      of.gain = gain;
      of.by = by;
      of.threshold = between(low, high);
    }
  }

  void add(std::vector<double>& sums, std::size_t sample, double sign) const {
    for (std::size_t i = 0; i < chosen_.size(); ++i) sums[i] += sign * all_.at(sample, chosen_[i]);
  }

  const size_times& times_;
  const sample_costs& all_;
  const numbers& chosen_;
  std::vector<leaf> leaves_;
  std::vector<size_tree::node> nodes_;
};

struct grown {
  portfolio_fit fit;
  double cost = 0;
};

/// Returns the number of the configuration that is chosen at a sample.
std::size_t chosen_at(const size_times::sample& sample, const portfolio_fit& fit,
                      const size_times& fitted) {
  const auto fits = [&](std::size_t number) { return sample.fits.empty() || sample.fits[number]; };
  if (!fit.factors.empty()) {
    const auto place = find_cheapest(
        fit.factors, fit.corrections.at(sample.point),
        [&](std::size_t i) { return sample.terms[fit.configurations[i]]; },
        [&](std::size_t i) { return fits(fit.configurations[i]); });
    return place ? fit.configurations[*place] : 0;
  }
  const std::size_t chosen = fit.choose(sample.point);
  if (fits(chosen)) return chosen;
  const leaf_orders orders = order_leaves(fitted, fit.tree, fit.configurations);
  for (const std::uint32_t place : orders[fit.tree.leaf(sample.point)]) {
    if (fits(fit.configurations[place])) return fit.configurations[place];
  }
  return 0;
}

/// Grows a tree over these configurations, and drops those that it never chooses.
grown grow(const size_times& times, const sample_costs& all, const numbers& chosen,
           std::size_t leaves) {
  grower tree(times, all, chosen);
  for (std::size_t count = 1; count < leaves && tree.grow(); ++count) {
  }
  grown made{.fit = {}, .cost = tree.cost()};
  std::vector<size_tree::node> nodes = tree.nodes();
  std::vector<std::optional<std::uint32_t>> places(chosen.size());
  for (size_tree::node& each : nodes) {
    if (each.coordinate >= 0) continue;
    auto& place = places[each.below];
    if (!place) {
      place = static_cast<std::uint32_t>(made.fit.configurations.size());
      made.fit.configurations.push_back(chosen[each.below]);
    }
    each.below = *place;
  }
  made.fit.tree = size_tree(std::move(nodes));
  return made;
}

[[noreturn]] void throw_nothing_measured() {
  throw argument_error("a portfolio cannot be fitted without times; measure some configurations");
}

}  // namespace

std::size_t portfolio_fit::choose(std::span<const double> point,
                                  std::span<const cost_terms> terms) const {
  if (factors.empty()) return choose(point);
  const auto place = find_cheapest(
      factors, corrections.at(point), [&](std::size_t i) { return terms[configurations[i]]; },
      [](std::size_t) { return true; });
  return configurations[place.value_or(0)];
}

std::vector<std::size_t> most_useful(const size_times& times, const portfolio_limits& limits,
                                     const kept_configuration& kept) {
  return most_useful(sample_costs(times, limits.loss), limits.configurations, kept);
}

portfolio_fit fit_portfolio(const size_times& times, const portfolio_limits& limits,
                            const kept_configuration& kept) {
  if (times.samples.empty() || times.samples.front().times.empty()) throw_nothing_measured();
  const sample_costs all(times, limits.loss);
  grown best = grow(times, all, most_useful(all, limits.configurations, kept), limits.leaves);
  // A tree with a free choice may need few enough configurations.
  numbers every(all.configurations());
  std::iota(every.begin(), every.end(), std::size_t{0});
  grown free = grow(times, all, every, limits.leaves);
  const numbers& used = free.fit.configurations;
  const bool needs_kept = kept && std::ranges::find(used, *kept) == used.end();
  const bool is_small = used.size() + (needs_kept ? 1 : 0) <= limits.configurations;
  if (is_small && free.cost < best.cost) return std::move(free.fit);
  return std::move(best.fit);
}

portfolio_fit fit_portfolio_by_costs(const size_times& times, const portfolio_limits& limits,
                                     const kept_configuration& kept,
                                     std::span<const size_range> ranges) {
  if (times.samples.empty() || times.samples.front().times.empty()) throw_nothing_measured();
  const std::size_t count = times.samples.front().times.size();
  std::vector<cost_samples> of_all(count);
  for (const size_times::sample& each : times.samples) {
    for (std::size_t c = 0; c < count; ++c) {
      of_all[c].terms.push_back(each.terms[c]);
      of_all[c].times.push_back(each.times[c]);
    }
  }
  std::vector<cost_factors> factors = fit_costs(of_all);
  for (const size_times::sample& each : times.samples) {
    for (std::size_t c = 0; c < count; ++c) {
      const bool may_run = each.fits.empty() || each.fits[c];
      if (may_run && std::isinf(each.times[c])) factors[c].back() = infinite;  // it fails somewhere
    }
  }
  // Measured times have a quarter of the weight, and predicted times the rest.
  size_times with_predicted = times;
  if (times.imagined && !times.imagined->empty()) {
    double weight = 0;
    for (const size_times::sample& each : times.samples) weight += each.weight;
    weight *= weight_of_predicted / static_cast<double>(times.imagined->size());
    for (const std::vector<cost_terms>& at : *times.imagined) {
      size_times::sample& made = with_predicted.samples.emplace_back();
      made.weight = weight;
      for (std::size_t c = 0; c < count; ++c) {
        made.times.push_back(std::max(predicted_time(factors[c], at[c]), least_time));
      }
    }
  }
  const sample_costs all(with_predicted, limits.loss);
  portfolio_fit made{.configurations = most_useful(all, limits.configurations, kept)};
  for (const std::size_t chosen : made.configurations) made.factors.push_back(factors[chosen]);
  if (ranges.empty()) return made;
  std::vector<std::vector<double>> sizes;
  for (const size_times::sample& each : times.samples) {
    sizes.emplace_back(each.point.begin(),
                       each.point.begin() + static_cast<std::ptrdiff_t>(ranges.size()));
  }
  std::vector<cost_samples> of_chosen;
  for (const std::size_t chosen : made.configurations) {
    of_chosen.push_back(std::move(of_all[chosen]));
  }
  made.corrections = fit_corrections(ranges, sizes, of_chosen, made.factors);
  return made;
}

leaf_orders order_leaves(const size_times& times, const size_tree& tree,
                         std::span<const std::size_t> configurations,
                         const portfolio_limits& limits) {
  const std::vector<size_tree::node>& nodes = tree.nodes();
  std::vector<std::vector<double>> sums(nodes.size());
  for (std::vector<double>& each : sums) each.resize(configurations.size());
  const sample_costs all(times, limits.loss);
  for (std::size_t s = 0; s < times.samples.size(); ++s) {
    std::vector<double>& of_leaf = sums[tree.leaf(times.samples[s].point)];
    for (std::size_t place = 0; place < configurations.size(); ++place) {
      const std::size_t number = configurations[place];
      const double loss = std::isinf(times.loss(s, number)) ? infinite : all.at(s, number);
      of_leaf[place] += loss;
    }
  }
  leaf_orders orders(nodes.size());
  for (std::size_t n = 0; n < nodes.size(); ++n) {
    if (nodes[n].coordinate >= 0) continue;
    for (std::uint32_t place = 0; place < configurations.size(); ++place) {
      const bool works = !std::isinf(sums[n][place]);
      if (works && place != nodes[n].below) orders[n].push_back(place);
    }
    std::ranges::stable_sort(orders[n], {}, [&](std::uint32_t place) { return sums[n][place]; });
    orders[n].insert(orders[n].begin(), nodes[n].below);
  }
  return orders;
}

std::vector<double> left_out_losses(const size_times& times, const portfolio_fitter& fit) {
  std::vector<double> losses;
  const std::size_t count = times.samples.size();
  if (count < 2) return losses;
  const std::size_t folds = std::min(count, most_folds);
  const std::size_t fitted_folds = count < many_samples ? folds : few_folds;
  for (std::size_t fold = 0; fold < fitted_folds; ++fold) {
    size_times others{.imagined = times.imagined};
    for (std::size_t s = 0; s < count; ++s) {
      if (s % folds != fold) others.samples.push_back(times.samples[s]);
    }
    const portfolio_fit fitted = fit(others);
    for (std::size_t s = fold; s < count; s += folds) {
      losses.push_back(times.loss(s, chosen_at(times.samples[s], fitted, others)));
    }
  }
  return losses;
}

}  // namespace tune
