// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "tests/extra/ahead/simulated_tuner.hpp"

#include <algorithm>
#include <doctest/doctest.h>

#include "libtune/tune/error.hpp"

namespace pretuned {
namespace {

int n_of(const std::vector<tune::named_value>& configuration) {
  return static_cast<int>(std::get<std::int64_t>(configuration.front().value));
}

tune::tuning_subject subject_of(const tune::remote_task& task) {
  return {.function = task.function.name,
          .version = task.function.version,
          .arguments = task.key,
          .device = task.device.info()};
}

tune::trial untried(int n) {
  tune::trial item;
  item.index = static_cast<std::size_t>(n - 1);
  item.configuration = {{"n", std::int64_t{n}}};
  return item;
}

std::map<int, tune::trial> take_over(const tune::prior_knowledge& known) {
  std::map<int, tune::trial> trials;
  for (const tune::stored_trial& item : known.unfinished) {
    tune::trial kept = untried(n_of(item.configuration));
    kept.outcome = item.score_ns ? tune::outcome::measured : tune::outcome::failed;
    if (item.score_ns) kept.score = tune::run_time(*item.score_ns);
    kept.origin = tune::trial_origin::resumed;
    trials[n_of(item.configuration)] = kept;
  }
  return trials;
}

tune::search_finished_event judge(const std::map<int, tune::trial>& trials,
                                  const tune::tuning_subject& subject) {
  tune::search_finished_event event{.subject = subject, .trials = {}, .best = {}};
  for (const auto& [n, item] : trials) {
    event.trials.push_back(item);
    if (item.score && (!event.best || *item.score < *event.trials[*event.best].score)) {
      event.best = event.trials.size() - 1;
    }
  }
  return event;
}

}  // namespace

tune::tuned_values simulated_tuner::operator()(const tune::remote_task& task) {
  tune::tuned_values made = search(task, 0);
  return has_second_search ? search(task, 1) : made;
}

tune::tuned_values simulated_tuner::search(const tune::remote_task& task, int stage) {
  const auto report = [&](const tune::tuning_event& event) {
    tune::detail::notify(task.options.observers, event);
  };
  const auto require_going_on = [&] {
    if (task.stop && task.stop()) throw tune::tuning_stopped_error("simulated end");
  };
  const tune::prior_knowledge known =
      task.read_prior({.space = "space", .compiler = "c", .library_version = "1", .stage = stage});
  require_going_on();
  const tune::tuning_subject subject = subject_of(task);
  std::map<int, tune::trial> trials = take_over(known);
  const std::vector<int> chosen = choose(task, trials);
  const std::size_t taken = trials.size();
  report(tune::search_started_event{.subject = subject,
                                    .strategy = "exhaustive",
                                    .combinations = configurations,
                                    .configurations = configurations,
                                    .planned = std::max(configurations, taken),
                                    .taken_over = taken});
  for (const auto& [n, item] : trials) {
    report(tune::trial_event{subject, item, tune::trial_stage::taken_over});
  }
  for (const int n : chosen) {
    require_going_on();
    if (before_trial) before_trial(task, n);
    const tune::trial& made = trials[n] = try_out(task, n);
    report(tune::trial_event{subject, made, tune::trial_stage::finished});
    report(tune::progress_event{subject, {.planned = configurations}});
  }
  require_going_on();
  const tune::search_finished_event event = judge(trials, subject);
  report(event);
  if (!event.best) throw tune::tuning_failed_error(subject, event.trials);
  const tune::trial& best = event.trials[*event.best];
  return {best.configuration, best.score};
}

std::vector<int> simulated_tuner::choose(const tune::remote_task& task,
                                         const std::map<int, tune::trial>& known) const {
  std::vector<int> chosen;
  for (const auto& listed : task.choice.configurations) {
    const int n = n_of(listed);
    if (n >= 1 && n <= static_cast<int>(configurations)) chosen.push_back(n);
  }
  if (task.choice.is_strict()) return chosen;
  const std::size_t most = task.options.search.max_count.value_or(configurations);
  for (std::size_t i = 0; i < configurations && chosen.size() + known.size() < most; ++i) {
    const int n = static_cast<int>(i) + 1;
    if (!known.contains(n)) chosen.push_back(n);
  }
  return chosen;
}

tune::trial simulated_tuner::try_out(const tune::remote_task& task, int n) {
  const std::string device = device_name(task.device);
  {
    const std::lock_guard lock(mutex_);
    made_.push_back({device, n});
  }
  tune::trial item = untried(n);
  const double ns = time(device, n);
  if (ns > 0) {
    item.outcome = tune::outcome::measured;
    item.score = tune::run_time(ns);
    item.samples = tune::samples({tune::run_time(ns)});
    item.bounds = tune::interval{tune::run_time(0.999 * ns), tune::run_time(1.001 * ns)};
  } else {
    item.outcome = tune::outcome::failed;
    item.reason = "simulated";
  }
  item.elapsed = std::chrono::milliseconds(1);
  return item;
}

std::vector<simulated_tuner::made_trial> simulated_tuner::made() const {
  const std::lock_guard lock(mutex_);
  return made_;
}

std::multiset<int> simulated_tuner::tried() const {
  std::multiset<int> all;
  for (const made_trial& item : made()) {
    all.insert(item.n);
  }
  return all;
}

std::set<std::string> simulated_tuner::devices_used() const {
  std::set<std::string> names;
  for (const made_trial& item : made()) names.insert(item.device);
  return names;
}

tune::function_identity simulated_function(const std::string& name) {
  return {.name = name,
          .version = 0,
          .key_fields = {{"rows", tune::value_type::int32}},
          .value_fields = {{"n", tune::value_type::int32}}};
}

std::vector<tune::named_value> simulated_key(int rows) { return {{"rows", std::int64_t{rows}}}; }

equal_devices::equal_devices(std::size_t count) : fakes_(count) {
  for (const auto& fake : fakes_) all_.push_back(fake.device());
}

std::string equal_devices::name(const tune::device& of) const {
  const auto found = std::ranges::find(all_, of);
  REQUIRE(found != all_.end());
  return std::string(1, static_cast<char>('a' + (found - all_.begin())));
}

}  // namespace pretuned
