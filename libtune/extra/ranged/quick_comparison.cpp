// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/ranged/quick_comparison.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <iterator>
#include <numeric>
#include <utility>

#include "libtune/device/memory_quota.hpp"
#include "libtune/kernel/cache/program_cache.hpp"
#include "libtune/tune/engine/search_timing.hpp"
#include "libtune/tune/engine/tuning_scopes.hpp"
#include "libtune/tune/error.hpp"

namespace tune::detail {
namespace {

constexpr std::size_t depth = 16;  // the number of configurations compiled ahead
// The number of configurations compared in turn, if their first times are close enough to the
// least.
constexpr std::size_t most_rivals = 12;
constexpr double worth_a_second_run = 1.5;
constexpr double nearly_the_fastest = 1.15;
constexpr double still_nearly_the_fastest = 1.05;
constexpr double short_run = 50e3;  // ns
constexpr int screening_runs = 3;   // runs after the first one, if they are short
constexpr int rounds = 3;
constexpr int runs_of_round = 4;
constexpr std::chrono::milliseconds longest_pause{100};  // between checks for a stop
constexpr int patience = 2;  // the multiple of the time for programs being compiled

/// The mean of the middle half: insensitive to disturbances of single runs, and finer than the
/// ticks of a timer.
double middle_mean(std::vector<double> values) {
  std::ranges::sort(values);
  const std::size_t cut = values.size() / 4;
  const auto first = values.begin() + static_cast<std::ptrdiff_t>(cut);
  const auto last = values.end() - static_cast<std::ptrdiff_t>(cut);
  return std::accumulate(first, last, 0.0) / static_cast<double>(std::distance(first, last));
}

}  // namespace

quick_comparison::quick_comparison(const setting& setting)
    : setting_(setting),
      pipeline_(setting.service, depth, setting.device.kind() == device_kind::cpu),
      start_(setting.now()) {}

std::vector<trial> quick_comparison::run(std::span<const std::size_t> numbers) {
  entries_.resize(numbers.size());
  std::size_t next = 0;
  const auto fill = [&] {
    while (next < numbers.size() && pipeline_.has_room() && !is_late()) {
      begin(next, numbers[next]);
      ++next;
    }
  };
  for (fill(); !pipeline_.empty() && !is_late(patience); fill()) {
    const auto look = std::chrono::steady_clock::now() + longest_pause;
    if (auto attempt = pipeline_.take(look)) enter(std::move(attempt));
    require_not_stopped();
  }
  pipeline_.abandon();
  if (!setting_.checks) compare_best();
  std::vector<trial> trials;
  for (std::size_t place = 0; place < entries_.size(); ++place) {
    entry& each = entries_[place];
    if (!each.is_done) {
      each.result.index = numbers[place];
      each.result.configuration = setting_.problem.configuration(numbers[place]);
      each.result.reason = "no time was left for it";
      each.result.dropped = true;
    }
    trials.push_back(std::move(each.result));
  }
  return trials;
}

bool quick_comparison::is_late(int times) const {
  const std::size_t enough = best_ > 0 ? 2 : search_clock::enough_failed;
  return setting_.time && tried_ >= enough && setting_.now() - start_ > times * *setting_.time;
}

void quick_comparison::begin(std::size_t place, std::size_t number) {
  places_[number] = place;
  auto attempt = std::make_unique<trial_attempt>(setting_.problem, number, setting_.device,
                                                 setting_.measure, setting_.now, setting_.hooks);
  attempt->admit(setting_.known);
  pipeline_.add(std::move(attempt));
}

void quick_comparison::enter(attempt_pointer attempt) {
  yield_memory();
  if (attempt->ran_out_of_memory() && release_all()) attempt->retry();
  if (!attempt->over() && !attempt->is_live()) {
    with_room(*attempt, [&] { generate(*attempt); });
  }
  if (attempt->has_wanted()) {
    pipeline_.add(std::move(attempt));
    return;
  }
  if (!attempt->over()) with_room(*attempt, [&] { try_once(*attempt); });
  const std::size_t place = places_.at(attempt->index());
  entry& own = entries_[place];
  own.attempt = std::move(attempt);
  own.is_done = true;
  ++tried_;
  if (!own.attempt->over()) screen(own);
  finish(own);
  if (own.attempt == nullptr) return;
  live_.push_back(place);
  keep_best();
}

bool quick_comparison::generate(trial_attempt& attempt) const {
  if (setting_.service.capacity() == 0) {
    attempt.generate();
  } else {
    attempt.generate_prebuilt();
  }
  return attempt.is_live();
}

// Attempts kept for the comparison release their memory for others.
void quick_comparison::with_room(trial_attempt& attempt, const std::function<void()>& step) {
  step();
  if (!attempt.ran_out_of_memory() || !release_all()) return;
  attempt.retry();
  step();
}

void quick_comparison::try_once(trial_attempt& attempt) {
  if (!attempt.is_live() && !generate(attempt) && attempt.has_wanted()) {
    attempt.forget_programs();
    generate(attempt);
  }
  if (!attempt.is_live()) return;
  std::vector<double>& times = entries_[places_.at(attempt.index())].times;
  times.clear();
  if (setting_.checks) {
    attempt.try_out();
  } else if (setting_.device.kind() == device_kind::cpu) {
    attempt.warm_up();
  }
  if (!attempt.over()) add_times(attempt, times, 1);
}

void quick_comparison::add_times(trial_attempt& of, std::vector<double>& times, int runs) {
  for (const run_time time : of.sample_whole(runs, true)) {
    if (!(time.count() > 0) || !std::isfinite(time.count())) return of.refuse_times();
    times.push_back(time.count());
  }
}

void quick_comparison::screen(entry& of) {
  if (of.times.empty()) return;
  // A slow configuration is not run again, and a short one is run more often at once.
  const double first = of.times.front();
  const bool is_hopeless = best_ > 0 && first > worth_a_second_run * best_;
  if (!setting_.checks && !is_hopeless) {
    add_times(*of.attempt, of.times, first < short_run ? screening_runs : 1);
  }
  if (of.attempt->over()) return;
  of.least = middle_mean(of.times);
  if (best_ == 0 || of.least < best_) best_ = of.least;
}

// A configuration that is over, or hopeless, leaves its result.
void quick_comparison::finish(entry& of) {
  of.result = of.attempt->result();
  // Its runs are longer than an application allows, which is not a failure.
  if (find_metric(of.result.metrics, deferred_behind) != nullptr) of.result.dropped = true;
  if (!of.attempt->over() && !of.times.empty()) {
    of.result.outcome = outcome::measured;
    of.result.score = run_time(of.least);
    if (!setting_.checks && of.least <= nearly_the_fastest * best_) return;
  }
  const bool is_fault =
      of.result.outcome == outcome::device_fault && of.result.origin == trial_origin::made;
  of.attempt.reset();
  if (!is_fault) return;
  notify(setting_.observers, trial_event{setting_.subject, of.result, trial_stage::finished});
  const auto& survives = setting_.hooks.survives_faults;
  if (!survives || !survives()) throw device_fault_error(setting_.subject, of.result);
}

void quick_comparison::keep_best() {
  std::ranges::stable_sort(live_, {}, [&](std::size_t place) { return entries_[place].least; });
  while (!live_.empty() && (live_.size() > most_rivals ||
                            entries_[live_.back()].least > nearly_the_fastest * best_)) {
    entries_[live_.back()].attempt.reset();
    live_.pop_back();
  }
}

bool quick_comparison::release_all() {
  const bool any = !live_.empty();
  for (const std::size_t place : live_) entries_[place].attempt.reset();
  live_.clear();
  return any;
}

// Another thread has no room for an allocation; the whole tuning is left, and continues later.
void quick_comparison::yield_memory() const {
  const auto& memory = setting_.hooks.memory;
  if (memory != nullptr && memory->gate()->is_wanted()) throw memory_reclaimed{};
}

// Forwards and backwards in turn, so that no configuration is always first.
void quick_comparison::compare_best() {
  std::vector<std::size_t> rivals = live_;
  for (int round = 0; round < rounds && rivals.size() > 1 && !is_late(); ++round) {
    require_not_stopped();
    std::ranges::reverse(rivals);
    for (const std::size_t place : rivals) {
      entry& own = entries_[place];
      const int runs = own.least < short_run ? runs_of_round : 1;
      for (const run_time time : own.attempt->sample_whole(runs, true)) {
        own.times.push_back(time.count());
      }
      if (!own.attempt->over()) continue;
      own.times.clear();
      finish(own);
    }
    std::erase_if(rivals, [&](std::size_t place) { return entries_[place].attempt == nullptr; });
    double least = 0;
    for (const std::size_t place : rivals) {
      const double own = middle_mean(entries_[place].times);
      least = least == 0 ? own : std::min(least, own);
    }
    std::erase_if(rivals, [&](std::size_t place) {
      return middle_mean(entries_[place].times) > still_nearly_the_fastest * least;
    });
  }
  for (const std::size_t place : live_) {
    entry& own = entries_[place];
    if (own.attempt == nullptr || own.times.empty()) continue;
    own.result.score = run_time(middle_mean(own.times));
  }
  release_all();
}

void compile_ahead(const quick_comparison::setting& setting, std::span<const std::size_t> numbers) {
  if (setting.service.capacity() == 0 || program_cache() == nullptr) return;
  for (const std::size_t number : numbers) {
    trial_attempt attempt(setting.problem, number, setting.device, setting.measure, setting.now,
                          setting.hooks);
    attempt.admit(setting.known);
    bool goes_on = !attempt.over();
    while (goes_on) {
      attempt.generate_prebuilt();
      goes_on = attempt.has_wanted();
      if (!goes_on) continue;
      const wanted_program wanted = attempt.wanted();
      if (auto made = setting.service.find(wanted)) {
        attempt.add_program(wanted.digest, *std::move(made));
      } else {
        setting.service.order(program_order{}, wanted, 0);
        goes_on = false;
      }
    }
  }
}

}  // namespace tune::detail
