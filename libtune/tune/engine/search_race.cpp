// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tune/engine/search_race.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <exception>
#include <fmt/format.h>
#include <functional>
#include <limits>
#include <ranges>
#include <tuple>
#include <utility>

#include "libtune/measure/timing/stopping.hpp"
#include "libtune/tune/engine/search_run.hpp"

namespace tune {
namespace {

// The relative spread that a coarse timer may add to samples.
constexpr double screening_tick_error = 0.01;
constexpr double final_tick_error = 0.005;

// The ratio to the best time within which a configuration may still lead, because a drift of the
// device as small as this is not noticed.
constexpr double as_good_as = 1.03;

// A GPU's scheduler takes less from a run that it interrupts for another program.
constexpr std::chrono::milliseconds sure_on_gpu{2};
// Below this time of the best, timing the first runs gains nothing.
constexpr std::chrono::microseconds worth_timing{200};

race_settings race_settings_of(const search_setting& setting) {
  race_settings made =
      limited_by(setting.options.race, setting.options.measure.value_or(measure_settings{}));
  if (setting.device.kind() == device_kind::gpu && made.sure_after.count() == 0) {
    made.sure_after = sure_on_gpu;
  }
  return made;
}

double rank_of(const search_problem& problem, std::size_t index) {
  try {
    const auto asked = problem.needs(index);
    return asked
               ? static_cast<double>(asked->local_memory_bytes + asked->dynamic_local_memory_bytes)
               : 0.0;
  } catch (const std::exception&) {
    return 0.0;  // it was asked before, so its answers vary
  }
}

bool has_been_screened(race_state state) {
  return state != race_state::waiting && state != race_state::running;
}

}  // namespace

search_race::search_race(const search_setting& setting, search_timing& timing,
                         const compile_pipeline& pipeline, const trial_list& trials, host around)
    : setting_(setting),
      trials_(trials),
      host_(std::move(around)),
      runner_(setting, timing, pipeline, racing_),
      race_(std::in_place, race_settings_of(setting)) {
  if (setting.judge.has_finals() || setting.judge.goal().objectives.size() > 1) {
    finals_.emplace(setting.judge);
  }
}

void search_race::resume(const std::vector<trial>& earlier, bool goes_on) {
  earlier_ = times_of(earlier, [this](const trial& item, run_time time) {
    return setting_.judge.cost(item, time);
  });
  knows_level_ = goes_on || earlier_.empty();
  if (goes_on && !earlier.empty()) earlier_.expect_factor(earlier.back().level);
}

// This comes before anything new, so that new trials are stored with the level of the device, and a
// small budget is spent on the best.
void search_race::measure_references() {
  for (auto next = earlier_.next_references(); !next.empty(); next = earlier_.next_references()) {
    measure_again(next);
    if (host_.is_over() || host_.has_reached_target()) return;
  }
}

void search_race::measure_again(const std::vector<std::size_t>& configurations) {
  host_.measure(configurations);
  find_level();
}

void search_race::find_level() {
  for (const std::size_t index : earlier_.named()) {
    if (!racing_.contains(index)) continue;
    const race_state state = race_->state(index);
    if (state == race_state::failed || !has_been_screened(state)) continue;
    earlier_.note(index, cost_in_race(index, race_->score(index)));
  }
  if (std::exchange(knows_level_, true)) return;
  first_time_.reset();
  for (const auto& [index, attempt] : racing_) {
    judge(index);
    // An attempt that is now unfit has competed, so others may have lost against it.
    is_spoilt_ = is_spoilt_ || attempt->result().outcome == outcome::unfit;
  }
}

run_time search_race::cost_in_race(std::size_t index, run_time time) const {
  return setting_.judge.cost(racing_.at(index)->result(), time);
}

trial_attempt::slow_test search_race::slow_test() {
  const std::optional<run_time> best = trials_.best_made();
  const bool is_worth_it = best && *best >= worth_timing && setting_.hooks.gate == nullptr &&
                           setting_.judge.races_by_time() &&
                           setting_.device.kind() == device_kind::gpu;
  if (!is_worth_it) return {};
  return [this](run_time time) { return race_->is_surely_slower(time); };
}

void search_race::arrive(attempt_pointer attempt) {
  const std::size_t index = attempt->index();
  detail::race_cost cost;
  if (!setting_.judge.races_by_time()) {
    cost = [this, &of = *attempt](run_time time) { return setting_.judge.cost(of.result(), time); };
  }
  const std::vector<run_time> times = attempt->first_times();
  race_->arrive(index, rank_of(setting_.problem, index), std::move(cost), times);
  racing_[index] = std::move(attempt);
  if (has_been_screened(race_->state(index))) settle(index);
  while (const auto task = race_->next()) perform(*task);
}

void search_race::clear() {
  race_.emplace(race_settings_of(setting_));
  racing_.clear();
  judged_.clear();
  in_final_round_ = false;
}

std::vector<run_time> search_race::measure_for(const race_task& task, trial_attempt& attempt) {
  // Finalists may differ by less than the tick of a coarse timer.
  in_final_round_ = in_final_round_ || task.step == race_step::final_round;
  const double allowed = in_final_round_ ? final_tick_error : screening_tick_error;
  std::vector<run_time> times;
  runner_.with_room(attempt, [&] {
    // A released configuration has shown that it works, so it is not checked again.
    if (!attempt.over() && !attempt.is_live() && runner_.generate_again(attempt)) {
      runner_.measuring([&] { attempt.warm_up(); });
    }
    if (!attempt.over()) runner_.measuring([&] { times = attempt.sample(task.runs, allowed); });
    if (!attempt.over() && has_to_be_checked(task, times)) runner_.check(attempt);
  });
  return times;
}

void search_race::perform(const race_task& task) {
  trial_attempt& attempt = *racing_.at(task.configuration);
  const std::vector<run_time> times = measure_for(task, attempt);
  const trial* before = trials_.find(task.configuration);
  const bool has_led = before != nullptr && before->origin == trial_origin::made && before->score &&
                       !before->dropped;
  if (!attempt.over() && !times.empty() && !setting_.judge.races_by_time() &&
      std::isnan(cost_in_race(task.configuration, times.front()).count())) {
    attempt.refuse(outcome::unfit,
                   fmt::format("its {} is not known, but configurations are compared by it",
                               setting_.judge.goal().objectives.front().metric));
  }
  if (attempt.over()) {
    race_->fail();
  } else {
    race_->add(times);
  }
  const bool has_failed = race_->state(task.configuration) == race_state::failed;
  is_spoilt_ = is_spoilt_ || (has_led && has_failed);
  if (task.step == race_step::sentinel && !has_failed) {
    sentinel_level_ = samples(times).median() / race_->score(task.configuration);
  }
  settle(task.configuration);
}

// Makes a trial of a configuration whose state may have changed, and releases those that the race
// does not need.
void search_race::settle(std::size_t changed) {
  judge(changed);
  for (const auto& [index, kept] : racing_) {
    if (kept->is_live()) {
      if (!race_->keeps(index)) kept->release();
    } else if (kept->has_programs() && race_->state(index) == race_state::dropped) {
      kept->forget_programs();
    }
  }
}

// Makes a trial of a configuration that has been screened, or that fails later.
void search_race::judge(std::size_t index) {
  const race_state state = race_->state(index);
  if (!has_been_screened(state)) {
    judged_.erase(index);
    return;
  }
  if (!knows_level_ && state != race_state::failed) {
    const run_time cost = cost_in_race(index, race_->score(index));
    first_time_ = std::min(cost, first_time_.value_or(cost));
    return;
  }
  if (state != race_state::failed && !judged_.insert(index).second) return;
  trial done = result_of(index);
  if (done.outcome != outcome::measured && state != race_state::failed) {
    race_->exclude(index);
    racing_.at(index)->refuse(done.outcome, done.reason);
  }
  host_.finish(std::move(done));
}

trial search_race::result_of(std::size_t index) {
  trial_attempt& attempt = *racing_.at(index);
  if (race_->state(index) == race_state::failed) {
    if (!attempt.over()) attempt.refuse_times();
    return attempt.result();
  }
  trial done = attempt.result();
  done.samples = race_->times(index);
  done.score = race_->score(index);
  if (finals_) finals_->complete(done);
  if (const interval bounds = race_->interval(index); std::isfinite(bounds.upper.count())) {
    done.bounds = bounds;
  }
  assert(std::isfinite(done.score->count()));
  done.outcome = outcome::measured;
  done.dropped = race_->state(index) == race_state::dropped && !has_compared(index);
  done.level = level_ * earlier_.factor();
  setting_.judge.judge(done, has_compared(index));
  return done;
}

// Only a leader makes the race drop others, so it is enough to check each new leader. A leader that
// goes unnoticed, because the device drifts, is found at the end (is_winner_right).
bool search_race::has_to_be_checked(const race_task& task,
                                    const std::vector<run_time>& times) const {
  if (!runner_.has_to_be_checked(task.configuration) || times.empty()) return false;
  if (task.step != race_step::screening || !trials_.best_made()) return true;
  if (!setting_.judge.races_by_time() || setting_.judge.decides_finals()) return true;
  return *std::ranges::min_element(times) / sentinel_level_ < *trials_.best_made() * as_good_as;
}

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
  for (const std::size_t index : doubtful | std::views::take(3)) {
    names.push_back(to_string(racing_.at(index)->result().configuration));
  }
  found.push_back(fmt::format(
      "{} configurations were measured only while the device was not steady, and may be faster or "
      "slower than that: {}{}",
      doubtful.size(), fmt::join(names, "; "),
      doubtful.size() > names.size() ? " and others" : ""));
  return found;
}

}  // namespace tune
