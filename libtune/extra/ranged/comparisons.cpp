// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/ranged/comparisons.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <utility>

namespace tune {
namespace {

constexpr double notable_gain = 0.02;  // of an audit's candidates

/// Returns the elements at these places.
template <class T>
std::vector<T> those(const std::vector<T>& all, const std::vector<std::size_t>& places) {
  std::vector<T> some;
  for (const std::size_t place : places) some.push_back(all[place]);
  return some;
}

std::size_t least_of(std::span<const double> times) {
  return static_cast<std::size_t>(std::ranges::min_element(times) - times.begin());
}

/// Returns the numbers from one to another, without the latter.
std::vector<std::size_t> range_of(std::size_t from, std::size_t to) {
  std::vector<std::size_t> all(to - from);
  std::iota(all.begin(), all.end(), from);
  return all;
}

bool is_time(const std::optional<double>& measured) { return measured && !std::isnan(*measured); }

}  // namespace

comparisons::comparisons(const portfolio_plan& plan, const configuration& fallback,
                         portfolio_source& from)
    : plan_(plan), from_(from), configurations_{fallback}, seen_{fallback} {}

bool comparisons::has(const size_list& at) const {
  return std::ranges::find(sizes_, at) != sizes_.end();
}

double comparisons::distance(const size_list& a, const size_list& b) const {
  double sum = 0;
  for (std::size_t d = 0; d < plan_.ranges.size(); ++d) {
    const double apart = plan_.ranges[d].part(a[d]) - plan_.ranges[d].part(b[d]);
    sum += apart * apart;
  }
  return sum;
}

void comparisons::add(std::span<const configuration> found) {
  for (const configuration& each : found) {
    const bool is_new = std::ranges::find(configurations_, each) == configurations_.end();
    if (is_new) configurations_.push_back(each);
    if (std::ranges::find(seen_, each) == seen_.end()) seen_.push_back(each);
  }
}

bool comparisons::compare(const size_list& at, double weight) {
  if (has(at) || (!times_.samples.empty() && from_.should_stop())) return false;
  auto measured = from_.measure(at, configurations_);
  const auto best = std::ranges::min_element(
      measured, {}, [](const auto& time) { return is_time(time) ? *time : does_not_work; });
  if (is_time(*best)) {
    try_again(at, static_cast<std::size_t>(best - measured.begin()), **best, 0, measured);
  }
  fill_in(at, measured);
  const size_point point = point_of(at, plan_.features);
  size_times::sample sample{.point = {point.begin(), point.end()}, .weight = weight};
  // Requested sizes have no place, so that smoothing leaves them unchanged.
  if (weight == 1) sample.place = parts_of(plan_.ranges, at);
  for (std::size_t i = 0; i < measured.size(); ++i) {
    sample.times.push_back(measured[i].value_or(does_not_work));
    sample.fits.push_back(from_.fits(configurations_[i], at));
    if (plan_.costs) sample.terms.push_back(plan_.costs(configurations_[i])(at));
  }
  if (std::ranges::none_of(measured, &std::optional<double>::has_value)) return false;
  times_.samples.push_back(std::move(sample));
  sizes_.push_back(at);
  return true;
}

void comparisons::keep(const numbers& kept, const numbers& left) {
  for (const std::size_t each : left) others_.push_back(configurations_[each]);
  take(kept);
}

void comparisons::discard(const std::vector<bool>& works) {
  numbers kept;
  for (std::size_t c = 0; c < works.size(); ++c) {
    if (works[c]) kept.push_back(c);
  }
  if (kept.size() < works.size()) take(kept);
}

void comparisons::take(const numbers& kept) {
  configurations_ = those(configurations_, kept);
  times_.imagined.reset();
  for (size_times::sample& each : times_.samples) {
    each.times = those(each.times, kept);
    each.fits = those(each.fits, kept);
    if (plan_.costs) each.terms = those(each.terms, kept);
  }
  // Drops samples at which only discarded configurations work.
  for (std::size_t s = sizes_.size(); s-- > 0;) {
    if (!std::isinf(std::ranges::min(times_.samples[s].times))) continue;
    times_.samples.erase(times_.samples.begin() + static_cast<std::ptrdiff_t>(s));
    sizes_.erase(sizes_.begin() + static_cast<std::ptrdiff_t>(s));
  }
}

void comparisons::imagine(const std::vector<size_list>& at) {
  std::vector<std::vector<cost_terms>> all(at.size());
  for (const configuration& each : configurations_) {
    const cost_function cost = plan_.costs(each);
    for (std::size_t i = 0; i < at.size(); ++i) all[i].push_back(cost(at[i]));
  }
  times_.imagined = std::make_shared<const std::vector<std::vector<cost_terms>>>(std::move(all));
}

std::optional<comparisons::audited> comparisons::audit(const size_list& at, std::size_t chosen,
                                                       std::span<const configuration> candidates) {
  const std::size_t known = configurations_.size();
  add(candidates);
  if (!compare(at, 1)) {
    configurations_.resize(known);
    return std::nullopt;
  }
  confirm_best(at, known);
  size_times::sample& here = times_.samples.back();
  const double best = std::ranges::min(here.times);
  const double best_known = std::ranges::min(std::span(here.times).first(known));
  const audited found{.loss = here.times[chosen] / best - 1, .gap = best_known / best - 1};
  numbers fresh = range_of(known, configurations_.size());
  std::ranges::stable_sort(fresh, {}, [&](std::size_t c) { return here.times[c]; });
  std::erase_if(fresh,
                [&](std::size_t c) { return here.times[c] * (1 + notable_gain) > best_known; });
  if (fresh.size() > most_fresh) fresh.resize(most_fresh);
  numbers kept = range_of(0, known);
  kept.insert(kept.end(), fresh.begin(), fresh.end());
  configurations_ = those(configurations_, kept);
  times_.imagined.reset();
  here.times = those(here.times, kept);
  here.fits = those(here.fits, kept);
  if (plan_.costs) here.terms = those(here.terms, kept);
  for (std::size_t c = known; c < kept.size(); ++c) std::erase(others_, configurations_[c]);
  for (std::size_t s = 0; !fresh.empty() && s + 1 < times_.samples.size(); ++s) extend(s, known);
  return found;
}

/// True if the configuration has worked at all sizes at which it was measured.
bool comparisons::has_worked(std::size_t number) const {
  bool has_time = false;
  for (const size_times::sample& each : times_.samples) {
    if (number >= each.times.size() || !each.fits[number]) continue;
    if (std::isinf(each.times[number])) return false;
    has_time = true;
  }
  return has_time;
}

/// Measures some configurations in another run. The best one is measured again, too, and its time
/// scales the others to the first run.
comparisons::times_of_some comparisons::measure_beside(const size_list& at, std::size_t best,
                                                       double time, const numbers& all) {
  std::vector<configuration> measured{configurations_[best]};
  for (const std::size_t each : all) measured.push_back(configurations_[each]);
  times_of_some found = from_.measure(at, measured);
  const double scale = found.front() && *found.front() > 0 ? time / *found.front() : 1;
  found.erase(found.begin());
  for (auto& each : found) {
    if (each) *each *= scale;
  }
  return found;
}

/// Measures configurations again that failed here and have worked at all other sizes. One that
/// fails again no longer counts as working everywhere, and is not measured a third time.
/// @param best      the configuration that was measured in this time
/// @param measured  the times of the configurations from `first` on
void comparisons::try_again(const size_list& at, std::size_t best, double time, std::size_t first,
                            times_of_some& measured) {
  numbers failed;
  for (std::size_t i = 0; i < measured.size(); ++i) {
    const bool has_failed = !measured[i] && from_.fits(configurations_[first + i], at);
    if (has_failed && has_worked(first + i)) failed.push_back(first + i);
  }
  if (failed.empty()) return;
  const times_of_some again = measure_beside(at, best, time, failed);
  for (std::size_t i = 0; i < failed.size(); ++i) {
    if (is_time(again[i])) measured[failed[i] - first] = again[i];
  }
}

/// Sets the time of configurations without a measurement: relative to the best time, as at the
/// nearest size, or so large that they are not chosen.
void comparisons::fill_in(const size_list& at, times_of_some& measured) const {
  double best = does_not_work;
  bool is_complete = true;
  for (const auto& each : measured) {
    if (each && std::isnan(*each)) is_complete = false;
    if (each && *each < best) best = *each;
  }
  if (is_complete) return;
  numbers near = range_of(0, sizes_.size());
  std::ranges::stable_sort(near, {}, [&](std::size_t s) { return distance(at, sizes_[s]); });
  for (std::size_t c = 0; c < measured.size(); ++c) {
    if (!measured[c] || !std::isnan(*measured[c])) continue;
    measured[c].reset();
    if (std::isinf(best)) continue;
    const bool is_known = !near.empty() && c < times_.samples[near.front()].times.size();
    const double loss = is_known ? times_.loss(near.front(), c) : 2 * promising;
    if (!std::isinf(loss)) measured[c] = best * (1 + std::max(loss, promising));
  }
}

/// Measures the best of all and the best known one again, side by side, if they differ notably:
/// otherwise a momentary disturbance of the device would count as a loss.
void comparisons::confirm_best(const size_list& at, std::size_t known) {
  std::vector<double>& times = times_.samples.back().times;
  const numbers both{least_of(std::span(times).first(known)), least_of(times)};
  if (times[both[0]] <= times[both[1]] * (1 + notable_gain)) return;
  const auto again = from_.measure(at, those(configurations_, both));
  for (std::size_t i = 0; i < both.size(); ++i) {
    if (is_time(again[i])) times[both[i]] = *again[i];
  }
}

/// Measures the configurations from a number on at the sizes of a sample that lacks their times.
void comparisons::extend(std::size_t sample, std::size_t fresh) {
  const size_list& at = sizes_[sample];
  size_times::sample& of = times_.samples[sample];
  const std::size_t best = least_of(of.times);
  const numbers all = range_of(fresh, configurations_.size());
  times_of_some found = measure_beside(at, best, of.times[best], all);
  try_again(at, best, of.times[best], fresh, found);
  for (std::size_t i = 0; i < all.size(); ++i) {
    of.times.push_back(is_time(found[i]) ? *found[i] : does_not_work);
    of.fits.push_back(from_.fits(configurations_[all[i]], at));
    if (plan_.costs) of.terms.push_back(plan_.costs(configurations_[all[i]])(at));
  }
}

}  // namespace tune
