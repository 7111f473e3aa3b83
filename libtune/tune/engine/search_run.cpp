// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tune/engine/search_run.hpp"

#include <algorithm>
#include <cassert>
#include <fmt/format.h>
#include <utility>

#include "libtune/base/log.hpp"
#include "libtune/store/database/connection.hpp"
#include "libtune/tune/error.hpp"

namespace tune {
namespace {

// A strategy that learns should propose little before it has the first results.
constexpr std::size_t depth_to_learn = 2;
constexpr std::size_t depth_to_sort = 16;

// A target time applies only if the time is the objective.
tuning_budget budget_of(const search_setting& setting) {
  tuning_budget budget = setting.options.budget.value_or(tuning_budget{});
  if (!setting.judge.goal().is_time()) {
    budget.target.reset();
    budget.within.reset();
  }
  return budget;
}

}  // namespace

search_run::search_run(const search_setting& setting)
    : setting_(setting),
      clock_(budget_of(setting), setting.now, setting.spent.time),
      timing_(clock_, setting.subject, setting.device, setting.observers,
              setting.options.wait.value_or(default_wait)),
      race_(setting_, timing_, pipeline_, trials_,
            {.is_over = [this] { return is_over(); },
             .has_reached_target = [this] { return end_ == search_end::target; },
             .best_now = [this] { return best_now(); },
             .end_late = [this] { end_ = search_end::time; },
             .measure = [this](const auto& configurations) { measure(configurations); },
             .finish = [this](trial done) { finish(std::move(done)); }}),
      pipeline_(setting.service, setting.learns ? depth_to_learn : depth_to_sort,
                setting.device.kind() == device_kind::cpu, setting.learns),
      begun_(setting.spent.trials) {}

void search_run::resume(const std::vector<trial>& earlier, bool goes_on) {
  taken_over_ = earlier.size();
  race_.resume(earlier, goes_on);
  for (const trial& taken : earlier) {
    tried_.insert(taken.index);
    report(trials_.put(taken), trial_stage::taken_over);
  }
}

void search_run::run(strategy& strategy, std::size_t most, const known_failures& known) {
  planned_ = most;
  setting_.service.expect(most - std::min(most, tried_.size()) +
                          std::min(taken_over_, earlier_times::references));
  if (!race_.knows_level()) race_.measure_references();
  check_reference();
  tell_taken(strategy);
  strategy_ = &strategy;
  for (propose(strategy, most, known); !pipeline_.empty(); propose(strategy, most, known)) {
    if (end_ == search_end::time || end_ == search_end::target) break;
    take_one();
  }
  strategy_ = nullptr;
  decide();
  account(&search_times::idle);
}

void search_run::retry_remembered() {
  race_.clear();
  for (const trial& item : trials_.all()) {
    const bool is_remembered = item.origin == trial_origin::cached;
    if (is_remembered && item.outcome == outcome::compile_failed)
      begin(item.index, attempt_runner::nothing_known());
  }
  while (!pipeline_.empty() && !is_over()) take_one();
  decide();
}

void search_run::measure(const std::vector<std::size_t>& configurations) {
  for (const std::size_t index : configurations) begin(index, attempt_runner::nothing_known());
  while (!pipeline_.empty() && !is_over() && end_ != search_end::target) take_one();
  pipeline_.abandon();
}

void search_run::decide() {
  pipeline_.abandon();
  race_.decide();
}

// Before all others, because they are judged by its bits.
void search_run::check_reference() {
  if (!setting_.judge.compares_bits()) return;
  const std::vector<named_value>& wanted = setting_.subject.test_default;
  if (!wanted.empty() && setting_.problem.find) reference_ = setting_.problem.find(wanted);
  if (!reference_) {
    trial missing;
    missing.configuration = wanted;
    missing.reason = wanted.empty() ? "there is no test default" : "it is not in the space";
    setting_.judge.set_reference(missing);
    return;
  }
  if (const trial* const resumed = trials_.find(*reference_)) {
    setting_.judge.set_reference(*resumed);
    return;
  }
  tried_.insert(*reference_);
  ++begun_;
  begin(*reference_, attempt_runner::nothing_known());
  while (!pipeline_.empty() && end_ == search_end::complete) take_one();
}

void search_run::tell_taken(strategy& strategy) const {
  for (std::size_t i = 0; i < taken_over_; ++i) {
    const trial& taken = trials_.all()[i];
    std::optional<run_time> told = setting_.judge.known_cost(taken);
    if (told && taken.origin == trial_origin::resumed) told = race_.estimate(taken.index);
    strategy.tell(taken.index, told ? std::optional(told->count()) : std::nullopt);
  }
}

std::optional<run_time> search_run::best_now() const {
  if (race_.first_time()) return race_.first_time();
  if (setting_.judge.races_by_time()) return trials_.best_made();
  std::optional<run_time> best;
  for (const auto& [index, cost] : costs_) best = std::min(cost, best.value_or(cost));
  return best;
}

bool search_run::is_over() const { return clock_.is_over(best_now(), trials_.count()); }

std::optional<search_end> search_run::why_end() const {
  return clock_.why_end(begun_, best_now(), trials_.count());
}

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
    end_ = why_end().value_or(search_end::complete);
  }
}

// A further configuration would be tried unnecessarily.
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
  pipeline_.add(race_.runner().make(index, known));
}

// Waits for the next one until the next check of the clock at most.
void search_run::take_one() {
  race_.runner().yield_memory();
  account(&search_times::idle);
  attempt_pointer attempt = pipeline_.take(clock_.next_look());
  account(&search_times::waiting);
  if (attempt) enter(std::move(attempt));
  tell_progress();
  if (const auto end = why_end()) end_ = *end;
  look_at_seeds();
}

void search_run::enter(attempt_pointer attempt) {
  attempt_runner& runner = race_.runner();
  // The pipeline generates while others are kept for the race, so memory may have been short.
  if (runner.may_retry(*attempt)) attempt->retry();
  if (!attempt->over() && !attempt->is_live()) runner.generate(*attempt);
  if (attempt->has_wanted()) {
    pipeline_.add(std::move(attempt));
    return;
  }
  const bool works = !attempt->over() && runner.try_out(*attempt, race_.slow_test());
  if (reference_ == attempt->index()) setting_.judge.set_reference(attempt->result());
  if (!works) {
    finish(std::move(attempt->result()));
    return;
  }
  race_.arrive(std::move(attempt));
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
  const std::optional<run_time> cost = setting_.judge.known_cost(kept);
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
  warn_of_failures(kept);
  if (kept.outcome != outcome::device_fault || kept.origin != trial_origin::made) return;
  // Otherwise the next configuration would be blamed for the fault.
  const auto& survives = setting_.hooks.survives_faults;
  if (!survives || !survives()) throw device_fault_error(setting_.subject, kept);
}

// A mistake that all configurations share would otherwise appear only at the end.
void search_run::warn_of_failures(const trial& last) const {
  const trial_list::counts& made = trials_.count();
  if (last.score || is_skipped(last) || made.measured > 0) return;
  if (made.failed - made.skipped != search_clock::enough_failed) return;
  const auto first = std::ranges::find_if(
      trials_.all(), [](const trial& item) { return !item.score && !is_skipped(item); });
  log(log_level::warning,
      fmt::format("{}: none of the {} configurations tried so far works: {}, {}: {}",
                  describe(setting_.subject), search_clock::enough_failed,
                  to_string(first->configuration), outcome_name(first->outcome), first->reason));
}

// For users without an observer: seldom, and at growing intervals.
void search_run::log_progress() {
  const std::chrono::nanoseconds searched = clock_.elapsed() - setting_.spent.time;
  if (searched < next_line_) return;
  next_line_ = 2 * searched;
  const auto seconds = [](std::chrono::nanoseconds time) {
    return std::chrono::duration<double>(time).count();
  };
  const trial_list::counts& made = trials_.count();
  std::string text = fmt::format(
      "{}: searched for {:.0f} s; {} of at most {} configurations tried, {} failed",
      setting_.subject.function, seconds(searched), trials_.all().size(), planned_, made.failed);
  if (const auto left = clock_.left()) {
    text += fmt::format("; {:.0f} s of the budget are left", seconds(*left));
  }
  log(log_level::info, text);
}

void search_run::tell_progress() {
  log_progress();
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
