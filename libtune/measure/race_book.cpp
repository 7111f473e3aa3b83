// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/measure/race_book.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <utility>

#include "libtune/base/error.hpp"

namespace tune::detail {
namespace {

samples to_samples(std::span<const run_time> times) {
  return samples(std::vector<run_time>(times.begin(), times.end()));
}

bool is_of(const race_entry& entry, const race_visit& visit) {
  const bool final = entry.state == race_state::finalist || entry.state == race_state::beaten;
  return !visit.discarded && visit.final == final;
}

}  // namespace

race_book::race_book(const race_settings& settings) : settings_(settings), drift_(settings.drift) {
  levels_.push_back(1);
}

race_entry& race_book::add(std::size_t configuration, double rank) {
  if (!places_.emplace(configuration, entries_.size()).second) {
    throw argument_error(
        fmt::format("configuration {} has arrived in this race before", configuration));
  }
  entries_.push_back({.configuration = configuration, .place = entries_.size(), .rank = rank});
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
  for (const run_time time : times) entry.spent += time;
  entry.adjusted.reset();
  entry.runs += runs;
  if (sentinel_ != entry.place) runs_in_block_ += runs;
}

void race_book::open(race_entry& sentinel, std::span<const run_time> times) {
  sentinel_score_ = score(sentinel);
  sentinel_ = sentinel.place;
  drift_.open(to_samples(times));
  begin_block();
}

void race_book::begin_block() {
  levels_.push_back(sentinel_score_ / drift_.before());
  runs_in_block_ = 0;
}

drift_verdict race_book::close(std::span<const run_time> times) {
  const drift_verdict verdict = drift_.close(to_samples(times), spread());
  const std::size_t closed = open_block();
  levels_[closed] = sentinel_score_ / drift_.level();
  for (race_entry& entry : entries_) {
    if (!entry.visits.empty() && entry.visits.back().block == closed) entry.adjusted.reset();
  }
  begin_block();
  return verdict;
}

void race_book::discard(race_entry& entry, std::size_t block) {
  for (race_visit& visit : entry.visits) {
    if (visit.block != block || visit.discarded) continue;
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
    for (const run_time time : visit.times) times.push_back(time * levels_[visit.block]);
  }
  return times;
}

// Where the device has moved, and there was no time to measure again, what was measured before is
// all that there is to tell; but nothing is decided by it.
void race_book::refresh(race_entry& entry) const {
  if (entry.adjusted) return;
  const samples counted(adjusted_times(entry, is_of));
  entry.bounds = confidence_interval(counted, settings_.confidence, spread());
  entry.adjusted = counted;
  if (counted.size() == 0) {
    entry.adjusted = samples(adjusted_times(
        entry, [](const race_entry&, const race_visit& visit) { return !visit.discarded; }));
  }
  if (entry.adjusted->size() == 0) {
    entry.adjusted =
        samples(adjusted_times(entry, [](const race_entry&, const race_visit&) { return true; }));
  }
  entry.median = entry.adjusted->median();
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

}  // namespace tune::detail
