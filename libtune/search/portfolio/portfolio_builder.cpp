// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/search/portfolio/portfolio_builder.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <limits>
#include <numeric>
#include <utility>

#include "libtune/base/error.hpp"

namespace tune {
namespace {

using configuration = portfolio_source::configuration;

constexpr double share_of_sizes = 0.9;        // that the worst loss is stated for
constexpr double share_of_comparisons = 0.8;  // of the time, before the audits
constexpr double share_of_audits = 0.92;      // before the leaves are checked
constexpr double notable_gain = 0.01;         // of what an audit finds
constexpr double does_not_work = std::numeric_limits<double>::infinity();

/// The steps of the sequence R_d: powers of the root of x^(d+1) = x + 1, inverted.
std::vector<double> steps_of(std::size_t dimensions) {
  double root = 2;
  for (int i = 0; i < 64; ++i) root = std::pow(1 + root, 1 / static_cast<double>(dimensions + 1));
  std::vector<double> steps;
  for (std::size_t d = 1; d <= dimensions; ++d) {
    steps.push_back(std::pow(root, -static_cast<double>(d)));
  }
  return steps;
}

/// Sizes to search at: large ones, then for each range a small one with the others in the middle;
/// then others, evenly.
std::vector<size_list> searched_sizes(std::span<const size_range> ranges, std::size_t count) {
  constexpr double large = 0.8;
  constexpr double middle = 0.6;
  constexpr double small = 0.2;
  std::vector<size_list> places;
  for (std::size_t i = 0; i <= ranges.size() && places.size() < count; ++i) {
    size_list& at = places.emplace_back();
    for (std::size_t d = 0; d < ranges.size(); ++d) {
      at.push_back(ranges[d].at(i == 0 ? large : d + 1 == i ? small : middle));
    }
  }
  // Small ranges have the same sizes again.
  for (size_list& each : spread_sizes(ranges, 2 * count)) places.push_back(std::move(each));
  return places;
}

class builder {
 public:
  builder(const portfolio_plan& plan, const configuration& fallback, portfolio_source& from)
      : plan_(plan), from_(from), asked_(wanted(plan)), configurations_{fallback} {}

  built_portfolio build() {
    std::size_t failed = 0;
    for (const size_list& at : places_of_searches()) {
      if (from_.should_stop()) break;
      auto found = from_.search(at, plan_.finalists, std::nullopt);
      // Large arrays may have no room.
      if (found.empty() && !from_.should_stop()) {
        const size_list other = spread_sizes(plan_.ranges, 1, failed++).front();
        found = from_.search(other, plan_.finalists, std::nullopt);
      }
      add(found);
    }
    compare_at_samples();
    if (times_.samples.empty()) {
      return {.configurations = {configurations_.front()},
              .orders = {{0}},
              .expected_loss = does_not_work,
              .worst_loss = does_not_work};
    }
    portfolio_fit fit = fit_portfolio(times_, plan_.limits);
    while (from_.used_time() < share_of_audits && needs_audit()) {
      if (!audit(fit)) break;
      fit = fit_portfolio(times_, plan_.limits);
    }
    built_portfolio made = conclude(fit);
    check_leaves(made);
    end_with_fallback(made);
    order(made);
    return made;
  }

 private:
  std::size_t add(const std::vector<configuration>& found) {
    const std::size_t before = configurations_.size();
    for (const configuration& each : found) {
      const bool is_new = std::ranges::find(configurations_, each) == configurations_.end();
      if (is_new) configurations_.push_back(each);
    }
    return configurations_.size() - before;
  }

  /// Those that were asked for most come first, and before them what is in no range.
  static std::vector<asked_sizes> wanted(const portfolio_plan& plan) {
    std::vector<asked_sizes> asked;
    for (const asked_sizes& each : plan.asked) {
      if (each.sizes.size() == plan.ranges.size() && each.count > 0) asked.push_back(each);
    }
    std::ranges::stable_sort(asked, std::ranges::greater(), &asked_sizes::count);
    std::stable_partition(asked.begin(), asked.end(), [&](const asked_sizes& each) {
      return !are_inside(plan.ranges, each.sizes);
    });
    if (asked.size() > plan.most_asked) asked.resize(plan.most_asked);
    return asked;
  }

  // Half of them at sizes that are asked for most.
  std::vector<size_list> places_of_searches() const {
    std::vector<asked_sizes> asked = asked_;
    std::ranges::stable_sort(asked, std::ranges::greater(), &asked_sizes::count);
    std::vector<size_list> places;
    for (const asked_sizes& each : asked) {
      if (2 * places.size() < plan_.searches) places.push_back(each.sizes);
    }
    for (const size_list& each : searched_sizes(plan_.ranges, plan_.searches)) {
      const bool is_new = std::ranges::find(places, each) == places.end();
      if (is_new && places.size() < plan_.searches) places.push_back(each);
    }
    return places;
  }

  std::size_t spread_samples() const {
    return plan_.samples != 0 ? plan_.samples : std::size_t{16} + 16 * plan_.ranges.size();
  }

  bool has_sample(const size_list& at) const {
    return std::ranges::find(sizes_, at) != sizes_.end();
  }

  void compare_at_samples() {
    std::vector<size_list> spread = corner_sizes(plan_.ranges);
    for (size_list& each : spread_sizes(plan_.ranges, spread_samples())) {
      spread.push_back(std::move(each));
    }
    double total = 0;
    for (const asked_sizes& each : asked_) total += static_cast<double>(each.count);
    for (const asked_sizes& each : asked_) {
      compare(each.sizes,
              static_cast<double>(each.count) / total * static_cast<double>(spread.size()));
    }
    for (const size_list& each : spread) {
      if (from_.used_time() < share_of_comparisons) compare(each, 1);
    }
  }

  /// Measures all configurations at sizes. Returns false if none works there.
  bool compare(const size_list& at, double weight) {
    if (has_sample(at) || (!times_.samples.empty() && from_.should_stop())) return false;
    const auto measured = from_.measure(at, configurations_);
    const size_point point = point_of(at, plan_.features);
    size_times::sample sample{.point = {point.begin(), point.end()}, .weight = weight};
    for (std::size_t i = 0; i < measured.size(); ++i) {
      sample.times.push_back(measured[i].value_or(does_not_work));
      sample.fits.push_back(from_.fits(configurations_[i], at));
    }
    if (std::ranges::none_of(measured, &std::optional<double>::has_value)) return false;
    times_.samples.push_back(std::move(sample));
    sizes_.push_back(at);
    return true;
  }

  bool needs_audit() const {
    if (audits_.size() < plan_.audits) return true;
    if (audits_.size() >= plan_.most_audits) return false;
    const auto last = std::span(audits_).last(plan_.audits);
    return std::ranges::any_of(last,
                               [&](const audited& each) { return each.loss > plan_.limits.loss; });
  }

  /// Searches around the choice for sizes that have not been seen. Returns false if there are none.
  bool audit(const portfolio_fit& fit) {
    std::optional<size_list> at;
    for (int tries = 0; !at && tries < 16; ++tries) {
      size_list next = spread_sizes(plan_.ranges, 1, spread_samples() + drawn_++).front();
      if (!has_sample(next)) at = std::move(next);
    }
    if (!at) return false;
    const std::size_t chosen = fit.choose(point_of(*at, plan_.features));
    const std::size_t fresh = add(from_.search(*at, plan_.finalists, configurations_[chosen]));
    if (!compare(*at, 1)) {
      configurations_.resize(configurations_.size() - fresh);
      return true;
    }
    size_times::sample& here = times_.samples.back();
    const double best = *std::ranges::min_element(here.times);
    const auto before = std::span(here.times).first(here.times.size() - fresh);
    const double gap = *std::ranges::min_element(before) / best - 1;
    audits_.push_back({.loss = here.times[chosen] / best - 1, .gap = gap});
    if (gap > notable_gain) {
      for (std::size_t s = 0; s + 1 < times_.samples.size(); ++s) extend(s, fresh);
    } else {
      configurations_.resize(configurations_.size() - fresh);
      here.times.resize(configurations_.size());
      here.fits.resize(configurations_.size());
    }
    return true;
  }

  // Times of another day are comparable by that of the configuration that was best.
  void extend(std::size_t sample, std::size_t fresh) {
    std::vector<double>& times = times_.samples[sample].times;
    const auto best = static_cast<std::size_t>(std::ranges::min_element(times) - times.begin());
    std::vector<configuration> measured{configurations_[best]};
    measured.insert(measured.end(), configurations_.end() - static_cast<std::ptrdiff_t>(fresh),
                    configurations_.end());
    const auto found = from_.measure(sizes_[sample], measured);
    const double scale = found.front() ? times[best] / *found.front() : 1;
    for (std::size_t i = 1; i < found.size(); ++i) {
      times.push_back(found[i] ? *found[i] * scale : does_not_work);
      times_.samples[sample].fits.push_back(from_.fits(measured[i], sizes_[sample]));
    }
  }

  built_portfolio conclude(const portfolio_fit& fit) const {
    built_portfolio made{
        .tree = fit.tree, .sizes = times_.samples.size(), .compared = configurations_.size()};
    for (const std::size_t each : fit.configurations) {
      made.configurations.push_back(configurations_[each]);
    }
    // A size that was left out has its choice compared with what others have found.
    const std::vector<double> losses = left_out_losses(times_, plan_.limits);
    double gap = 0;
    double mean_gap = 0;
    for (const audited& each : audits_) {
      gap = std::max(gap, each.gap);
      mean_gap += each.gap / static_cast<double>(audits_.size());
    }
    double bound = loss_bound(losses, share_of_sizes);
    // Of too few sizes the largest loss is all that can be said.
    if (std::isinf(bound) && !losses.empty()) bound = *std::ranges::max_element(losses);
    made.worst_loss = (1 + bound) * (1 + gap) - 1;
    const double mean = std::accumulate(losses.begin(), losses.end(), 0.0) /
                        static_cast<double>(std::max<std::size_t>(losses.size(), 1));
    made.expected_loss = (1 + mean) * (1 + mean_gap) - 1;
    return made;
  }

  /// Sizes from the lowest to the highest of each range.
  struct box {
    size_list low;
    size_list high;
  };

  /// Runs the choice of each leaf at both of its ends and in its middle, and replaces one that does
  /// not work by another that does, at last by the fallback.
  void check_leaves(built_portfolio& made) {
    box whole;
    for (const size_range& each : plan_.ranges) {
      whole.low.push_back(each.low());
      whole.high.push_back(each.high());
    }
    check_leaves(made, 0, whole);
  }

  void check_leaves(built_portfolio& made, std::size_t at, const box& within) {
    const size_tree::node node = made.tree.nodes()[at];
    if (node.coordinate < 0) return check_leaf(made, at, within);
    box below = within;
    box above = within;
    const auto d = static_cast<std::size_t>(node.coordinate);
    if (d < plan_.ranges.size()) {
      const size_range& sizes = plan_.ranges[d];
      const auto last = static_cast<std::uint64_t>(std::max(node.threshold, 0.0));
      below.high[d] =
          std::clamp(last / sizes.multiple() * sizes.multiple(), within.low[d], within.high[d]);
      above.low[d] = std::clamp((last / sizes.multiple() + 1) * sizes.multiple(), within.low[d],
                                within.high[d]);
    }
    check_leaves(made, node.below, below);
    check_leaves(made, node.above, above);
  }

  void check_leaf(built_portfolio& made, std::size_t leaf, const box& within) {
    size_list middle;
    for (std::size_t d = 0; d < within.low.size(); ++d) {
      const size_range& sizes = plan_.ranges[d];
      middle.push_back(sizes.at((sizes.part(within.low[d]) + sizes.part(within.high[d])) / 2));
    }
    std::vector<size_list> places;
    for (const size_list& each : {within.low, within.high, middle}) {
      const bool is_here = made.tree.leaf(point_of(each, plan_.features)) == leaf;
      if (is_here && !has_sample(each)) places.push_back(each);
    }
    const std::uint32_t chosen = made.tree.nodes()[leaf].below;
    if (works_at(made.configurations[chosen], places)) return;
    for (std::uint32_t other = 0; other < made.configurations.size(); ++other) {
      if (other == chosen || !works_at(made.configurations[other], places)) continue;
      made.tree = made.tree.with_choice(leaf, other);
      return;
    }
    made.tree = made.tree.with_choice(leaf, static_cast<std::uint32_t>(made.configurations.size()));
    made.configurations.push_back(configurations_.front());
  }

  /// The fallback becomes the last, and may be chosen as well.
  void end_with_fallback(built_portfolio& made) const {
    auto& all = made.configurations;
    const auto own = std::ranges::find(all, configurations_.front());
    const auto place = static_cast<std::uint32_t>(own - all.begin());
    if (own == all.end()) all.push_back(configurations_.front());
    const auto last = static_cast<std::uint32_t>(all.size() - 1);
    if (place == last) return;
    std::swap(all[place], all[last]);
    std::vector<size_tree::node> nodes = made.tree.nodes();
    for (size_tree::node& each : nodes) {
      if (each.coordinate >= 0) continue;
      each.below = each.below == place ? last : each.below == last ? place : each.below;
    }
    made.tree = size_tree(std::move(nodes));
  }

  /// Sets the order in which others take the place of a choice that does not fit.
  void order(built_portfolio& made) const {
    std::vector<std::size_t> numbers;
    for (const configuration& each : made.configurations) {
      const auto found = std::ranges::find(configurations_, each);
      numbers.push_back(static_cast<std::size_t>(found - configurations_.begin()));
    }
    made.orders = order_leaves(times_, made.tree, numbers, plan_.limits);
    for (std::size_t s = 0; s < sizes_.size(); ++s) {
      if (are_inside(plan_.ranges, sizes_[s])) continue;
      const std::vector<double>& times = times_.samples[s].times;
      proven_sizes& at = made.proven.emplace_back(proven_sizes{.sizes = sizes_[s]});
      for (std::uint32_t place = 0; place < numbers.size(); ++place) {
        if (!std::isinf(times[numbers[place]])) at.order.push_back(place);
      }
      std::ranges::stable_sort(at.order, {},
                               [&](std::uint32_t place) { return times[numbers[place]]; });
    }
    std::erase_if(made.proven, [](const proven_sizes& each) { return each.order.empty(); });
    std::ranges::sort(made.proven, {}, &proven_sizes::sizes);
  }

  bool works_at(const configuration& one, const std::vector<size_list>& places) {
    return std::ranges::all_of(places, [&](const size_list& at) {
      if (from_.should_stop()) return true;  // what is in the ranges is taken to work
      return !from_.fits(one, at) || from_.measure(at, std::span(&one, 1)).front().has_value();
    });
  }

  const portfolio_plan& plan_;
  portfolio_source& from_;
  std::vector<asked_sizes> asked_;
  std::vector<configuration> configurations_;  // the first is the fallback
  size_times times_;
  std::vector<size_list> sizes_;  // of the samples
  struct audited {
    double loss;  // of the choice
    double gap;   // of the best that had been compared before
  };
  std::vector<audited> audits_;
  std::size_t drawn_ = 0;  // sizes for audits
};

}  // namespace

bool are_inside(std::span<const size_range> ranges, std::span<const std::uint64_t> sizes) noexcept {
  if (sizes.size() != ranges.size()) return false;
  for (std::size_t d = 0; d < sizes.size(); ++d) {
    if (!ranges[d].contains(sizes[d])) return false;
  }
  return true;
}

size_point point_of(std::span<const std::uint64_t> sizes, const size_features& features) {
  size_point point{};
  double product = 1;
  for (std::size_t d = 0; d < sizes.size(); ++d) {
    point[d] = static_cast<double>(sizes[d]);
    product *= point[d];
  }
  point[sizes.size()] = product;
  if (!features) return point;
  const size_feature_list more = features(sizes);
  std::ranges::copy(more, point.begin() + static_cast<std::ptrdiff_t>(sizes.size() + 1));
  return point;
}

std::vector<size_list> corner_sizes(std::span<const size_range> ranges) {
  std::vector<size_list> corners;
  for (std::size_t bits = 0; bits < std::size_t{1} << ranges.size(); ++bits) {
    size_list corner;
    for (std::size_t d = 0; d < ranges.size(); ++d) {
      corner.push_back((bits >> d & 1) != 0 ? ranges[d].high() : ranges[d].low());
    }
    if (std::ranges::find(corners, corner) == corners.end()) corners.push_back(std::move(corner));
  }
  return corners;
}

std::vector<size_list> spread_sizes(std::span<const size_range> ranges, std::size_t count,
                                    std::size_t skip) {
  const std::vector<double> steps = steps_of(ranges.size());
  std::vector<size_list> all;
  for (std::size_t i = skip; i < skip + count; ++i) {
    size_list& at = all.emplace_back();
    for (std::size_t d = 0; d < ranges.size(); ++d) {
      const double exact = 0.5 + static_cast<double>(i) * steps[d];
      at.push_back(ranges[d].at(exact - std::floor(exact)));
    }
  }
  return all;
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
