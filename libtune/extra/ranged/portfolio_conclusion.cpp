// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/ranged/portfolio_conclusion.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>

#include "libtune/extra/ranged/portfolio_checks.hpp"
#include "libtune/search/model/loss_bound.hpp"

namespace tune {
namespace {

constexpr double share_of_sizes = 0.9;  // for the worst loss

// With few losses, the share of sizes below a quantile varies between samples; two standard
// deviations make the bound safe.
double bound_of(const std::vector<double>& losses) {
  const auto count = static_cast<double>(losses.size());
  const double bound = loss_bound(losses, share_of_sizes);
  if (std::isinf(bound)) return bound;
  const double deviation = std::sqrt(share_of_sizes * (1 - share_of_sizes) / count);
  const double safe = std::min(share_of_sizes + 2 * deviation, 1.0);
  const double wider = loss_bound(losses, safe);
  return std::isinf(wider) ? *std::ranges::max_element(losses) : wider;
}

}  // namespace

built_portfolio portfolio_conclusion::make(const portfolio_fit& fit,
                                           const std::vector<double>& left_out,
                                           std::span<const comparisons::audited> audits) {
  built_portfolio made = estimate(fit, left_out, audits);
  check_choices(made, plan_, sizes(), configurations().front(), from_);
  end_with_fallback(made);
  made.orders = order_leaves(times(), made.tree, numbers_of(made), plan_.limits);
  choose_where_asked(made);
  return made;
}

built_portfolio portfolio_conclusion::estimate(const portfolio_fit& fit,
                                               const std::vector<double>& left_out,
                                               std::span<const comparisons::audited> audits) const {
  built_portfolio made{.tree = fit.tree,
                       .factors = fit.factors,
                       .corrections = fit.corrections,
                       .sizes = times().samples.size(),
                       .compared = compared_.seen()};
  for (const std::size_t each : fit.configurations) {
    made.configurations.push_back(configurations()[each]);
  }
  // The choice at a left-out size is compared with the configurations found at other sizes. If
  // all sizes of the ranges were compared, nothing has to be estimated.
  const std::vector<double> losses = has_all_sizes() ? losses_of(fit) : left_out;
  double gap = 0;
  double mean_gap = 0;
  for (const comparisons::audited& each : audits) {
    gap = std::max(gap, each.gap);
    mean_gap += each.gap / static_cast<double>(audits.size());
  }
  double bound = bound_of(losses);
  if (has_all_sizes()) bound = *std::ranges::max_element(losses);
  made.worst_loss = (1 + bound) * (1 + gap) - 1;
  // A few sizes do not allow an estimate.
  const double mean = std::isinf(bound) ? comparisons::does_not_work
                                        : std::accumulate(losses.begin(), losses.end(), 0.0) /
                                              static_cast<double>(losses.size());
  made.expected_loss = (1 + mean) * (1 + mean_gap) - 1;
  return made;
}

bool portfolio_conclusion::has_all_sizes() const {
  double count = 1;
  for (const size_range& each : plan_.ranges) {
    const auto sizes_of_range = (each.high() - each.low()) / each.multiple() + 1;
    count *= static_cast<double>(sizes_of_range);
  }
  const auto inside = std::ranges::count_if(
      sizes(), [&](const size_list& at) { return are_inside(plan_.ranges, at); });
  return static_cast<double>(inside) >= count;
}

std::vector<double> portfolio_conclusion::losses_of(const portfolio_fit& fit) const {
  std::vector<double> losses;
  for (std::size_t s = 0; s < times().samples.size(); ++s) {
    const size_times::sample& of = times().samples[s];
    losses.push_back(times().loss(s, fit.choose(of.point, of.terms)));
  }
  return losses;
}

void portfolio_conclusion::end_with_fallback(built_portfolio& made) const {
  auto& all = made.configurations;
  const auto own = std::ranges::find(all, configurations().front());
  const auto place = static_cast<std::uint32_t>(own - all.begin());
  if (own == all.end()) {
    all.push_back(configurations().front());
    if (!made.factors.empty()) made.factors.emplace_back().back() = comparisons::does_not_work;
  }
  const auto last = static_cast<std::uint32_t>(all.size() - 1);
  if (place == last) return;
  std::swap(all[place], all[last]);
  if (!made.factors.empty()) std::swap(made.factors[place], made.factors[last]);
  made.corrections.exchange(place, last);
  std::vector<size_tree::node> nodes = made.tree.nodes();
  for (size_tree::node& each : nodes) {
    if (each.coordinate >= 0) continue;
    each.below = each.below == place ? last : each.below == last ? place : each.below;
  }
  made.tree = size_tree(std::move(nodes));
}

comparisons::numbers portfolio_conclusion::numbers_of(const built_portfolio& made) const {
  comparisons::numbers own;
  for (const portfolio_source::configuration& each : made.configurations) {
    const auto place = std::ranges::find(configurations(), each);
    own.push_back(static_cast<std::size_t>(place - configurations().begin()));
  }
  return own;
}

void portfolio_conclusion::choose_where_asked(built_portfolio& made) const {
  const comparisons::numbers own = numbers_of(made);
  for (std::size_t s = 0; s < sizes().size(); ++s) {
    const size_list& at = sizes()[s];
    const bool is_asked =
        std::ranges::find(places_.asked(), at, &asked_sizes::sizes) != places_.asked().end();
    if (!is_asked) continue;
    const std::vector<double>& found = times().samples[s].times;
    const auto time_of = [&](std::uint32_t place) { return found[own[place]]; };
    const auto works = [&](std::uint32_t place) -> bool {
      return from_.check(at, std::span(&made.configurations[place], 1)).front();
    };
    std::vector<std::uint32_t> order;
    for (std::uint32_t place = 0; place < own.size(); ++place) {
      // An infinite factor marks a configuration with a wrong result elsewhere, or the fallback.
      const bool is_chosen_nowhere =
          place + 1 < own.size() && !made.factors.empty() && std::isinf(made.factors[place].back());
      if (!std::isinf(time_of(place)) && !is_chosen_nowhere) order.push_back(place);
    }
    std::ranges::stable_sort(order, {}, time_of);
    bool is_proven = false;
    while (!is_proven && !order.empty() && !from_.should_stop()) {
      is_proven = works(order.front());
      if (!is_proven) order.erase(order.begin());
    }
    if (is_proven) made.proven.push_back({.sizes = at, .order = std::move(order)});
  }
  std::ranges::sort(made.proven, {}, &proven_sizes::sizes);
}

}  // namespace tune
