// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/measure/race/race_book.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <numeric>
#include <utility>

#include "libtune/base/error.hpp"

namespace tune {
namespace {

constexpr double least_spread = 0.0005;
// Further deviations of a large search would change nothing.
constexpr std::size_t enough_deviations = 4096;

}  // namespace

void pooled_spread::add(const samples& of) {
  if (of.size() < 2 || !of.valid() || deviations_.size() >= enough_deviations) return;
  const run_time centre = of.median();
  const auto count = static_cast<double>(of.size());
  // Because the median comes from the same samples, deviations from it are too small.
  const double correction = std::sqrt(count / (count - 1));
  // With an odd number, the middle one does not deviate from itself, and is skipped.
  std::size_t skipped = of.size() % 2;
  for (const run_time time : of.times()) {
    if (skipped > 0 && time == centre) {
      --skipped;
      continue;
    }
    deviations_.push_back(std::abs(time / centre - 1) * correction);
  }
  if (deviations_.size() >= next_update_) update();
}

void pooled_spread::update() {
  next_update_ = deviations_.size() + std::max<std::size_t>(1, deviations_.size() / 8);
  const auto middle = deviations_.begin() + static_cast<std::ptrdiff_t>(deviations_.size() / 2);
  std::nth_element(deviations_.begin(), middle, deviations_.end());
  constexpr double normal_consistency = 1.4826;
  value_ = std::max(least_spread, *middle * normal_consistency);
}

namespace detail {
namespace {

samples to_samples(std::span<const run_time> times) {
  return samples(std::vector<run_time>(times.begin(), times.end()));
}

bool is_of(const race_entry& entry, const race_visit& visit) {
  const bool final = entry.state == race_state::finalist || entry.state == race_state::eliminated;
  return !visit.discarded && visit.final == final;
}

}  // namespace

run_time race_visit::total() const {
  return std::accumulate(times.begin(), times.end(), run_time::zero());
}

race_book::race_book(const race_settings& settings) : settings_(settings), drift_(settings.drift) {
  blocks_.emplace_back();
}

race_entry& race_book::add(std::size_t configuration, double rank, race_cost cost) {
  if (!places_.emplace(configuration, entries_.size()).second) {
    throw argument_error(
        fmt::format("configuration {} has arrived in this race before", configuration));
  }
  entries_.push_back({.configuration = configuration,
                      .place = entries_.size(),
                      .rank = rank,
                      .cost = std::move(cost)});
  return entries_.back();
}

race_entry& race_book::at(std::size_t configuration) {
  return entries_[std::as_const(*this).at(configuration).place];
}

const race_entry& race_book::at(std::size_t configuration) const {
  const auto found = places_.find(configuration);
  if (found == places_.end()) {
    throw argument_error(fmt::format("configuration {} is not in this race", configuration));
  }
  return entries_[found->second];
}

void race_book::record(race_entry& entry, std::span<const run_time> times, int runs, bool final) {
  entry.visits.push_back({.block = open_block(),
                          .final = final,
                          .discarded = false,
                          .runs = runs,
                          .times = {times.begin(), times.end()}});
  entry.spent += entry.visits.back().total();
  if (sentinel_ != entry.place) blocks_.back().spent += entry.visits.back().total();
  entry.adjusted.reset();
  entry.runs += runs;
  if (sentinel_ == entry.place) return;
  runs_in_block_ += runs;
  drift_.spend(entry.visits.back().total(), runs);
}

void race_book::open(race_entry& sentinel) {
  sentinel_score_ = score(sentinel);
  sentinel_ = sentinel.place;
  const run_time time = time_of(sentinel);
  drift_.open(samples({time}), spread(), time);
  begin_block();
  level_since_ = open_block();
}

drift_verdict race_book::open(race_entry& sentinel, std::span<const run_time> times) {
  sentinel.visits.back().discarded = true;
  sentinel.adjusted.reset();
  const run_time known = time_of(sentinel);
  const run_time known_score = score(sentinel);
  sentinel.visits.back().discarded = false;
  const drift_verdict verdict = drift_.open(to_samples(times), spread(), known);
  judge_visit(sentinel, verdict);
  if (verdict == drift_verdict::disturbed) return verdict;
  sentinel_score_ = known_score;
  sentinel_ = sentinel.place;
  begin_block();
  level_since_ = open_block();
  return verdict;
}

// A visit to the sentinel has its own level; in a disturbance it gives no time of the sentinel.
void race_book::judge_visit(race_entry& sentinel, drift_verdict verdict) {
  race_visit& visit = sentinel.visits.back();
  visit.factor = 1 / drift_.now();
  visit.discarded = verdict == drift_verdict::disturbed;
  if (visit.discarded) sentinel.runs -= visit.runs;
  sentinel.adjusted.reset();
}

void race_book::begin_block() {
  blocks_.push_back({.factor = 1 / drift_.before()});
  runs_in_block_ = 0;
}

drift_verdict race_book::close(std::span<const run_time> times) {
  const drift_verdict verdict = drift_.close(to_samples(times), spread());
  const std::size_t closed = open_block();
  judge_visit(entries_[*sentinel_], verdict);
  blocks_[closed].unresolved = verdict == drift_verdict::unresolved;
  blocks_[closed].factor =
      verdict == drift_verdict::disturbed ? 1 / drift_.now() : 1 / drift_.level();
  if (drift_.has_jumped()) level_since_ = closed;
  const bool is_one = drift_.is_one_level() && verdict == drift_verdict::steady;
  if (is_one) {
    for (std::size_t i = level_since_; i < closed; ++i) blocks_[i].factor = blocks_[closed].factor;
  }
  for (race_entry& entry : entries_) {
    const bool is_closed = !entry.visits.empty() && entry.visits.back().block == closed;
    if (is_one || is_closed) entry.adjusted.reset();
  }
  begin_block();
  return verdict;
}

bool race_book::was_in(const race_entry& entry, std::size_t block) const {
  return std::ranges::any_of(entry.visits, [block](const race_visit& visit) {
    return visit.block == block && !visit.discarded && visit.factor == 0;
  });
}

void race_book::discard(race_entry& entry, std::size_t block) {
  for (race_visit& visit : entry.visits) {
    if (visit.block != block || visit.discarded || visit.factor != 0) continue;
    visit.discarded = true;
    entry.runs -= visit.runs;
  }
  entry.adjusted.reset();
}

void race_book::discard_final(race_entry& entry) {
  for (race_visit& visit : entry.visits) visit.discarded = visit.discarded || visit.final;
  entry.runs = 0;
  entry.adjusted.reset();
}

std::vector<run_time> race_book::adjusted_times(const race_entry& entry,
                                                bool (*counts)(const race_entry&,
                                                               const race_visit&)) const {
  std::vector<run_time> times;
  for (const race_visit& visit : entry.visits) {
    if (!counts(entry, visit)) continue;
    const double factor = visit.factor != 0 ? visit.factor : blocks_[visit.block].factor;
    for (const run_time time : visit.times) times.push_back(time * factor);
  }
  return times;
}

// If the device changed and there was no time to measure again, the discarded times are reported,
// but not used for decisions.
std::vector<run_time> race_book::counted_times(const race_entry& entry) const {
  std::vector<run_time> times = adjusted_times(entry, is_of);
  if (times.empty()) {
    times = adjusted_times(
        entry, [](const race_entry&, const race_visit& visit) { return !visit.discarded; });
  }
  if (times.empty()) {
    times = adjusted_times(entry, [](const race_entry&, const race_visit&) { return true; });
  }
  return times;
}

void race_book::refresh(race_entry& entry) const {
  if (entry.adjusted) return;
  std::vector<run_time> deciding = adjusted_times(entry, is_of);
  std::vector<run_time> times = deciding.empty() ? counted_times(entry) : deciding;
  entry.time = samples(times).median();
  if (entry.cost) {
    std::ranges::transform(deciding, deciding.begin(), entry.cost);
    std::ranges::transform(times, times.begin(), entry.cost);
  }
  entry.bounds = confidence_interval(samples(deciding), settings_.confidence, spread());
  entry.adjusted = samples(std::move(times));
  entry.median = entry.adjusted->median();
}

run_time race_book::time_of(race_entry& entry) const {
  refresh(entry);
  return entry.time;
}

const samples& race_book::adjusted(race_entry& entry) const {
  refresh(entry);
  return *entry.adjusted;
}

const interval& race_book::bounds(race_entry& entry) const {
  refresh(entry);
  return entry.bounds;
}

interval race_book::decisive_bounds(race_entry& entry) const {
  if (sentinel_ == entry.place) return {.lower = sentinel_score_, .upper = sentinel_score_};
  return bounds(entry);
}

run_time race_book::score(race_entry& entry) const {
  refresh(entry);
  return entry.median;
}

}  // namespace detail
}  // namespace tune
