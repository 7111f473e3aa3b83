// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/ranged/portfolio_builder.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <numeric>
#include <utility>

#include "libtune/base/error.hpp"
#include "libtune/extra/ranged/comparisons.hpp"
#include "libtune/extra/ranged/portfolio_conclusion.hpp"
#include "libtune/extra/ranged/sample_places.hpp"

namespace tune {
namespace {

using configuration = portfolio_source::configuration;
using numbers = comparisons::numbers;

constexpr double share_of_pilots = 0.65;      // of the time, with all configurations
constexpr double share_of_comparisons = 0.8;  // before the audits
constexpr double share_of_audits = 0.88;      // before the leaves are checked
constexpr double share_of_fits = 0.07;        // subtracted from both, for correcting costs
constexpr std::size_t least_pilots = 4;       // sizes; with fewer, no configuration is left out for
                                              // its times
constexpr std::size_t at_once = 8;            // sizes in doubt between two fits
constexpr double nearby = 0.01;               // the square of a distance, on the scales of the
                                              // ranges
constexpr double width_of_pilots = 0.15;
constexpr double without_between = 1.5;  // penalty on these losses, because few samples may hide
                                         // more
// With few samples, wrong edges of leaves stay hidden more often than errors of smooth functions.
constexpr double trust_in_corrections = 1.5;
constexpr double nearly_best = 0.08;        // losses up to about this count as merit
constexpr std::size_t least_compared = 24;  // even if time is short
// After this many samples, or this share of the time, only this many configurations are left, and
// are compared at more sizes.
struct stage {
  std::size_t samples;
  double share;
  std::size_t configurations;
};
constexpr std::array stages{stage{.samples = 48, .share = 0.75, .configurations = 32},
                            stage{.samples = 96, .share = 0.78, .configurations = 16}};
// The numbers of sizes, and of configurations at them, whose times are predicted.
constexpr std::size_t least_imagined = 100;
constexpr std::size_t most_imagined_sizes = 1000;
constexpr std::size_t most_imagined = 100'000;
constexpr double does_not_work = comparisons::does_not_work;

class builder {
 public:
  builder(const portfolio_plan& plan, const configuration& fallback, portfolio_source& from)
      : plan_(plan), from_(from), places_(plan), compared_(plan, fallback, from) {
    for (const size_list& at :
         spread_sizes(plan.ranges, 8 * places_.spread(), 5 * places_.spread())) {
      const size_point point = point_of(at, plan.features);
      size_times::sample& made = between_.emplace_back();
      made.point.assign(point.begin(), point.end());
      made.place = parts_of(plan.ranges, at);
    }
  }

  built_portfolio build() {
    std::size_t failed = 0;
    const portfolio_source::found_limits most{.best = plan_.finalists, .all = plan_.most_compared};
    for (const size_list& at : places_.searches()) {
      if (from_.should_stop() || is_whole_) break;
      auto found = from_.search(at, most, std::nullopt);
      // Large arrays may exceed the memory.
      if (found.best.empty() && !from_.should_stop()) {
        const size_list other = spread_sizes(plan_.ranges, 1, failed++).front();
        found = from_.search(other, most, std::nullopt);
      }
      compared_.add(found.best);
      is_whole_ = found.is_whole && !found.best.empty();
    }
    compare_at_samples();
    if (times().samples.empty()) {
      return {.configurations = {configurations().front()},
              .orders = {{0}},
              .expected_loss = does_not_work,
              .worst_loss = does_not_work};
    }
    portfolio_fit fit = compare_where_in_doubt();
    while (from_.used_time() < until(share_of_audits) && needs_audit()) {
      if (!audit(fit)) break;
      fit = fitted();
    }
    fit = corrected(std::move(fit));
    return portfolio_conclusion(plan_, compared_, places_, from_).make(fit, left_out_, audits_);
  }

 private:
  /// Returns the share of the time for a step that ends at this share if there are no costs.
  double until(double share) const { return plan_.costs ? share - share_of_fits : share; }

  void compare_at_samples() {
    const std::vector<size_list> spread = places_.comparisons();
    double total = 0;
    for (const asked_sizes& each : places_.asked()) total += static_cast<double>(each.count);
    for (const asked_sizes& each : places_.asked()) {
      compared_.compare(
          each.sizes, static_cast<double>(each.count) / total * static_cast<double>(spread.size()));
    }
    std::optional<double> before;  // excludes compiling programs at the first size
    std::size_t cells = 0;
    bool are_chosen = false;
    auto next = stages.begin();
    const auto has_time = [&] { return from_.used_time() < until(share_of_comparisons); };
    for (std::size_t i = 0; i < spread.size() && (i == 0 || has_time()); ++i) {
      announce(spread, i);
      const bool has_times = compared_.compare(spread[i], 1);
      const double used = from_.used_time();
      if (before && has_times) cells += configurations().size();
      if (!before) before = used;
      while (are_chosen && next != stages.end() &&
             (times().samples.size() >= next->samples || used > next->share)) {
        narrow(next++->configurations);
      }
      const bool is_due = times().samples.size() >= plan_.pilots || used > share_of_pilots;
      if (are_chosen || !is_due || times().samples.empty()) continue;
      are_chosen = true;
      const double cell = (used - *before) / static_cast<double>(std::max<std::size_t>(cells, 1));
      const double left =
          std::max((plan_.costs ? until(share_of_comparisons) : next->share) - used, 0.0);
      const std::size_t wanted = plan_.costs ? places_.spread() : next->samples;
      const std::size_t rows =
          std::max(wanted, times().samples.size() + 1) - times().samples.size();
      const double row = left / static_cast<double>(rows);
      keep_promising(cell > 0 ? row / cell : static_cast<double>(configurations().size()));
      if (is_whole_) check_results();
    }
  }

  /// Announces the sizes of later comparisons long before, to leave time for compiling; and again
  /// just before, for programs that only become known when others have been compiled.
  void announce(std::span<const size_list> all, std::size_t done) {
    constexpr std::size_t first = 2;  // only then is it known if sizes need their own programs
    constexpr std::size_t together = 8;
    constexpr std::size_t ahead = 3 * together;
    if (done % together != first) return;
    const auto from = [&](std::size_t begin, std::size_t count) {
      const auto left = all.subspan(std::min(begin, all.size()));
      return left.first(std::min(count, left.size()));
    };
    compared_.prepare(from(done, done == first ? ahead + together : together));
    if (done != first) compared_.prepare(from(done + ahead, together));
  }

  /// Keeps only the configurations that are most useful together.
  void narrow(std::size_t most) {
    // Costs predict the times between samples, so more configurations are worth more than more
    // samples.
    if (plan_.costs || configurations().size() <= most + 1) return;
    const numbers useful = most_useful(with_between(times(), between_, plan_.limits.loss),
                                       {.configurations = most + 1, .loss = plan_.limits.loss}, 0);
    numbers kept{0};
    numbers left;
    for (std::size_t c = 1; c < configurations().size(); ++c) {
      (std::ranges::find(useful, c) != useful.end() ? kept : left).push_back(c);
    }
    compared_.keep(kept, left);
  }

  portfolio_fit fit_to(const size_times& some) const {
    if (is_by_costs_) {
      const std::span<const size_range> corrected_over = plan_.ranges;
      return fit_portfolio_by_costs(some, plan_.limits, 0,
                                    corrected_over.first(is_corrected_ ? plan_.ranges.size() : 0));
    }
    if (!is_between_) return fit_portfolio(some, plan_.limits, 0);
    return fit_portfolio(with_between(some, between_, plan_.limits.loss), plan_.limits, 0);
  }
  portfolio_fit fitted() {
    imagine();
    return fit_to(times());
  }
  std::vector<double> losses_left_out() {
    imagine();
    return left_out_losses(times(), [this](const size_times& others) { return fit_to(others); });
  }

  /// Chooses between a tree with samples in between, a tree of the samples alone, and costs with or
  /// without corrections, by the losses at left-out samples.
  void choose_way() {
    is_between_ = false;
    const double alone = without_between * sum_of(losses_left_out());
    is_between_ = true;
    const double between = sum_of(losses_left_out());
    is_between_ = between <= alone;
    if (!plan_.costs) return;
    const double by_tree = std::min(alone, between);
    is_by_costs_ = true;
    if (sum_of(losses_left_out()) < by_tree) return;
    is_corrected_ = true;
    is_by_costs_ = sum_of(losses_left_out()) < by_tree * trust_in_corrections;
    is_corrected_ = is_by_costs_;
  }

  /// Returns the portfolio with corrected predictions, if it loses less at left-out samples; else
  /// the given one.
  portfolio_fit corrected(portfolio_fit fit) {
    left_out_ = losses_left_out();
    if (!is_by_costs_ || is_corrected_) return fit;
    is_corrected_ = true;
    std::vector<double> losses = losses_left_out();
    is_corrected_ = sum_of(losses) < sum_of(left_out_);
    if (!is_corrected_) return fit;
    left_out_ = std::move(losses);
    return fitted();
  }

  double sum_of(const std::vector<double>& losses) const {
    double sum = 0;
    for (const double loss : losses) sum += counted_loss(std::min(loss, 1.0), plan_.limits.loss);
    return sum;
  }

  /// Sets the cost terms at sizes that fill the ranges, without measurements.
  void imagine() {
    if (!is_by_costs_ || times().imagined) return;
    const std::size_t count =
        std::clamp(most_imagined / configurations().size(), least_imagined, most_imagined_sizes);
    compared_.imagine(spread_sizes(plan_.ranges, count, 3 * places_.spread()));
  }

  /// Returns the number of the configuration that the portfolio chooses for sizes.
  std::size_t choose(const portfolio_fit& fit, const size_list& at) const {
    const size_point point = point_of(at, plan_.features);
    if (fit.factors.empty()) return fit.choose(point);
    std::vector<cost_terms> terms(configurations().size());
    for (const std::size_t each : fit.configurations) {
      terms[each] = plan_.costs(configurations()[each])(at);
    }
    return fit.choose(point, terms);
  }

  /// Compares at further sizes, first where the portfolio's choice is slow at nearby sizes, such as
  /// at the edges of leaves. Returns the portfolio.
  portfolio_fit compare_where_in_doubt() {
    choose_way();
    portfolio_fit fit = fitted();
    const std::size_t wanted = times().samples.size() + places_.spread() / 2;
    while (times().samples.size() < wanted && from_.used_time() < until(share_of_comparisons)) {
      std::vector<std::pair<double, size_list>> doubts;
      for (size_list& at : spread_sizes(plan_.ranges, places_.spread(), places_.most())) {
        if (!compared_.has(at)) doubts.emplace_back(doubt_at(at, fit), std::move(at));
      }
      std::ranges::stable_sort(doubts, std::ranges::greater(),
                               &std::pair<double, size_list>::first);
      std::vector<size_list> next;
      for (std::size_t i = 0; i < std::min(doubts.size(), at_once); ++i) {
        next.push_back(doubts[i].second);
      }
      compared_.prepare(next);
      std::size_t added = 0;
      for (const auto& [doubt, at] : doubts) {
        if (added == at_once || from_.used_time() >= until(share_of_comparisons)) break;
        added += compared_.compare(at, 1) ? 1 : 0;
      }
      if (added == 0) break;
      fit = fitted();
    }
    return fit;
  }

  /// The largest loss of a size's choice at the samples, weighted by their nearness.
  double doubt_at(const size_list& at, const portfolio_fit& fit) const {
    const std::size_t chosen = choose(fit, at);
    double sum = 0;
    for (std::size_t s = 0; s < sizes().size(); ++s) {
      const double loss = std::min(times().loss(s, chosen), 1.0);
      sum = std::max(sum, loss * std::exp(-compared_.distance(at, sizes()[s]) / nearby));
    }
    return sum;
  }

  /// Discards configurations with a wrong result, because no search has checked them.
  void check_results() {
    std::vector<bool> works = from_.check(sizes().front(), configurations());
    for (std::size_t c = 0; c < works.size(); ++c) {
      works[c] = c == 0 || works[c] || std::isinf(times().samples.front().times[c]);
    }
    compared_.discard(works);
  }

  /// Leaves out the configurations that are not near the best at any size so far; then, down to
  /// this number, those that are near the best at the fewest sizes.
  void keep_promising(double most) {
    const std::size_t count = configurations().size();
    const size_times smooth = smoothed(times(), width_of_pilots);
    std::vector<double> least(count, does_not_work);
    std::vector<double> merit(count);
    for (std::size_t s = 0; s < times().samples.size(); ++s) {
      for (std::size_t c = 0; c < count; ++c) {
        const double loss = smooth.loss(s, c);
        if (std::isinf(loss)) continue;
        least[c] = std::min(least[c], loss);
        merit[c] += times().samples[s].weight * std::exp(-loss / nearly_best);
      }
    }
    std::vector<std::size_t> order(count);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order.begin() + 1, order.end(), std::ranges::greater(),
                             [&](std::size_t c) { return merit[c]; });
    const auto allowed = static_cast<std::size_t>(
        std::clamp(most, static_cast<double>(least_compared), static_cast<double>(count)));
    numbers kept;
    numbers left;
    for (const std::size_t c : order) {
      const bool is_promising =
          times().samples.size() < least_pilots || least[c] <= comparisons::promising;
      const bool stays = c == 0 || (kept.size() < allowed && is_promising);
      (stays ? kept : left).push_back(c);
    }
    compared_.keep(kept, left);
  }

  bool needs_audit() const {
    if (audits_.size() < (is_whole_ ? 2 * plan_.audits : plan_.audits)) return true;
    if (audits_.size() >= plan_.most_audits) return false;
    const auto last = std::span(audits_).last(plan_.audits);
    return std::ranges::any_of(
        last, [&](const comparisons::audited& each) { return each.loss > plan_.limits.loss; });
  }

  /// Searches around the choice for new sizes. Returns false if there are no new sizes.
  bool audit(const portfolio_fit& fit) {
    std::optional<size_list> at;
    for (int tries = 0; !at && tries < 16; ++tries) {
      size_list next = spread_sizes(plan_.ranges, 1, 4 * places_.spread() + drawn_++).front();
      if (!compared_.has(next)) at = std::move(next);
    }
    if (!at) return false;
    const std::size_t chosen = choose(fit, *at);
    const std::vector<configuration> candidates =
        is_whole_
            ? compared_.others()
            : from_.search(*at, {.best = comparisons::most_fresh}, configurations()[chosen]).best;
    if (const auto found = compared_.audit(*at, chosen, candidates)) audits_.push_back(*found);
    return true;
  }

  const std::vector<configuration>& configurations() const { return compared_.configurations(); }
  const size_times& times() const { return compared_.times(); }
  const std::vector<size_list>& sizes() const { return compared_.sizes(); }

  const portfolio_plan& plan_;
  portfolio_source& from_;
  sample_places places_;
  comparisons compared_;
  bool is_by_costs_ = false;                 // false: a tree chooses
  bool is_corrected_ = false;                // true if predicted times are corrected
  std::vector<double> left_out_;             // losses of the portfolio at left-out samples
  bool is_between_ = true;                   // true if the tree uses samples in between
  std::vector<size_times::sample> between_;  // samples without measurements
  bool is_whole_ = false;                    // true if the configurations are the whole space
  std::vector<comparisons::audited> audits_;
  std::size_t drawn_ = 0;  // sizes for audits
};

}  // namespace

size_point point_of(std::span<const std::uint64_t> sizes, const size_features& features) {
  size_point point{};
  double product = 1;
  for (std::size_t d = 0; d < sizes.size(); ++d) {
    point[d] = static_cast<double>(sizes[d]);
    product *= point[d];
  }
  point[sizes.size()] = product;
  for (std::size_t d = 0; d < sizes.size(); ++d) {
    point[sizes.size() + 1 + d] = static_cast<double>(sizes[d] & (~sizes[d] + 1));
  }
  if (!features) return point;
  const size_feature_list more = features(sizes);
  std::ranges::copy(more, point.begin() + static_cast<std::ptrdiff_t>(2 * sizes.size() + 1));
  return point;
}

built_portfolio build_portfolio(const portfolio_plan& plan, const configuration& fallback,
                                portfolio_source& from) {
  if (plan.ranges.empty() || plan.ranges.size() > most_ranges) {
    throw argument_error(fmt::format("a portfolio is for one to {} ranges of sizes, not for {}",
                                     most_ranges, plan.ranges.size()));
  }
  return builder(plan, fallback, from).build();
}

}  // namespace tune
