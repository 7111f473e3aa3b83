// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tune/engine/search_race.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <exception>
#include <fmt/format.h>
#include <functional>
#include <utility>

#include "libtune/measure/timing/stopping.hpp"
#include "libtune/tune/engine/search_run.hpp"

namespace tune {
namespace {

// The relative spread that a coarse timer may add to samples.
constexpr double screening_tick_error = 0.01;

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
                           race_settings_of(setting_).sure_after.count() > 0;
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

}  // namespace tune
