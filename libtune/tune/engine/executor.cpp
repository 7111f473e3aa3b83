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
#include "libtune/device/device_memory.hpp"
#include "libtune/device/memory_quota.hpp"
#include "libtune/kernel/compile_scope.hpp"
#include "libtune/tune/engine/nested_tunings.hpp"
#include "libtune/tune/engine/search_loop.hpp"
#include "libtune/tune/engine/search_memory.hpp"
#include "libtune/tune/engine/trial_judge.hpp"
#include "libtune/tune/engine/tuning_scopes.hpp"
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

// The gate of this thread's search. Nested calls pass the same one.
thread_local step_gate* present_gate = nullptr;

class [[nodiscard]] gate_scope {
 public:
  explicit gate_scope(step_gate* gate) : outer_(std::exchange(present_gate, gate)) {}
  ~gate_scope() { present_gate = outer_; }
  gate_scope(const gate_scope&) = delete;
  gate_scope& operator=(const gate_scope&) = delete;

 private:
  step_gate* outer_;
};

step_gate* gate_for(const tuning_task& task, const step_hooks& hooks) {
  if (hooks.gate != nullptr) return hooks.gate;
  return task.behind != nullptr ? task.behind->gate : present_gate;
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

// A nested tuning whose steps are watched: its steps are its own, and none of its programs belongs
// to the configuration of the outer search.
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
  compile_scope own_;  // an outer search neither sees its programs nor prebuilds them
};

tuned_values call_function(const tuning_task& task, const step_hooks& hooks) {
  const tuning_inside inside(task);
  step_hooks watched = hooks;
  if (watched.listener == nullptr) watched.listener = detail::current_listener();
  watched.gate = gate_for(task, hooks);
  const gate_scope through(watched.gate);
  const detail::tuning_under_way now(task.subject, watched.listener, &task.options.observers);
  const auto shortlist = [&](const search_problem& problem) {
    return list_of(task.choice, problem, task.context.device());
  };
  tuning_options options = task.options;
  // The goal of the stored results has been resolved: it is the author's if no later source gives
  // one.
  std::optional<tuning_goal> goal;
  if (own_name(task.function.name) != task.function.name) {
    goal = detail::split_name(task.function.name).second;
  }
  if (options.goal) options.goal = std::exchange(goal, std::nullopt).value_or(tuning_goal{});
  if (goal && goal->is_time()) goal.reset();
  tuning_session session(detail::session_setup{.context = task.context,
                                               .subject = task.subject,
                                               .options = std::move(options),
                                               .goal_of_author = std::move(goal),
                                               .read_prior = inside.prior_reader_of(task),
                                               .shortlist = shortlist,
                                               .hooks = watched,
                                               .only_listed = task.choice.is_strict(),
                                               .peaks = task.peaks});
  std::vector<named_value> values = task.tunes(session, task.subject.arguments);
  return {std::move(values), session.best_score()};
}

// An author's function may ignore memory budgets: a failed allocation in it postpones the tuning.
tuned_values tune_within(detail::memory_quota& quota, const tuning_task& task,
                         const step_hooks& hooks) {
  const std::size_t refusals = quota.refusals();
  try {
    return call_function(task, hooks);
  } catch (const device_error& failure) {
    if (failure.failure() != device_failure::out_of_memory || quota.refusals() == refusals) throw;
    throw too_little_memory_error(task.subject, quota.reach_at_refusal(), failure.what());
  }
}

/// A tuning whose memory other threads may reclaim.
class [[nodiscard]] reclaimable_tuning {
 public:
  reclaimable_tuning(const device& device, const std::shared_ptr<detail::memory_quota>& quota)
      : gate_(quota->gate()),
        reclaimer_(
            device, [quota] { return quota->held(); },
            [gate = gate_](std::size_t) { return detail::reclaim_gate::ask(gate); }) {}
  // A thread that waits for the memory would otherwise block the destructor.
  ~reclaimable_tuning() { gate_->close(); }
  reclaimable_tuning(const reclaimable_tuning&) = delete;
  reclaimable_tuning& operator=(const reclaimable_tuning&) = delete;

 private:
  std::shared_ptr<detail::reclaim_gate> gate_;
  memory_reclaimer reclaimer_;
};

// Calls the function until no memory is reclaimed from it; each call continues with the trials so
// far.
tuned_values tune_reclaimably(const tuning_task& task, const step_hooks& hooks) {
  constexpr int most_in_vain = 20;
  const auto joined = std::make_shared<detail::joined_searches>(task.subject, task.read_prior,
                                                                task.options.observers);
  tuning_options options = task.options;
  options.observers = {joined};
  tuning_task repeated = task.with(options);
  repeated.read_prior = [&](const auto& of) { return joined->read_prior(of); };
  int in_vain = 0;
  for (std::size_t made = 0;; joined->begin_again()) {
    const auto quota = detail::make_quota(task.context, task.options.memory);
    const reclaimable_tuning listed(task.context.device(), quota);
    try {
      const detail::memory_quota_scope counted(task.context.device().impl(), quota);
      return tune_within(*quota, repeated, hooks);
    } catch (const detail::memory_reclaimed&) {
      in_vain = made == joined->made() ? in_vain + 1 : 0;
      made = joined->made();
    }
    log(log_level::info, describe(task.subject) +
                             ": the tuning gives its device memory to another thread of the "
                             "program, and continues with the rest");
    quota->gate()->give_back();
    if (in_vain >= most_in_vain) {
      throw too_little_memory_error(task.subject, quota->limit(),
                                    "the program has requested it repeatedly");
    }
  }
}

}  // namespace

tuned_values tune_here(const tuning_task& task, const step_hooks& hooks) {
  const auto spared = task.context.impl()->spare_captures();
  if (const auto quota = task.context.impl()->quota()) return tune_within(*quota, task, hooks);
  return tune_reclaimably(task, hooks);
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

/// The reason why the sources of the application must be in the process that searches; empty if
/// they need not be.
std::string why_here(const tuning_task& task) {
  const metric_sources& own = task.options.metrics;
  if (own.empty()) return {};
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
  const auto around = task.context.impl()->quota();
  if (task.options.metrics.empty() && around == nullptr) return installed.tune(task);
  tuning_options options = task.options;
  if (!task.options.metrics.empty()) {
    options.observers = {
        std::make_shared<completing_observer>(task.options.metrics, task.options.observers)};
  }
  if (around != nullptr) {
    const std::size_t reach = around->reach(*task.context.impl());
    options.memory = memory_budget{.bytes = std::max(reach, around->held() + 1) - around->held()};
  }
  return installed.tune(task.with(options));
}

}  // namespace

tuned_values run_tuning(const tuning_task& task) {
  const isolation_mode wanted = isolation_of(task.options);
  const bool needs_none = task.behind != nullptr && task.behind->variables.empty();
  if (wanted == isolation_mode::off || needs_none) return tune_here(task);
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

std::shared_ptr<detail::memory_quota> detail::make_quota(
    const context& context, const std::optional<memory_budget>& given) {
  constexpr std::size_t least_reserve = std::size_t{256} << 20;
  const memory_figures now = context.memory();
  if (given && given->bytes > 0) return std::make_shared<memory_quota>(given->bytes);
  if (given) {
    const double bytes = given->share * static_cast<double>(now.total_bytes);
    return std::make_shared<memory_quota>(static_cast<std::size_t>(bytes));
  }
  const std::size_t least = std::min(least_reserve, now.total_bytes / 64);
  const std::size_t reserve = std::min(now.free_bytes, std::max(now.free_bytes / 4, least));
  return std::make_shared<memory_quota>(now.free_bytes - reserve, reserve);
}

std::shared_ptr<detail::memory_quota> detail::current_quota(
    const context& context, const std::optional<memory_budget>& given) {
  if (auto known = context.impl()->quota()) return known;
  return make_quota(context, given);
}

bool detail::runs_in_child(const tuning_options& options) {
  return isolation_of(options) != isolation_mode::off && installed_executor() != nullptr;
}

void detail::install_executor(std::shared_ptr<executor> wanted) {
  const std::lock_guard lock(the_place().mutex);
  the_place().installed.swap(wanted);
}

// One run shows that a configuration works; its time is not used.
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
                .choice = {.configurations = {configuration}},
                .behind = task.behind});
    return std::nullopt;
  } catch (const tuning_stopped_error&) {
    throw;
  } catch (const std::exception& failure) {
    return failure.what();
  }
}

}  // namespace tune
