// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tune/engine/executor.hpp"

#include <algorithm>
#include <chrono>
#include <exception>
#include <limits>
#include <mutex>
#include <optional>
#include <utility>

#include "libtune/base/error.hpp"
#include "libtune/base/log.hpp"
#include "libtune/base/never_destroyed.hpp"
#include "libtune/kernel/compile_scope.hpp"
#include "libtune/tune/engine/nested_tunings.hpp"
#include "libtune/tune/engine/search_loop.hpp"
#include "libtune/tune/engine/trial_judge.hpp"
#include "libtune/tune/engine/tuning_transaction.hpp"
#include "libtune/tune/error.hpp"

namespace tune {
namespace {

struct executor_place {
  std::mutex mutex;
  std::shared_ptr<executor> installed;
};

executor_place& the_place() {
  static detail::never_destroyed<executor_place> place;
  return *place;
}

std::shared_ptr<executor> installed_executor() {
  const std::lock_guard lock(the_place().mutex);
  return the_place().installed;
}

isolation_mode isolation_of(const tuning_options& options) {
  return options.isolation.value_or(isolation_mode::automatic);
}

void tell_once_that_it_tunes_here() {
  static std::once_flag told;
  std::call_once(told, [] {
    log(log_level::info,
        "this program tunes in its own process, where a kernel that goes wrong may end it; call "
        "tune::serve_if_worker first in main, or set LIBTUNE_ISOLATION=off to say that it is "
        "meant");
  });
}

// A tuning inside another whose steps are watched: its steps are its own, and none of its programs
// belongs to the configuration that it was called for.
class [[nodiscard]] tuning_inside {
 public:
  explicit tuning_inside(const tuning_task& task) : listener_(detail::current_listener()) {
    if (listener_ == nullptr) return;
    (*listener_)(inner_begin{{.function = task.function,
                              .key = task.subject.arguments,
                              .device = task.subject.device.identity,
                              .database = task.database}});
  }
  ~tuning_inside() {
    if (listener_ != nullptr) (*listener_)(inner_end{});
  }
  tuning_inside(const tuning_inside&) = delete;
  tuning_inside& operator=(const tuning_inside&) = delete;

  /// Reads the prior knowledge of the task, and the configurations lost with earlier processes.
  prior_reader prior_reader_of(const tuning_task& task) const {
    if (listener_ == nullptr) return task.read_prior;
    return [&task, listener = listener_](const search_identity& search) {
      (*listener)(inner_search{search});
      prior_knowledge known = task.read_prior ? task.read_prior(search) : prior_knowledge{};
      const std::string name = detail::tuning_name(
          task.database,
          search_name(task.function, {task.subject.arguments, task.subject.device.identity}));
      for (stored_trial& lost : detail::lost_in(name, search)) {
        known.denied.push_back(std::move(lost));
      }
      return known;
    };
  }

 private:
  const step_listener* listener_;
  compile_scope own_;  // a search around it neither sees its programs nor prebuilds them
};

}  // namespace

tuned_values tune_here(const tuning_task& task, const step_hooks& hooks) {
  const tuning_inside inside(task);
  step_hooks watched = hooks;
  if (watched.listener == nullptr) watched.listener = detail::current_listener();
  const detail::tuning_under_way now(task.subject, watched.listener, &task.options.observers);
  const auto shortlist = [&](const search_problem& problem) {
    return list_of(task.choice, problem, task.context.device());
  };
  tuning_options options = task.options;
  // The goal that results are stored under has been resolved: it is the author's if no later source
  // gives one.
  std::optional<tuning_goal> goal = detail::split_name(task.function.name).second;
  if (options.goal) options.goal = std::exchange(goal, std::nullopt);
  if (goal && goal->is_time()) goal.reset();
  tuning_session session(detail::session_setup{.context = task.context,
                                               .subject = task.subject,
                                               .options = std::move(options),
                                               .goal_of_author = std::move(goal),
                                               .read_prior = inside.prior_reader_of(task),
                                               .shortlist = shortlist,
                                               .hooks = watched,
                                               .only_listed = task.choice.is_strict()});
  std::vector<named_value> values = task.tunes(session, task.subject.arguments);
  return {std::move(values), session.best_score()};
}

namespace {

/// Adds the computed metrics of the application to the trials that a child has measured.
class completing_observer final : public observer {
 public:
  completing_observer(const metric_sources& sources,
                      const std::vector<std::shared_ptr<observer>>& observers)
      : judge_({}, {&sources}), observers_(observers) {}

  void on(const tuning_event& event) override {
    tuning_event completed = event;
    if (auto* made = std::get_if<trial_event>(&completed)) complete(made->trial);
    if (auto* ended = std::get_if<search_finished_event>(&completed)) {
      for (trial& item : ended->trials) complete(item);
    }
    detail::notify(observers_, completed);
  }

 private:
  void complete(trial& item) const {
    if (item.score) judge_.complete(item);
  }

  trial_judge judge_;
  const std::vector<std::shared_ptr<observer>>& observers_;
};

/// The reason why the sources of the application have to be in the process that searches; empty if
/// they need not.
std::string why_here(const tuning_task& task) {
  const metric_sources& own = task.options.metrics;
  if (!own.probes.empty()) return "a probe of the application watches its runs";
  const tuning_goal goal = detail::split_name(task.function.name).second;
  for (const computed_metric& item : own.computed) {
    const bool decides = std::ranges::find(goal.objectives, item.name, &objective::metric) !=
                             goal.objectives.end() ||
                         std::ranges::find(goal.constraints, item.name, &constraint::metric) !=
                             goal.constraints.end();
    if (decides) return "its goal names '" + item.name + "', which the application computes";
  }
  return {};
}

tuned_values tune_elsewhere(executor& installed, const tuning_task& task) {
  if (task.options.metrics.empty()) return installed.tune(task);
  tuning_options options = task.options;
  options.observers = {
      std::make_shared<completing_observer>(task.options.metrics, task.options.observers)};
  return installed.tune({.context = task.context,
                         .function = task.function,
                         .tunes = task.tunes,
                         .subject = task.subject,
                         .options = options,
                         .read_prior = task.read_prior,
                         .choice = task.choice,
                         .database = task.database});
}

}  // namespace

tuned_values run_tuning(const tuning_task& task) {
  const isolation_mode wanted = isolation_of(task.options);
  if (wanted == isolation_mode::off) return tune_here(task);
  if (const auto installed = installed_executor()) {
    const std::string why = why_here(task);
    if (why.empty()) return tune_elsewhere(*installed, task);
    const std::string what = "tuning " + describe(task.subject) +
                             " cannot run in a child process: " + why +
                             ", and functions cannot be sent; make it a static registered_metrics";
    if (wanted == isolation_mode::on) throw argument_error(what);
    log(log_level::info, what);
    return tune_here(task);
  }
  if (wanted == isolation_mode::on) {
    throw error("tuning " + describe(task.subject) +
                " in a child process was asked for (isolation 'on'), but this program cannot be "
                "started as one; call tune::serve_if_worker first in main");
  }
  tell_once_that_it_tunes_here();
  return tune_here(task);
}

bool detail::runs_in_child(const tuning_options& options) {
  return isolation_of(options) != isolation_mode::off && installed_executor() != nullptr;
}

void detail::install_executor(std::shared_ptr<executor> wanted) {
  const std::lock_guard lock(the_place().mutex);
  the_place().installed.swap(wanted);
}

// One run shows that a configuration works; its time is of no interest.
std::optional<std::string> detail::try_in_child(const tuning_task& task,
                                                const std::vector<named_value>& configuration) {
  tuning_options once = task.options;
  once.measure = single_run();
  once.budget = tuning_budget{.target = run_time(std::numeric_limits<double>::infinity())};
  function_identity by_time = task.function;
  by_time.name = own_name(by_time.name);
  try {
    run_tuning({.context = task.context,
                .function = by_time,
                .tunes = task.tunes,
                .subject = task.subject,
                .options = once,
                .read_prior = task.read_prior,
                .choice = {.configurations = {configuration}}});
    return std::nullopt;
  } catch (const std::exception& failure) {
    return failure.what();
  }
}

}  // namespace tune
