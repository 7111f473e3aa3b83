// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tune/search_run.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <exception>
#include <utility>

#include "libtune/base/never_destroyed.hpp"
#include "libtune/store/database_use.hpp"
#include "libtune/tune/error.hpp"
#include "libtune/tune/measuring_turn.hpp"
#include "libtune/tune/notify.hpp"
#include "libtune/tune/taken_trials.hpp"
#include "libtune/tune/wait_report.hpp"

namespace tune {
namespace {

// What a coarse timer may add to the spread of samples.
constexpr double screening_tick_error = 0.01;
constexpr double final_tick_error = 0.005;

// A strategy that learns should not decide too much before it hears how the first ones did.
constexpr std::size_t depth_to_learn = 2;
constexpr std::size_t depth_to_sort = 16;

race_settings race_settings_of(const tuning_options& options) {
  const measure_settings& measure = options.measure;
  race_settings settings = options.race;
  settings.screening_time = std::min(settings.screening_time, measure.time_limit);
  const int least = std::max(2, measure.min_iterations);
  const int most = std::max(least, measure.max_iterations);
  settings.screening_runs = std::clamp(settings.screening_runs, least, most);
  settings.final_runs = std::min(settings.final_runs, most);
  return settings;
}

std::optional<double> told_score(const trial& result) {
  if (!result.score) return std::nullopt;
  return result.score->count();
}

bool has_been_screened(race_state state) {
  return state != race_state::waiting && state != race_state::running;
}

}  // namespace

search_run::search_run(const search_setting& setting)
    : setting_(setting),
      clock_(setting.options.budget.value_or(tuning_budget{}), setting.now, setting.spent.time),
      pipeline_(setting.workshop, setting.learns ? depth_to_learn : depth_to_sort,
                setting.device.kind() == device_kind::cpu),
      race_(std::in_place, race_settings_of(setting.options)),
      begun_(setting.spent.trials),
      accounted_(clock_.now()) {}

void search_run::take_over(std::vector<trial> earlier, strategy& strategy) {
  for (trial& taken : earlier) {
    tried_.insert(taken.index);
    strategy.tell(taken.index, told_score(taken));
    const trial& kept = trials_.put(std::move(taken));
    notify(setting_.observers,
           [&](observer& listener) { listener.trial_taken_over(setting_.subject, kept); });
  }
}

void search_run::run(strategy& strategy, std::size_t most, const known_failures& known) {
  strategy_ = &strategy;
  planned_ = most;
  setting_.workshop.expect(most - std::min(most, tried_.size()));
  for (propose(strategy, most, known); !pipeline_.empty(); propose(strategy, most, known)) {
    if (end_ == search_end::time || end_ == search_end::target) break;
    take_one();
  }
  strategy_ = nullptr;
  compare_best();
  account(times_.idle);
}

void search_run::retry_remembered() {
  static const detail::never_destroyed<known_failures> nothing;
  race_.emplace(race_settings_of(setting_.options));
  plays_off_ = false;
  for (const trial& item : trials_.all()) {
    const bool is_remembered = item.origin == trial_origin::remembered;
    if (is_remembered && item.outcome == outcome::compile_failed) begin(item.index, *nothing);
  }
  drain();
  compare_best();
}

// ---- what comes in

void search_run::propose(strategy& strategy, std::size_t most, const known_failures& known) {
  while (end_ == search_end::complete && tried_.size() < most && pipeline_.has_room()) {
    const std::optional<std::size_t> index = strategy.ask();
    if (!index) return;
    if (tried_.insert(*index).second) begin(*index, known);
    end_ = clock_.why_end(begun_, trials_.best_score()).value_or(search_end::complete);
  }
}

void search_run::begin(std::size_t index, const known_failures& known) {
  assert(!detail::database_use::is_active() && "other processes would wait for a trial");
  ++begun_;
  auto attempt =
      std::make_unique<trial_attempt>(setting_.problem, index, setting_.device,
                                      setting_.options.measure, setting_.now, setting_.guard);
  attempt->admit(known);
  pipeline_.add(std::move(attempt));
}

// Waits for the next one no longer than until the clock has to be looked at.
void search_run::take_one() {
  account(times_.idle);
  attempt_pointer attempt = pipeline_.take(clock_.next_look());
  account(times_.waiting);
  if (attempt) enter(std::move(attempt));
  tell_progress();
  if (const auto end = clock_.why_end(begun_, trials_.best_score())) end_ = *end;
}

void search_run::drain() {
  while (!pipeline_.empty()) take_one();
}

void search_run::enter(attempt_pointer attempt) {
  // The pipeline generates beside those that are kept for the race.
  if (may_retry(*attempt)) attempt->retry();
  if (!attempt->over() && !attempt->is_live()) generate(*attempt);
  if (attempt->has_wanted()) {
    pipeline_.add(std::move(attempt));
    return;
  }
  if (attempt->over() || !try_out(*attempt)) {
    finish(std::move(attempt->result()));
    return;
  }
  const std::size_t index = attempt->index();
  race_->arrive(index, rank_of(index));
  racing_[index] = std::move(attempt);
  while (const auto task = race_->next()) perform(*task);
}

// What runs out of memory may work once those that are kept for the race have given back theirs.
void search_run::with_room(trial_attempt& attempt, const std::function<void()>& step) {
  step();
  if (!may_retry(attempt)) return;
  attempt.retry();
  step();
}

bool search_run::generate(trial_attempt& attempt) {
  with_room(attempt, [&] {
    if (setting_.workshop.capacity() == 0) {
      attempt.generate();
    } else {
      attempt.generate_from_supply();
    }
  });
  return attempt.is_live();
}

// One that asks for another program than before is compiled on the spot.
bool search_run::generate_again(trial_attempt& attempt) {
  if (!generate(attempt) && attempt.has_wanted()) {
    attempt.forget_programs();
    generate(attempt);
  }
  return attempt.is_live();
}

// Drivers may allocate as late as at the first run.
bool search_run::try_out(trial_attempt& attempt) {
  with_room(attempt, [&] {
    if (!attempt.is_live() && !generate_again(attempt)) return;
    first_run(attempt);
    const bool is_cold = !std::exchange(warmed_up_, warmed_up_ || attempt.is_live());
    if (is_cold && attempt.is_live() && setting_.device.kind() == device_kind::gpu) {
      measuring([&] { attempt.warm_up_device(); });
    }
  });
  return attempt.is_live();
}

void search_run::first_run(trial_attempt& attempt) {
  measuring([&] {
    if (setting_.options.verify == result_check::every) {
      attempt.try_out();
    } else {
      attempt.warm_up();
    }
  });
}

// Only what leads makes others be dropped, so that to check whatever takes the lead is enough.
bool search_run::has_to_be_checked(const race_task& task,
                                   const std::vector<run_time>& times) const {
  if (setting_.options.verify != result_check::finalists) return false;
  if (checked_.contains(task.configuration) || times.empty()) return false;
  return task.step != race_step::screening || !trials_.best_score() ||
         *std::min_element(times.begin(), times.end()) < *trials_.best_score();
}

void search_run::check(trial_attempt& attempt) {
  measuring([&] { attempt.try_out(); });
  if (!attempt.over()) checked_.insert(attempt.index());
}

// What leads in the end may have been taken over, or lead only because the device has drifted.
void search_run::check_winner() {
  if (setting_.options.verify != result_check::finalists) return;
  for (auto place = best(); place; place = best()) {
    const std::size_t index = trials_.all()[*place].index;
    if (checked_.contains(index)) return;
    attempt_pointer own;
    const auto raced = racing_.find(index);
    if (raced == racing_.end()) {
      static const detail::never_destroyed<known_failures> nothing;
      own = std::make_unique<trial_attempt>(setting_.problem, index, setting_.device,
                                            setting_.options.measure, setting_.now, setting_.guard);
      own->admit(*nothing);
    }
    trial_attempt& leading = own ? *own : *raced->second;
    with_room(leading, [&] {
      if (leading.over()) return;
      if (leading.is_live() || generate_again(leading)) check(leading);
    });
    if (leading.over()) finish(std::move(leading.result()));
  }
}

double search_run::rank_of(std::size_t index) const {
  try {
    const auto asked = setting_.problem.needs(index);
    return asked ? static_cast<double>(asked->local_memory_bytes) : 0.0;
  } catch (const std::exception&) {
    return 0.0;  // it was asked before, so it answers differently each time
  }
}

// ---- the race

std::vector<run_time> search_run::measure_for(const race_task& task, trial_attempt& attempt) {
  // Who is in the play-off differs by less than the ticks of some timers.
  plays_off_ = plays_off_ || task.step == race_step::play_off;
  const double allowed = plays_off_ ? final_tick_error : screening_tick_error;
  std::vector<run_time> times;
  with_room(attempt, [&] {
    // One that has been released has shown that it works, so nothing is checked again.
    if (!attempt.over() && !attempt.is_live() && generate_again(attempt)) {
      measuring([&] { attempt.warm_up(); });
    }
    if (!attempt.over()) measuring([&] { times = attempt.sample(task.runs, allowed); });
    if (!attempt.over() && has_to_be_checked(task, times)) check(attempt);
  });
  return times;
}

void search_run::perform(const race_task& task) {
  trial_attempt& attempt = *racing_.at(task.configuration);
  const std::vector<run_time> times = measure_for(task, attempt);
  if (attempt.over()) {
    race_->fail();
  } else {
    race_->add(times);
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
  if (state == race_state::failed || judged_.insert(index).second) finish(result_of(index));
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
  if (const interval bounds = race_->interval(index); std::isfinite(bounds.upper.count())) {
    done.bounds = bounds;
  }
  assert(std::isfinite(done.score->count()));
  done.outcome = outcome::measured;
  done.dropped = race_->state(index) == race_state::dropped;
  return done;
}

void search_run::compare_best() {
  if (!clock_.is_over(trials_.best_score())) {
    static const detail::never_destroyed<known_failures> nothing;
    for (const std::size_t index : taken_over_to_compare(trials_, setting_.options.race.live)) {
      begin(index, *nothing);
    }
    if (end_ != search_end::time && end_ != search_end::target) drain();
  }
  race_->close();
  while (const auto task = race_->next()) {
    if (clock_.is_over(trials_.best_score())) {
      end_ = search_end::time;
      break;
    }
    perform(*task);
  }
  for (const std::size_t index : race_->finalists()) {
    if (race_->state(index) != race_state::failed) finish(result_of(index));
  }
  check_winner();
  release_all();
}

bool search_run::release_all() {
  bool any = false;
  for (const auto& [index, attempt] : racing_) {
    any = any || attempt->is_live();
    attempt->release();
  }
  return any;
}

bool search_run::may_retry(const trial_attempt& attempt) {
  if (!attempt.ran_out_of_memory()) return false;
  const bool released = release_all();
  return released || attempt.ran_out_of_host_memory();
}

// ---- what comes out

void search_run::finish(trial done) {
  const trial* before = trials_.find(done.index);
  const bool is_refined = before != nullptr && before->origin != trial_origin::remembered;
  const trial& kept = trials_.put(std::move(done));
  if (strategy_ != nullptr && !is_refined) strategy_->tell(kept.index, told_score(kept));
  notify(setting_.observers, [&](observer& listener) {
    if (is_refined) {
      listener.trial_refined(setting_.subject, kept);
    } else {
      listener.trial_finished(setting_.subject, kept);
    }
  });
  if (kept.outcome != outcome::device_fault || kept.origin != trial_origin::made) return;
  // Whatever came next would be blamed for it.
  const auto& survives = setting_.guard.survives_faults;
  if (!survives || !survives()) throw device_fault_error(setting_.subject, kept);
}

std::optional<std::size_t> search_run::best() {
  const std::vector<trial>& all = trials_.all();
  const std::optional<std::size_t> leading = race_->leading();
  const trial* const leader = leading ? trials_.find(*leading) : nullptr;
  const bool is_right = leader != nullptr && leader->score;  // or found wrong in the end
  std::optional<std::size_t> best;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!all[i].score) continue;
    // Among those that it has compared the race chooses, by more than their scores.
    const bool is_beaten = is_right && racing_.contains(all[i].index) && &all[i] != leader;
    if (!is_beaten && (!best || is_better(all[i], all[*best]))) best = i;
  }
  return best;
}

std::vector<std::string> search_run::doubts() const {
  std::vector<std::string> found;
  if (!race_->drift().settled()) found.push_back(drift_text(race_->drift()));
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
  const search_progress now{.planned = planned_,
                            .taken_over = counts.taken_over,
                            .compiling = pipeline_.compiling(),
                            .compiled = pipeline_.compiled(),
                            .measured = counts.measured,
                            .dropped = counts.dropped,
                            .failed = counts.failed,
                            .elapsed = clock_.elapsed(),
                            .budget_left = clock_.left(),
                            .best = trials_.best_score()};
  notify(setting_.observers,
         [&](observer& listener) { listener.progressed(setting_.subject, now); });
}

void search_run::measuring(const std::function<void()>& step) {
  account(times_.idle);
  {
    const auto limit = longest_turn_wait();
    wait_report report(wait_cause::device, setting_.subject, setting_.observers, limit);
    const measuring_turn turn(setting_.device.info(), limit,
                              [&](auto waited, auto holder) { report.look(waited, holder); });
    report.end();
    account(times_.device_wait);
    step();
  }
  account(times_.measuring);
}

// Beyond the budget nobody is waited for.
std::chrono::milliseconds search_run::longest_turn_wait() const {
  const auto wait = setting_.options.wait.value_or(default_wait);
  const auto left = clock_.left();
  if (!left) return wait;
  return std::min(wait, std::chrono::ceil<std::chrono::milliseconds>(*left));
}

void search_run::account(std::chrono::nanoseconds& part) {
  const auto time = clock_.now();
  part += time - accounted_;
  if (&part == &times_.idle && pipeline_.compiling() == 0) times_.idle_overlap += time - accounted_;
  accounted_ = time;
}

}  // namespace tune
