// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tune/engine/search_run.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <exception>
#include <fmt/format.h>
#include <limits>
#include <tuple>
#include <utility>

#include "libtune/base/never_destroyed.hpp"
#include "libtune/store/database/connection.hpp"
#include "libtune/tune/engine/prior_trials.hpp"
#include "libtune/tune/error.hpp"

namespace tune {
namespace {

// The relative spread that a coarse timer may add to samples.
constexpr double screening_tick_error = 0.01;
constexpr double final_tick_error = 0.005;

// The ratio to the best time within which a configuration may still lead, because a drift of the
// device as small as this is not noticed.
constexpr double as_good_as = 1.03;

// A strategy that learns should not propose much before it has the first results.
constexpr std::size_t depth_to_learn = 2;
constexpr std::size_t depth_to_sort = 16;

// A time that is good enough is no value of another objective that is.
tuning_budget budget_of(const search_setting& setting) {
  tuning_budget budget = setting.options.budget.value_or(tuning_budget{});
  if (!setting.judge.goal().is_time()) {
    budget.target.reset();
    budget.within.reset();
  }
  return budget;
}

race_settings race_settings_of(const tuning_options& options) {
  const measure_settings measure = options.measure.value_or(measure_settings{});
  race_settings settings = options.race;
  settings.screening_time = std::min(settings.screening_time, measure.time_limit);
  const int least = std::max(2, measure.min_iterations);
  const int most = std::max(least, measure.max_iterations);
  settings.screening_runs = std::clamp(settings.screening_runs, least, most);
  settings.final_runs = std::min(settings.final_runs, most);
  return settings;
}

const known_failures& nothing_known() {
  static const detail::never_destroyed<known_failures> nothing;
  return *nothing;
}

double rank_of(const search_problem& problem, std::size_t index) {
  try {
    const auto asked = problem.needs(index);
    return asked
               ? static_cast<double>(asked->local_memory_bytes + asked->dynamic_local_memory_bytes)
               : 0.0;
  } catch (const std::exception&) {
    return 0.0;  // it was asked before, so it answers differently each time
  }
}

bool has_been_screened(race_state state) {
  return state != race_state::waiting && state != race_state::running;
}

}  // namespace

search_run::search_run(const search_setting& setting)
    : setting_(setting),
      clock_(budget_of(setting), setting.now, setting.spent.time),
      timing_(clock_, setting.subject, setting.device, setting.observers,
              setting.options.wait.value_or(default_wait)),
      runner_(setting_, timing_, pipeline_, racing_),
      pipeline_(setting.service, setting.learns ? depth_to_learn : depth_to_sort,
                setting.device.kind() == device_kind::cpu),
      race_(std::in_place, race_settings_of(setting.options)),
      finals_(setting.judge),
      begun_(setting.spent.trials) {}

void search_run::resume(const std::vector<trial>& earlier, bool goes_on) {
  taken_over_ = earlier.size();
  earlier_ = times_of(earlier, [this](const trial& item, run_time time) {
    return setting_.judge.cost(item, time);
  });
  knows_level_ = goes_on || earlier_.empty();
  if (goes_on && !earlier.empty()) earlier_.expect_factor(earlier.back().level);
  for (const trial& taken : earlier) {
    tried_.insert(taken.index);
    report(trials_.put(taken), trial_stage::taken_over);
  }
}

void search_run::run(strategy& strategy, std::size_t most, const known_failures& known) {
  planned_ = most;
  setting_.service.expect(most - std::min(most, tried_.size()) +
                          std::min(taken_over_, earlier_times::references));
  if (!knows_level_) measure_references();
  tell_taken(strategy);
  strategy_ = &strategy;
  for (propose(strategy, most, known); !pipeline_.empty(); propose(strategy, most, known)) {
    if (end_ == search_end::time || end_ == search_end::target) break;
    take_one();
  }
  strategy_ = nullptr;
  compare_best();
  account(&search_times::idle);
}

void search_run::retry_remembered() {
  race_.emplace(race_settings_of(setting_.options));
  racing_.clear();
  judged_.clear();
  in_final_round_ = false;
  for (const trial& item : trials_.all()) {
    const bool is_remembered = item.origin == trial_origin::cached;
    if (is_remembered && item.outcome == outcome::compile_failed)
      begin(item.index, nothing_known());
  }
  drain();
  compare_best();
}

// ---- earlier times

// Before anything new, so that new trials are stored with the level of the device, and a small
// budget is spent on the best.
void search_run::measure_references() {
  for (auto next = earlier_.next_references(); !next.empty(); next = earlier_.next_references()) {
    measure_again(next);
    if (is_over() || end_ == search_end::target) return;
  }
}

void search_run::measure_again(const std::vector<std::size_t>& configurations) {
  for (const std::size_t index : configurations) begin(index, nothing_known());
  while (!pipeline_.empty() && !is_over() && end_ != search_end::target) take_one();
  pipeline_.abandon();
  find_level();
}

void search_run::find_level() {
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
    // It has competed until now.
    is_spoilt_ = is_spoilt_ || attempt->result().outcome == outcome::unfit;
  }
}

void search_run::tell_taken(strategy& strategy) const {
  for (std::size_t i = 0; i < taken_over_; ++i) {
    const trial& taken = trials_.all()[i];
    std::optional<run_time> told = cost_of(taken);
    if (told && taken.origin == trial_origin::resumed) told = earlier_.estimate(taken.index);
    strategy.tell(taken.index, told ? std::optional(told->count()) : std::nullopt);
  }
}

// What configurations are compared by, the time if that is it: less is better.
std::optional<run_time> search_run::cost_of(const trial& item) const {
  if (!item.score) return std::nullopt;
  const run_time cost = setting_.judge.cost(item);
  return std::isnan(cost.count()) ? std::nullopt : std::optional(cost);
}

run_time search_run::cost_in_race(std::size_t index, run_time time) const {
  return setting_.judge.cost(racing_.at(index)->result(), time);
}

std::optional<run_time> search_run::best_now() const {
  if (first_time_) return first_time_;
  if (setting_.judge.races_by_time()) return trials_.best_made();
  std::optional<run_time> best;
  for (const auto& [index, cost] : costs_) best = std::min(cost, best.value_or(cost));
  return best;
}

bool search_run::is_over() const { return clock_.is_over(best_now()); }

// ---- proposals

void search_run::propose(strategy& strategy, std::size_t most, const known_failures& known) {
  while (end_ == search_end::complete && tried_.size() < most && pipeline_.has_room()) {
    if (waits_for_seeds()) return;
    const std::optional<std::size_t> index = strategy.ask();
    if (!index) {
      if (strategy.ended_early()) end_ = search_end::no_gain;
      return;
    }
    if (tried_.insert(*index).second) {
      ++begun_;
      begin(*index, known);
    }
    end_ = clock_.why_end(begun_, best_now()).value_or(search_end::complete);
  }
}

// A configuration after the seeds would be tried without need.
bool search_run::waits_for_seeds() const {
  const auto is_tried = [this](std::size_t seed) { return tried_.contains(seed); };
  return !seeds_.empty() && !pipeline_.empty() && std::ranges::all_of(seeds_, is_tried);
}

void search_run::look_at_seeds() {
  if (seeds_.empty() || end_ != search_end::complete) return;
  bool has_time = false;
  for (const std::size_t seed : seeds_) {
    const trial* known = trials_.find(seed);
    if (known == nullptr) return;
    has_time = has_time || known->score.has_value();
  }
  seeds_.clear();
  if (!has_time) return;
  stopped_after_seeds_ = true;
  end_ = search_end::target;
}

void search_run::begin(std::size_t index, const known_failures& known) {
  assert(!detail::database_use::is_active() && "other processes would wait for a trial");
  pipeline_.add(runner_.make(index, known));
}

// Waits for the next one no longer than until the clock has to be looked at.
void search_run::take_one() {
  runner_.yield_memory();
  account(&search_times::idle);
  attempt_pointer attempt = pipeline_.take(clock_.next_look());
  account(&search_times::waiting);
  if (attempt) enter(std::move(attempt));
  tell_progress();
  if (const auto end = clock_.why_end(begun_, best_now())) end_ = *end;
  look_at_seeds();
}

void search_run::drain() {
  while (!pipeline_.empty()) take_one();
}

void search_run::enter(attempt_pointer attempt) {
  // The pipeline generates beside those that are kept for the race.
  if (runner_.may_retry(*attempt)) attempt->retry();
  if (!attempt->over() && !attempt->is_live()) runner_.generate(*attempt);
  if (attempt->has_wanted()) {
    pipeline_.add(std::move(attempt));
    return;
  }
  if (attempt->over() || !runner_.try_out(*attempt)) {
    finish(std::move(attempt->result()));
    return;
  }
  const std::size_t index = attempt->index();
  detail::race_cost cost;
  if (!setting_.judge.races_by_time()) {
    cost = [this, &of = *attempt](run_time time) { return setting_.judge.cost(of.result(), time); };
  }
  race_->arrive(index, rank_of(setting_.problem, index), std::move(cost));
  racing_[index] = std::move(attempt);
  while (const auto task = race_->next()) perform(*task);
}

// Only a leader makes the race drop others, so it is enough to check each new leader. One that
// leads unnoticed, because the device drifts, is found at the end (is_winner_right).
bool search_run::has_to_be_checked(const race_task& task,
                                   const std::vector<run_time>& times) const {
  if (!runner_.has_to_be_checked(task.configuration) || times.empty()) return false;
  if (task.step != race_step::screening || !trials_.best_made()) return true;
  if (!setting_.judge.races_by_time() || setting_.judge.decides_finals()) return true;
  return *std::ranges::min_element(times) / sentinel_level_ < *trials_.best_made() * as_good_as;
}

// Returns true if the winner needs no check, or passes it. One that does not loses its time.
bool search_run::is_winner_right() {
  const auto place = best();
  if (!place) return true;
  const std::size_t index = trials_.all()[*place].index;
  if (!runner_.has_to_be_checked(index)) return true;
  attempt_pointer own;
  const auto raced = racing_.find(index);
  if (raced == racing_.end()) own = runner_.make(index, nothing_known());
  trial_attempt& leading = own ? *own : *raced->second;
  runner_.with_room(leading, [&] {
    if (leading.over()) return;
    if (leading.is_live() || runner_.generate_again(leading)) runner_.check(leading);
  });
  if (!leading.over()) return true;
  finish(leading.result());
  return false;
}

// ---- the race

std::vector<run_time> search_run::measure_for(const race_task& task, trial_attempt& attempt) {
  // Finalists differ by less than the ticks of some timers.
  in_final_round_ = in_final_round_ || task.step == race_step::final_round;
  const double allowed = in_final_round_ ? final_tick_error : screening_tick_error;
  std::vector<run_time> times;
  runner_.with_room(attempt, [&] {
    // One that has been released has shown that it works, so nothing is checked again.
    if (!attempt.over() && !attempt.is_live() && runner_.generate_again(attempt)) {
      runner_.measuring([&] { attempt.warm_up(); });
    }
    if (!attempt.over()) runner_.measuring([&] { times = attempt.sample(task.runs, allowed); });
    if (!attempt.over() && has_to_be_checked(task, times)) runner_.check(attempt);
  });
  return times;
}

void search_run::perform(const race_task& task) {
  trial_attempt& attempt = *racing_.at(task.configuration);
  const std::vector<run_time> times = measure_for(task, attempt);
  const trial* before = trials_.find(task.configuration);
  const bool has_led = before != nullptr && before->origin == trial_origin::made && before->score &&
                       !before->dropped;
  if (!attempt.over() && !times.empty() && !setting_.judge.races_by_time() &&
      std::isnan(cost_in_race(task.configuration, times.front()).count())) {
    attempt.refuse(outcome::unfit, fmt::format("its {} is not known, and it is compared by it",
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
  judge(task.configuration);
  for (const auto& [index, kept] : racing_) {
    if (kept->is_live()) {
      if (!race_->keeps(index)) kept->release();
    } else if (kept->has_programs() && race_->state(index) == race_state::dropped) {
      kept->forget_programs();
    }
  }
}

// Makes a trial of a configuration that has been screened, or fails later.
void search_run::judge(std::size_t index) {
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
  finish(std::move(done));
}

trial search_run::result_of(std::size_t index) {
  trial_attempt& attempt = *racing_.at(index);
  if (race_->state(index) == race_state::failed) {
    if (!attempt.over()) attempt.refuse_times();
    return attempt.result();
  }
  trial done = attempt.result();
  done.samples = race_->times(index);
  done.score = race_->score(index);
  finals_.complete(done);
  if (const interval bounds = race_->interval(index); std::isfinite(bounds.upper.count())) {
    done.bounds = bounds;
  }
  assert(std::isfinite(done.score->count()));
  done.outcome = outcome::measured;
  done.dropped = race_->state(index) == race_state::dropped && !finals_.has_compared(index);
  done.level = level_ * earlier_.factor();
  setting_.judge.judge(done, finals_.has_compared(index));
  return done;
}

// A configuration that fails at the end may have eliminated others that were compared with it.
void search_run::compare_best() {
  pipeline_.abandon();
  play();
  while (std::exchange(is_spoilt_, false) || !is_winner_right()) {
    if (is_over()) continue;
    race_anew();
    play();
  }
  compare_finalists();
  chosen_ = finals_.choose(trials_.all(), race_->tied(), setting_.options.race.indifference);
  runner_.release_all();
}

void search_run::play() {
  if (!is_over() && end_ != search_end::target) measure_references();
  const std::size_t count = setting_.options.race.live;
  for (auto next = earlier_.next_rivals(best_now(), count); !next.empty();
       next = earlier_.next_rivals(best_now(), count)) {
    if (end_ == search_end::target) break;
    if (is_over()) {
      not_measured_ = next.size();
      break;
    }
    measure_again(next);
  }
  race_->close();
  while (const auto task = race_->next()) {
    if (is_over()) {
      end_ = search_end::time;
      break;
    }
    perform(*task);
  }
  const std::optional<std::size_t> winner = race_->leading();
  for (const std::size_t index : race_->finalists()) {
    if (race_->state(index) == race_state::failed) continue;
    trial done = result_of(index);
    // It may have eliminated others.
    is_spoilt_ = is_spoilt_ || (done.outcome != outcome::measured && index == winner);
    finish(std::move(done));
  }
}

// ---- the finals

// What takes too long to be measured of all is measured of the best; if none of them keeps the
// constraints, of the next best.
void search_run::compare_finalists() {
  if (!setting_.judge.has_finals()) return;
  const auto has_winner = [&] {
    return std::ranges::any_of(trials_.all(), [&](const trial& item) {
      return item.score && finals_.has_compared(item.index);
    });
  };
  const auto with = [this](trial_attempt& of, const std::function<void()>& step) {
    return run_again(of, step);
  };
  const bool is_late = is_over();
  do {
    const auto rivals =
        choose_finalists(is_late ? search_finals::most_when_late : search_finals::most);
    if (rivals.empty()) return;
    runner_.measuring([&] { finals_.compare(rivals, with, final_tick_error); });
    for (const search_finals::rival& of : rivals) {
      trial_attempt& attempt = *of.attempt;
      if (attempt.over()) {
        finish(attempt.result());
      } else if (race_->state(attempt.index()) != race_state::failed) {
        finish(result_of(attempt.index()));
      }
    }
  } while (setting_.judge.decides_finals() && !has_winner() && !is_over());
}

/// Those of the race that have not been compared, the best first.
std::vector<search_finals::rival> search_run::choose_finalists(std::size_t most) {
  std::vector<std::pair<run_time, search_finals::rival>> sorted;
  for (const auto& [index, attempt] : racing_) {
    const trial* known = trials_.find(index);
    if (attempt->over() || known == nullptr || finals_.has_compared(index)) continue;
    if (race_->state(index) == race_state::failed) continue;
    if (const auto cost = cost_of(*known)) {
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
bool search_run::run_again(trial_attempt& of, const std::function<void()>& step) {
  runner_.with_room(of, [&] {
    if (!of.over() && !of.is_live() && runner_.generate_again(of)) of.warm_up();
    if (!of.over()) step();
  });
  if (of.over()) race_->exclude(of.index());
  return !of.over();
}

// Starts a race of all configurations that may be the best by their times so far.
void search_run::race_anew() {
  earlier_times times = earlier_.unnamed();
  for (const auto& [index, attempt] : racing_) {
    const trial* known = trials_.find(index);
    if (attempt->over() || known == nullptr || !known->score) continue;
    times.add(index, cost_in_race(index, race_->score(index)),
              cost_in_race(index, race_->interval(index).lower));
  }
  level_ *= earlier_.factor();
  earlier_ = std::move(times);
  racing_.clear();
  judged_.clear();
  in_final_round_ = false;
  sentinel_level_ = 1;
  race_.emplace(race_settings_of(setting_.options));
}

// ---- results

void search_run::report(const trial& item, trial_stage stage) const {
  if (setting_.observers.empty()) return;
  detail::notify(setting_.observers, trial_event{setting_.subject, item, stage});
}

void search_run::finish(trial done) {
  const trial* before = trials_.find(done.index);
  const bool is_refined = before != nullptr && before->origin != trial_origin::cached;
  const trial& kept = trials_.put(std::move(done));
  const std::optional<run_time> cost = cost_of(kept);
  if (const metric* least = find_metric(kept.metrics, "least_time")) {
    clock_.allow(run_time(least->value));
  }
  if (!setting_.judge.races_by_time()) {
    costs_.erase(kept.index);
    if (cost && kept.origin == trial_origin::made) costs_[kept.index] = *cost;
  }
  if (strategy_ != nullptr && !is_refined) {
    strategy_->tell(kept.index, cost ? std::optional(cost->count()) : std::nullopt);
  }
  report(kept, is_refined ? trial_stage::refined : trial_stage::finished);
  if (kept.outcome != outcome::device_fault || kept.origin != trial_origin::made) return;
  // Otherwise the next configuration would be blamed for it.
  const auto& survives = setting_.hooks.survives_faults;
  if (!survives || !survives()) throw device_fault_error(setting_.subject, kept);
}

std::optional<std::size_t> search_run::best() {
  const std::vector<trial>& all = trials_.all();
  const std::optional<std::size_t> chosen = chosen_ ? chosen_ : race_->leading();
  // Where the budget left no time to compare, the least score counts: of those compared last, else
  // of those measured here, else of resumed trials.
  const auto order_of = [&](const trial& item) {
    const bool is_chosen = chosen == item.index;
    const bool is_made = item.origin != trial_origin::resumed;
    const run_time cost = cost_of(item).value_or(run_time(std::numeric_limits<double>::infinity()));
    return std::tuple(!is_chosen, !racing_.contains(item.index), !is_made,
                      is_made ? cost : cost / item.level, item.index);
  };
  std::optional<std::size_t> best;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!all[i].score) continue;
    // Of the others it is not known whether they keep the constraints.
    if (setting_.judge.decides_finals() && !finals_.has_compared(all[i].index)) continue;
    if (!best || order_of(all[i]) < order_of(all[*best])) best = i;
  }
  return best;
}

std::vector<std::string> search_run::doubts() const {
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
  constexpr std::size_t most = 3;
  std::string names;
  for (std::size_t i = 0; i < std::min(most, doubtful.size()); ++i) {
    const trial& item = racing_.at(doubtful[i])->result();
    names += (i == 0 ? "" : "; ") + to_string(item.configuration);
  }
  found.push_back(std::to_string(doubtful.size()) +
                  " configurations were measured only while the device was not steady, and may be "
                  "faster or slower than that: " +
                  names + (doubtful.size() > most ? " and others" : ""));
  return found;
}

void search_run::tell_progress() {
  if (setting_.observers.empty()) return;
  const trial_list::counts& counts = trials_.count();
  const search_progress now{
      .planned = planned_,
      .taken_over = taken_over_,
      .compiling = pipeline_.compiling(),
      .compiled = pipeline_.compiled(),
      .measured = counts.measured,
      .dropped = counts.dropped,
      .failed = counts.failed,
      .elapsed = clock_.elapsed(),
      .budget_left = clock_.left(),
      .best = setting_.judge.races_by_time() && best_now() ? best_now() : trials_.best_score()};
  detail::notify(setting_.observers, progress_event{setting_.subject, now});
}

void search_run::account(std::chrono::nanoseconds search_times::*part) {
  timing_.account(part, pipeline_.compiling() > 0);
}

}  // namespace tune
