// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tune/engine/executor.hpp"

#include <chrono>
#include <exception>
#include <limits>
#include <mutex>
#include <utility>

#include "libtune/base/error.hpp"
#include "libtune/base/log.hpp"
#include "libtune/base/never_destroyed.hpp"
#include "libtune/kernel/compile_scope.hpp"
#include "libtune/tune/engine/nested_tunings.hpp"
#include "libtune/tune/engine/search_loop.hpp"
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
  tuning_session session(detail::session_setup{.context = task.context,
                                               .subject = task.subject,
                                               .options = task.options,
                                               .read_prior = inside.prior_reader_of(task),
                                               .shortlist = shortlist,
                                               .hooks = watched,
                                               .only_listed = task.choice.is_strict()});
  std::vector<named_value> values = task.tunes(session, task.subject.arguments);
  return {std::move(values), session.best_score()};
}

tuned_values run_tuning(const tuning_task& task) {
  const isolation_mode wanted = isolation_of(task.options);
  if (wanted == isolation_mode::off) return tune_here(task);
  if (const auto installed = installed_executor()) return installed->tune(task);
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
  try {
    run_tuning({.context = task.context,
                .function = task.function,
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
