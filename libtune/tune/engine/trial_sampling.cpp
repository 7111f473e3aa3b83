// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
// The part of an attempt for its samples, beside an application in slices of its device's time.
#include <algorithm>
#include <cstdint>
#include <fmt/format.h>
#include <utility>

#include "libtune/base/plain_text.hpp"
#include "libtune/measure/timing/stopping.hpp"
#include "libtune/tune/engine/step_gate.hpp"
#include "libtune/tune/engine/stopwatch.hpp"
#include "libtune/tune/engine/trial_attempt.hpp"
#include "libtune/tune/engine/trial_judge.hpp"

namespace tune {

std::vector<run_time> trial_attempt::take(int count, int runs) {
  if (hooks_.judge == nullptr) return prepared_.sample(count, runs);
  hooks_.judge->before_runs(result_, count * runs);
  std::vector<run_time> times = prepared_.sample(count, runs);
  hooks_.judge->after_runs(result_, times);
  return times;
}

// A disturbed device makes a run look too long, and then its configuration would be left out: the
// first run is made again, once, if the sentinel tells of a disturbance.
std::vector<run_time> trial_attempt::take_step(int count,
                                               const std::function<std::vector<run_time>()>& runs) {
  std::vector<run_time> times;
  const auto launches = static_cast<std::uint64_t>(count);
  bool is_disturbed = false;
  announced(step_kind::samples, launches, [&] {
    times = runs();
    const bool is_first = hooks_.gate != nullptr && !one_run_ && !over() && !times.empty();
    is_disturbed =
        is_first && hooks_.gate->is_too_long(times.front()) && !hooks_.gate->are_samples_good();
  });
  if (is_disturbed && !over()) announced(step_kind::samples, launches, [&] { times = runs(); });
  return times;
}

std::vector<run_time> trial_attempt::sample(int count, double allowed) {
  const stopwatch elapsing(now_, result_.elapsed);
  std::vector<run_time> times;
  if (!one_run_) {
    times = take_step(1, [&] {
      std::vector<run_time> taken = take(1, 1);
      add_figures();  // its launches are now known
      // By now the check and all probes have given what they give.
      if (hooks_.judge != nullptr) hooks_.judge->require_accuracy(result_);
      return taken;
    });
  }
  if (over()) return {};
  if (!one_run_) one_run_ = times.front();
  if (is_too_long()) return {};
  int runs = 1;
  const bool known = attempt(outcome::launch_failed, [&] {
    runs = runs_per_sample(*one_run_, prepared_.timer_resolution(), allowed);
  });
  if (!known) return {};
  if (runs > 1) times.clear();
  const int missing = count - static_cast<int>(times.size());
  if (missing == 0) return times;
  std::vector<run_time> more;
  if (hooks_.gate != nullptr) {
    more = take_in_slices(missing, runs);
  } else {
    announced(step_kind::samples, static_cast<std::uint64_t>(missing) * static_cast<unsigned>(runs),
              [&] { more = take(missing, runs); });
  }
  if (over()) return {};
  times.insert(times.end(), more.begin(), more.end());
  return times;
}

std::vector<run_time> trial_attempt::sample_whole(int runs, bool busy) {
  const stopwatch elapsing(now_, result_.elapsed);
  std::vector<run_time> times;
  for (int done = 0; done < runs && !over();) {
    const int some = runs_in_slice(runs - done);
    const std::vector<run_time> taken =
        take_step(some, [&] { return prepared_.sample_whole(some, busy); });
    times.insert(times.end(), taken.begin(), taken.end());
    done += some;
    if (hooks_.gate == nullptr || over() || times.empty()) continue;
    if (!one_run_) one_run_ = times.front();
    is_too_long();
  }
  if (over()) times.clear();
  return times;
}

// The time of a run is known after the first one.
int trial_attempt::runs_in_slice(int most) const {
  if (hooks_.gate == nullptr) return most;
  if (!one_run_) return 1;
  const auto slice = static_cast<double>(hooks_.gate->slice().count());
  return static_cast<int>(
      std::clamp(slice / std::max(one_run_->count(), 1.0), 1.0, static_cast<double>(most)));
}

// Beside an application some runs are too long; they wait for its idle windows.
bool trial_attempt::is_too_long() {
  if (hooks_.gate == nullptr) return false;
  set_metric(result_.metrics, {measured_behind, 1, ""});
  runs_are_long_ = hooks_.gate->is_too_long(*one_run_);
  if (!runs_are_long_ || hooks_.gate->has_windows()) return false;
  set_metric(result_.metrics, {deferred_behind, 1, ""});
  hooks_.gate->note_deferred();
  fail(
      outcome::skipped,
      fmt::format("a run takes {} ms, longer than the slice of {} ms that the running "
                  "application allows; it is tried in its idle windows (tune::idle_window), with a "
                  "longer LIBTUNE_SLICE, or when it is tuned ahead (tunedb pretune)",
                  detail::rounded_text(1e-6 * one_run_->count()),
                  detail::rounded_text(1e-6 * static_cast<double>(hooks_.gate->slice().count()))));
  return true;
}

std::vector<run_time> trial_attempt::take_in_slices(int count, int runs) {
  const double each = std::max(one_run_->count() * runs, 1.0);
  const double visit = static_cast<double>(hooks_.gate->visit().count());
  const int at_once = static_cast<int>(std::clamp(visit / each, 1.0, static_cast<double>(count)));
  std::vector<run_time> times;
  while (!over() && static_cast<int>(times.size()) < count) {
    const int left = count - static_cast<int>(times.size());
    while (!take_slice(std::min(at_once, left), runs, times)) {
    }
  }
  return times;
}

// The application has left its own data in the caches, so the first run is skipped, unless one more
// run makes the step too long. Returns false if the slice has to be repeated.
bool trial_attempt::take_slice(int count, int runs, std::vector<run_time>& times) {
  const double longest = static_cast<double>(hooks_.gate->slice().count());
  const bool fits = one_run_->count() * runs * (count + 1) <= longest;
  const int spare = hooks_.gate->is_cold() && fits ? 1 : 0;
  bool good = true;
  announced(step_kind::samples,
            static_cast<std::uint64_t>(count + spare) * static_cast<unsigned>(runs), [&] {
              const std::vector<run_time> taken = take(count + spare, runs);
              good = hooks_.gate->are_samples_good();
              const auto first = taken.begin() + (taken.size() > 1 ? spare : 0);
              if (good) times.insert(times.end(), first, taken.end());
            });
  return good || over();
}

void trial_attempt::repeat(int runs) {
  const stopwatch elapsing(now_, result_.elapsed);
  announced(step_kind::run, static_cast<std::uint64_t>(runs), [&] { prepared_.repeat(runs); });
}

void trial_attempt::measure_alone() {
  const stopwatch elapsing(now_, result_.elapsed);
  samples taken;
  const auto most = static_cast<std::uint64_t>(settings_.max_iterations);
  if (!announced(step_kind::samples, most, [&] {
        taken = take_samples(prepared_, settings_, now_);
        add_figures();
      })) {
    return;
  }
  result_.score = score(taken);
  if (result_.score) {
    result_.outcome = outcome::measured;
    result_.samples = std::move(taken);
  } else {
    refuse_times();
  }
}

}  // namespace tune
