// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
// The part of a search's race that decides after the last arrival.
#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <functional>
#include <limits>
#include <tuple>
#include <utility>

#include "libtune/tune/engine/search_race.hpp"
#include "libtune/tune/engine/search_run.hpp"

namespace tune {
// A configuration that fails at the end may have eliminated others that were compared with it.
void search_race::decide() {
  play();
  while (std::exchange(is_spoilt_, false) || !is_winner_right()) {
    if (host_.is_over()) continue;
    race_anew();
    play();
  }
  compare_finalists();
  if (finals_) {
    chosen_ = finals_->choose(trials_.all(), race_->tied(), setting_.options.race.indifference);
  }
  runner_.release_all();
}

void search_race::play() {
  if (!host_.is_over() && !host_.has_reached_target()) measure_references();
  const std::size_t count = setting_.options.race.live;
  for (auto next = earlier_.next_rivals(host_.best_now(), count); !next.empty();
       next = earlier_.next_rivals(host_.best_now(), count)) {
    if (host_.has_reached_target()) break;
    if (host_.is_over()) {
      not_measured_ = next.size();
      break;
    }
    measure_again(next);
  }
  race_->close();
  while (const auto task = race_->next()) {
    if (host_.is_over()) {
      host_.end_late();
      break;
    }
    perform(*task);
  }
  const std::optional<std::size_t> winner = race_->leading();
  for (const std::size_t index : race_->finalists()) {
    if (race_->state(index) == race_state::failed) continue;
    trial done = result_of(index);
    // A winner that fails at the end may have eliminated others.
    is_spoilt_ = is_spoilt_ || (done.outcome != outcome::measured && index == winner);
    host_.finish(std::move(done));
  }
}

// Returns true if the winner needs no check, or passes it. A winner that fails it loses its time.
bool search_race::is_winner_right() {
  const auto place = best();
  if (!place) return true;
  const std::size_t index = trials_.all()[*place].index;
  if (!runner_.has_to_be_checked(index)) return true;
  attempt_pointer own;
  const auto raced = racing_.find(index);
  if (raced == racing_.end()) own = runner_.make(index, attempt_runner::nothing_known());
  trial_attempt& leading = own ? *own : *raced->second;
  runner_.with_room(leading, [&] {
    if (leading.over()) return;
    if (leading.is_live() || runner_.generate_again(leading)) runner_.check(leading);
  });
  if (!leading.over()) return true;
  host_.finish(leading.result());
  return false;
}

// Metrics that take too long for all configurations are measured only for the best ones; if these
// violate the constraints, also for the next best.
void search_race::compare_finalists() {
  if (!setting_.judge.has_finals()) return;
  const auto has_winner = [&] {
    return std::ranges::any_of(
        trials_.all(), [&](const trial& item) { return item.score && has_compared(item.index); });
  };
  const auto with = std::bind_front(&search_race::run_again, this);
  const bool is_late = host_.is_over();
  do {
    const auto rivals =
        choose_finalists(is_late ? search_finals::most_when_late : search_finals::most);
    if (rivals.empty()) return;
    runner_.measuring([&] { finals_->compare(rivals, with, final_tick_error); });
    for (const search_finals::rival& of : rivals) {
      trial_attempt& attempt = *of.attempt;
      if (attempt.over()) {
        host_.finish(attempt.result());
      } else if (race_->state(attempt.index()) != race_state::failed) {
        host_.finish(result_of(attempt.index()));
      }
    }
  } while (setting_.judge.decides_finals() && !has_winner() && !host_.is_over());
}

/// The configurations of the race that have not been compared, the best first.
std::vector<search_finals::rival> search_race::choose_finalists(std::size_t most) {
  std::vector<std::pair<run_time, search_finals::rival>> sorted;
  for (const auto& [index, attempt] : racing_) {
    const trial* known = trials_.find(index);
    if (attempt->over() || known == nullptr || has_compared(index)) continue;
    if (race_->state(index) == race_state::failed) continue;
    if (const auto cost = setting_.judge.known_cost(*known)) {
      sorted.emplace_back(*cost, search_finals::rival{attempt.get(), known});
    }
  }
  std::ranges::sort(sorted, {}, [](const auto& item) {
    return std::pair(item.first, item.second.attempt->index());
  });
  if (sorted.size() > most) sorted.resize(most);
  std::vector<search_finals::rival> rivals;
  for (const auto& [cost, rival] : sorted) rivals.push_back(rival);
  return rivals;
}

// Any step may be the first that runs a configuration again.
bool search_race::run_again(trial_attempt& of, const std::function<void()>& step) {
  runner_.with_room(of, [&] {
    if (!of.over() && !of.is_live() && runner_.generate_again(of)) of.warm_up();
    if (!of.over()) step();
  });
  if (of.over()) race_->exclude(of.index());
  return !of.over();
}

// Starts a race of all configurations that may be the best by their times so far.
void search_race::race_anew() {
  earlier_times times = earlier_.unnamed();
  for (const auto& [index, attempt] : racing_) {
    const trial* known = trials_.find(index);
    if (attempt->over() || known == nullptr || !known->score) continue;
    times.add(index, cost_in_race(index, race_->score(index)),
              cost_in_race(index, race_->interval(index).lower));
  }
  level_ *= earlier_.factor();
  earlier_ = std::move(times);
  sentinel_level_ = 1;
  clear();
}

std::optional<std::size_t> search_race::best() {
  const std::vector<trial>& all = trials_.all();
  const std::optional<std::size_t> chosen = chosen_ ? chosen_ : race_->leading();
  // If the budget left no time to compare, the least score decides: of the configurations compared
  // last, else of trials measured here, else of resumed trials.
  const auto order_of = [&](const trial& item) {
    const bool is_chosen = chosen == item.index;
    const bool is_made = item.origin != trial_origin::resumed;
    const run_time cost =
        setting_.judge.known_cost(item).value_or(run_time(std::numeric_limits<double>::infinity()));
    return std::tuple(!is_chosen, !racing_.contains(item.index), !is_made,
                      is_made ? cost : cost / item.level, item.index);
  };
  std::optional<std::size_t> best;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!all[i].score) continue;
    // The others may break the constraints.
    if (setting_.judge.decides_finals() && !has_compared(all[i].index)) continue;
    if (!best || order_of(all[i]) < order_of(all[*best])) best = i;
  }
  return best;
}

std::vector<std::string> search_race::doubts() const {
  std::vector<std::string> found;
  if (!race_->drift().resolved()) found.push_back(drift_text(race_->drift()));
  if (not_measured_ > 0) {
    found.push_back(fmt::format(
        "{} configurations or more that were measured before an interruption may be as fast: the "
        "device has changed since, and no time was left to measure them again",
        not_measured_));
  }
  const std::vector<std::size_t> doubtful = race_->in_doubt();
  if (doubtful.empty()) return found;
  std::vector<std::string> names;
  for (std::size_t i = 0; i < std::min<std::size_t>(doubtful.size(), 3); ++i) {
    names.push_back(to_string(racing_.at(doubtful[i])->result().configuration));
  }
  found.push_back(fmt::format(
      "{} configurations were measured only while the device was not steady, and may be faster or "
      "slower than that: {}{}",
      doubtful.size(), fmt::join(names, "; "),
      doubtful.size() > names.size() ? " and others" : ""));
  return found;
}

}  // namespace tune
