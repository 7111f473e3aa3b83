// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/measure/race/final_round.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace tune::detail {
namespace {

constexpr int first_turns = 3;  // of each group before the next one
constexpr std::size_t least_finalists = 2;

}  // namespace

final_round::final_round(race_book& book, const race_settings& settings,
                         std::vector<std::size_t> rivals)
    : book_(book), settings_(settings), rivals_(std::move(rivals)), quota_(first_turns) {
  for (const std::size_t place : rivals_) {
    race_entry& rival = book_.entries()[place];
    rival.state = race_state::finalist;
    rival.runs = 0;
    rival.doubtful = false;
    rival.adjusted.reset();
  }
  begin_round();
}

std::optional<std::size_t> final_round::next() {
  for (; position_ < group_.size(); ++position_) {
    const std::size_t place = group_[backwards_ ? group_.size() - 1 - position_ : position_];
    if (!is_done(place)) return place;
  }
  return std::nullopt;
}

// True if it has had its runs of this round, or needs no more.
bool final_round::is_done(std::size_t place) const {
  const race_entry& entry = book_.entries()[place];
  return entry.state != race_state::finalist || entry.runs >= done_ + quota_ * runs_per_visit;
}

void final_round::advance() { ++position_; }

void final_round::spend(std::span<const run_time> times) noexcept {
  for (const run_time time : times) spent_ += time;
}

void final_round::end_turn(double margin) {
  backwards_ = !backwards_;
  judge(margin);
  if (settings_.final_time.count() > 0 && spent_ > settings_.final_time) {
    finished_ = true;
    return;
  }
  begin_turn();
}

void final_round::begin_turn() {
  position_ = 0;
  std::erase_if(group_, [&](std::size_t place) {
    return book_.entries()[place].state != race_state::finalist;
  });
  const bool is_over =
      std::ranges::all_of(group_, [&](std::size_t place) { return is_done(place); });
  if (is_over || is_decided()) begin_group();
}

void final_round::begin_group() {
  std::erase_if(waiting_, [&](std::size_t place) {
    return book_.entries()[place].state != race_state::finalist;
  });
  if (waiting_.empty()) {
    done_ += quota_ * runs_per_visit;
    begin_round();
    return;
  }
  // The sentinel also stays in memory.
  const std::size_t most = std::max<std::size_t>(settings_.live, 2) - 1;
  const auto end = waiting_.begin() + static_cast<std::ptrdiff_t>(std::min(most, waiting_.size()));
  group_.assign(waiting_.begin(), end);
  waiting_.erase(waiting_.begin(), end);
}

void final_round::begin_round() {
  group_.clear();
  waiting_ = remaining();
  const int left = (settings_.final_runs - done_) / runs_per_visit;
  if (waiting_.empty() || left < 1 || (done_ > 0 && is_decided())) {
    waiting_.clear();
    finished_ = true;
    return;
  }
  quota_ = std::min(left, done_ == 0 ? first_turns : done_ / runs_per_visit);
  if (settings_.final_time.count() > 0) keep_affordable();
  begin_group();
}

// If time is too short to compare all, every round takes half of the remaining time, for the best
// ones: comparing some well is better than comparing all badly.
void final_round::keep_affordable() {
  const int visit = book_.drift().runs(book_.spread());
  const auto most = static_cast<int>(std::max<std::size_t>(settings_.live, 2)) - 1;
  const double share =
      static_cast<double>(visit) / std::min(most, static_cast<int>(waiting_.size()));
  const auto time = [&](std::size_t place) {
    race_entry& entry = book_.entries()[place];
    return entry.cost ? book_.time_of(entry) : score(place);
  };
  const auto cost = [&](std::size_t place) {
    return (runs_per_visit * time(place) + share * time(*book_.sentinel())) * quota_;
  };
  const auto affordable = [&] {
    const run_time half = (run_time(settings_.final_time) - spent_) / 2;
    run_time sum{0};
    std::size_t count = 0;
    for (; count < waiting_.size() && sum <= half; ++count) sum += cost(waiting_[count]);
    return std::max(count, least_finalists);
  };
  std::ranges::stable_sort(waiting_, {}, [&](std::size_t place) { return score(place); });
  if (affordable() < waiting_.size()) quota_ = std::min(quota_, first_turns);
  const std::size_t kept = affordable();
  for (std::size_t i = kept; i < waiting_.size(); ++i) {
    book_.entries()[waiting_[i]].state = race_state::eliminated;
  }
  if (kept < waiting_.size()) waiting_.resize(kept);
}

void final_round::judge(double margin) {
  run_time best = score(*book_.sentinel());
  for (const std::size_t place : remaining()) {
    if (book_.entries()[place].runs >= first_turns * runs_per_visit) {
      best = std::min(best, bounds(place).upper);
    }
  }
  for (const std::size_t place : group_) {
    race_entry& rival = book_.entries()[place];
    if (rival.state != race_state::finalist || rival.runs == 0) continue;
    // An undetected small movement distorts one turn; over several turns its effect averages out.
    const double allowed = rival.runs < first_turns * runs_per_visit ? margin : 0;
    if (bounds(place).lower > best * (1 + allowed)) {
      rival.state = race_state::eliminated;
    }
  }
}

// True if one of the remaining ones is within the indifference of all others.
bool final_round::is_decided() {
  std::vector<std::size_t> all = remaining();
  all.push_back(*book_.sentinel());
  const auto least = std::ranges::min_element(all, {}, [&](std::size_t place) {
    const run_time own = score(place);
    return std::isnan(own.count()) ? run_time(INFINITY) : own;
  });
  const run_time most = bounds(*least).upper;
  return std::ranges::all_of(all, [&](std::size_t place) {
    return place == *least || bounds(place).lower * (1 + settings_.indifference) >= most;
  });
}

std::vector<std::size_t> final_round::remaining() const {
  std::vector<std::size_t> result;
  for (const std::size_t place : rivals_) {
    if (book_.entries()[place].state == race_state::finalist) result.push_back(place);
  }
  return result;
}

// The level that adjusts times is itself measured, again in each turn.
interval final_round::bounds(std::size_t place) {
  race_entry& entry = book_.entries()[place];
  if (place == book_.sentinel() || entry.runs == 0) return book_.decisive_bounds(entry);
  const double level_runs = 2.0 * book_.drift().runs(book_.spread());
  const double wider = std::sqrt(1 + runs_per_visit / level_runs);
  const interval own = book_.bounds(entry);
  const run_time centre = book_.score(entry);
  return {.lower = centre - (centre - own.lower) * wider,
          .upper = centre + (own.upper - centre) * wider};
}

run_time final_round::score(std::size_t place) {
  if (place == book_.sentinel()) return book_.decisive_bounds(book_.entries()[place]).upper;
  return book_.score(book_.entries()[place]);
}

bool final_round::is_playing(std::size_t place) const {
  return !finished_ && std::ranges::find(group_, place) != group_.end();
}

std::vector<std::size_t> final_round::tied() {
  std::vector<std::size_t> all = remaining();
  std::erase_if(all, [&](std::size_t place) { return std::isnan(score(place).count()); });
  all.push_back(*book_.sentinel());
  std::ranges::sort(all, {}, [&](std::size_t place) { return score(place); });
  // The sentinel is never eliminated, because others are compared with it; it is tied only if it is
  // not slower than the best.
  const std::size_t best = all.front();
  if (best != book_.sentinel() && bounds(best).upper < score(*book_.sentinel())) {
    std::erase(all, *book_.sentinel());
  }
  const run_time most = score(best) * (1 + settings_.indifference);
  std::erase_if(all, [&](std::size_t place) { return score(place) > most; });
  return all;
}

}  // namespace tune::detail
