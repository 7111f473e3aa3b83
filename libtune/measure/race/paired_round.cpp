// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/measure/race/paired_round.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace tune::detail {
namespace {

// For each group. An interval by order statistics needs nine.
constexpr int least_turns = 10;
constexpr int most_turns = 90;
constexpr int most_runs = 2;  // of one configuration in a turn
constexpr double runs_per_turn = 1.5;
constexpr double confidence = 0.995;
// The best is decided when none of the others may be faster by more than this.
constexpr double tolerance = 0.005;
// What users are warned of.
constexpr double doubt = 0.01;
constexpr double confidence_of_doubt = 0.95;

}  // namespace

paired_round::paired_round(race_book& book, const race_settings& settings,
                           std::vector<std::size_t> places)
    : book_(book), settings_(settings), reference_(places.front()) {
  for (const std::size_t place : places) {
    players_.push_back({.place = place});
    race_entry& of = book_.entries()[place];
    of.state = race_state::finalist;
    of.runs = 0;
    of.doubtful = false;
    of.adjusted.reset();
  }
  players_.front().bounds = {.lower = run_time(1), .upper = run_time(1)};
  begin_round();
}

bool paired_round::is_in(const player& of) const {
  return of.affordable && book_.entries()[of.place].state == race_state::finalist;
}

std::optional<std::size_t> paired_round::next() {
  if (finished_) return std::nullopt;
  return players_[order_[position_]].place;
}

// A visit counts by its faster run.
void paired_round::add(std::span<const run_time> times) {
  player& of = players_[order_[position_]];
  for (const run_time time : times) spent_ += time;
  const run_time time = *std::ranges::min_element(times);
  const race_entry& entry = book_.entries()[of.place];
  of.cost = entry.cost ? entry.cost(time) : time;
  if (++position_ == order_.size()) end_turn();
}

bool paired_round::fail() {
  if (players_[order_[position_]].place == reference_) return false;
  if (++position_ == order_.size()) end_turn();
  return true;
}

void paired_round::end_turn() {
  const std::optional<run_time> reference = std::exchange(players_.front().cost, std::nullopt);
  for (const std::size_t each : group_) {
    const std::optional<run_time> cost = std::exchange(players_[each].cost, std::nullopt);
    if (!cost || !reference || each == 0) continue;
    players_[each].quotients.emplace_back(*cost / *reference);
  }
  ++turns_;
  const bool is_late = settings_.final_time.count() > 0 && spent_ > settings_.final_time;
  if (!is_late && turns_ < quota_) {
    begin_turn();
    return;
  }
  if (!is_late && begin_group()) return;
  all_turns_ += quota_;
  judge();
  if (is_late) {
    finished_ = true;
  } else {
    begin_round();
  }
}

void paired_round::begin_round() {
  waiting_.clear();
  const int most = std::min(most_turns, settings_.final_runs / most_runs * 4 / 3);
  quota_ = std::min(all_turns_ == 0 ? least_turns : all_turns_, most - all_turns_);
  if (quota_ < 1 || (all_turns_ > 0 && is_decided())) {
    finished_ = true;
    return;
  }
  std::ranges::stable_sort(std::span(players_).subspan(1), {}, &player::score);
  if (settings_.final_time.count() > 0) keep_affordable();
  for (std::size_t i = 1; i < players_.size(); ++i) {
    if (is_in(players_[i])) waiting_.push_back(i);
  }
  finished_ = !begin_group();
}

// If time is too short for all, the first ones are compared.
void paired_round::keep_affordable() {
  const auto time_of = [&](const player& of) {
    return book_.time_of(book_.entries()[of.place]) * runs_per_turn * quota_;
  };
  run_time left = run_time(settings_.final_time) - spent_;
  std::size_t kept = 0;
  const std::size_t group = std::max<std::size_t>(settings_.live, 2) - 1;
  for (player& of : players_) {
    if (&of == &players_.front() || !is_in(of)) continue;
    left -= time_of(of);
    if (kept % group == 0) left -= time_of(players_.front());
    if (left < run_time::zero() && kept > 0) of.affordable = false;
    ++kept;
  }
}

bool paired_round::begin_group() {
  if (waiting_.empty()) return false;
  // The reference also stays in memory.
  const std::size_t most = std::max<std::size_t>(settings_.live, 2) - 1;
  const auto end = waiting_.begin() + static_cast<std::ptrdiff_t>(std::min(most, waiting_.size()));
  group_.assign(1, 0);
  group_.insert(group_.end(), waiting_.begin(), end);
  waiting_.erase(waiting_.begin(), end);
  turns_ = 0;
  begin_turn();
  return true;
}

void paired_round::begin_turn() {
  position_ = 0;
  order_.clear();
  for (const std::size_t each : group_) {
    if (is_in(players_[each])) order_.push_back(each);
  }
  for (std::size_t i = order_.size(); i > 1; --i) std::swap(order_[i - 1], order_[random(i)]);
  runs_ = 1 + static_cast<int>(random(most_runs));
}

// A linear congruential generator, the same on every platform.
std::size_t paired_round::random(std::size_t below) {
  random_ = random_ * 6364136223846793005 + 1442695040888963407;
  return static_cast<std::size_t>(random_ >> 33) % below;
}

// Too few quotients give no bounds.
interval paired_round::bounds_of(const player& of, double at) const {
  if (of.place == reference_) return {.lower = run_time(1), .upper = run_time(1)};
  if (of.quotients.size() < least_turns) return {};
  return confidence_interval(samples(of.quotients), at);
}

void paired_round::judge() {
  double least = 1;
  for (player& of : players_) {
    if (of.quotients.empty() || !is_in(of)) continue;
    of.score = samples(of.quotients).median().count();
    of.bounds = bounds_of(of, confidence);
    least = std::min(least, of.bounds.upper.count());
  }
  for (player& of : players_) {
    if (&of == &players_.front() || !is_in(of) || of.bounds.lower.count() <= least) continue;
    book_.entries()[of.place].state = race_state::eliminated;
  }
}

std::size_t paired_round::best() const {
  std::size_t found = 0;
  for (std::size_t i = 1; i < players_.size(); ++i) {
    const player& of = players_[i];
    if (is_in(of) && !of.quotients.empty() && of.score < players_[found].score) found = i;
  }
  return found;
}

bool paired_round::is_decided() const {
  const std::size_t least = best();
  const double most = players_[least].bounds.upper.count();
  return std::ranges::all_of(players_, [&](const player& of) {
    return !is_in(of) || &of == &players_[least] ||
           of.bounds.lower.count() * (1 + tolerance) >= most;
  });
}

bool paired_round::is_playing(std::size_t place) const {
  return !finished_ && std::ranges::any_of(
                           group_, [&](std::size_t each) { return players_[each].place == place; });
}

std::vector<std::size_t> paired_round::tied() const {
  const double most = players_[best()].score * (1 + settings_.indifference);
  std::vector<const player*> found;
  for (const player& of : players_) {
    const bool is_measured = &of == &players_.front() || !of.quotients.empty();
    if (is_in(of) && is_measured && of.score <= most) found.push_back(&of);
  }
  std::ranges::stable_sort(found, {}, [](const player* of) { return of->score; });
  std::vector<std::size_t> places;
  places.reserve(found.size());
  for (const player* of : found) places.push_back(of->place);
  return places;
}

std::vector<std::size_t> paired_round::undecided() const {
  const player& least = players_[best()];
  const double most = bounds_of(least, confidence_of_doubt).upper.count();
  std::vector<std::size_t> found;
  for (const player& of : players_) {
    const race_state state = book_.entries()[of.place].state;
    if (state != race_state::finalist || &of == &least) continue;
    if (bounds_of(of, confidence_of_doubt).lower.count() * (1 + doubt) < least.score ||
        of.score * (1 + doubt) < most) {
      found.push_back(of.place);
    }
  }
  return found;
}

}  // namespace tune::detail
