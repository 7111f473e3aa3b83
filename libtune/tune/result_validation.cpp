// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tune/result_validation.hpp"

#include <algorithm>
#include <chrono>
#include <exception>
#include <fmt/format.h>
#include <utility>

#include "libtune/base/library_version.hpp"
#include "libtune/base/log.hpp"
#include "libtune/device/memory_quota.hpp"
#include "libtune/kernel/cache/program_digest.hpp"
#include "libtune/kernel/compile_scope.hpp"
#include "libtune/store/database/tuning_layers.hpp"
#include "libtune/tune/engine/run_trial.hpp"
#include "libtune/tune/engine/search_loop.hpp"
#include "libtune/tune/engine/trial_failure.hpp"
#include "libtune/tune/error.hpp"
#include "libtune/tune/session.hpp"

namespace tune {
namespace {

/// Leaves an autotune function at the start of its search. It is not a std::exception, so that a
/// function that handles errors does not catch it.
struct space_is_known {};

thread_local bool only_looks = false;

/// During its life this thread neither compiles nor tunes for the function that it runs.
class [[nodiscard]] only_looking {
 public:
  only_looking() : outer_(std::exchange(only_looks, true)) {}
  ~only_looking() { only_looks = outer_; }
  only_looking(const only_looking&) = delete;
  only_looking& operator=(const only_looking&) = delete;

 private:
  bool outer_;
  compile_scope scope_{{.refuses_all = true}};
};

/// Runs the autotune function of a task up to its first search, and passes the space to look.
/// @returns the reason if it does not get there; empty if it does
std::optional<std::string> show_space(const tuning_task& task,
                                      const std::function<void(const search_problem&)>& look) {
  const auto leave = [&](const search_problem& problem) -> std::vector<std::size_t> {
    look(problem);
    throw space_is_known{};
  };
  const auto spared = task.context.impl()->spare_captures();
  const detail::memory_quota_scope counted(
      task.context.device().impl(), detail::current_quota(task.context, task.options.memory));
  try {
    tuning_session session(detail::session_setup{.context = task.context,
                                                 .subject = task.subject,
                                                 .options = task.options,
                                                 .shortlist = leave});
    task.tunes(session, task.subject.arguments);
    return "the function searches no space";
  } catch (const space_is_known&) {
    return std::nullopt;
  } catch (const std::exception& failure) {
    return failure.what();
  } catch (...) {
    return "something that is not a std::exception was thrown";
  }
}

/// The properties of a configuration that a program can check without running it.
struct standing {
  bool is_in_space = false;
  bool declares_needs = false;
  std::optional<std::string> broken_need{};  ///< a need that the device does not meet
};

standing standing_of(const search_problem& problem, const std::vector<named_value>& configuration,
                     const device& device) {
  std::optional<resources> asked;
  if (problem.contains) {
    if (!problem.contains(configuration)) return {};
    asked = problem.needs_of(configuration);
  } else {
    const auto index = problem.find(configuration);
    if (!index) return {};
    if (problem.needs) asked = problem.needs(*index);
  }
  auto broken = asked ? find_broken_limit(*asked, device.limits()) : std::nullopt;
  if (broken) broken->insert(0, "it needs ");
  return {
      .is_in_space = true, .declares_needs = asked.has_value(), .broken_need = std::move(broken)};
}

/// The configurations of a result.
std::vector<std::vector<named_value>> parts_of(const search_problem& problem,
                                               const std::vector<named_value>& result) {
  if (problem.parts) return problem.parts(result);
  return {result};
}

std::optional<std::string> why_part_unusable(const search_problem& problem,
                                             const std::vector<named_value>& configuration,
                                             const device& device, const tuning_options& options,
                                             const trial_in_child& in_child) {
  std::optional<std::size_t> index;
  try {
    const standing known = standing_of(problem, configuration, device);
    if (!known.is_in_space) return "it is not in the space";
    if (known.declares_needs) return known.broken_need;
    index = problem.find(configuration);
    if (!index) return "it is not in the space";
  } catch (const std::exception& failure) {
    return failure.what();
  }
  if (in_child) return in_child(configuration);
  const trial tried =
      run_trial(problem, *index, device, single_run(), std::chrono::steady_clock::now, {},
                options.wait.value_or(default_wait));
  if (tried.outcome == outcome::measured) return std::nullopt;
  return fmt::format("{}: {}", outcome_name(tried.outcome), tried.reason);
}

}  // namespace

std::optional<std::string> why_unusable(const search_problem& problem,
                                        const std::vector<named_value>& result,
                                        const device& device, const tuning_options& options,
                                        const trial_in_child& in_child) {
  try {
    for (const auto& part : parts_of(problem, result)) {
      if (auto reason = why_part_unusable(problem, part, device, options, in_child)) return reason;
    }
    return std::nullopt;
  } catch (const tuning_stopped_error&) {
    throw;
  } catch (const std::exception& failure) {
    return failure.what();
  }
}

std::optional<record> find_usable(const std::vector<record>& candidates, const tuning_task& task) {
  trial_in_child in_child;
  if (detail::runs_in_child(task.options)) {
    in_child = [&](const auto& tried) { return detail::try_in_child(task, tried); };
  }
  std::optional<record> usable;
  const auto look = [&](const search_problem& problem) {
    for (const record& candidate : candidates) {
      const auto reason =
          why_unusable(problem, candidate.values, task.context.device(), task.options, in_child);
      if (!reason) {
        usable = candidate;
        return;
      }
      log(log_level::info, fmt::format("{}: the result of device '{}' ({}) cannot be used: {}",
                                       describe(task.subject), candidate.device.name,
                                       to_string(candidate.values), *reason));
    }
  };
  if (const auto unseen = show_space(task, look)) {
    log(log_level::info,
        describe(task.subject) + ": results of other devices cannot be checked: " + *unseen);
  }
  return usable;
}

std::optional<record> find_usable_at_once(const std::vector<record>& candidates,
                                          const tuning_task& task) {
  std::optional<record> usable;
  const auto look = [&](const search_problem& problem) {
    const auto is_known_to_work = [&](const record& candidate) {
      return std::ranges::all_of(parts_of(problem, candidate.values), [&](const auto& part) {
        const standing known = standing_of(problem, part, task.context.device());
        return known.declares_needs && !known.broken_need;
      });
    };
    const auto found = std::ranges::find_if(candidates, is_known_to_work);
    if (found != candidates.end()) usable = *found;
  };
  const only_looking here;
  if (const auto unseen = show_space(task, look)) {
    log(log_level::debug, describe(task.subject) +
                              ": results of other devices cannot be checked at once: " + *unseen);
  }
  return usable;
}

std::optional<std::string> why_forbidden(const std::vector<named_value>& values,
                                         const tuning_task& task,
                                         const std::function<bool()>& was_in_space) {
  std::optional<std::string> reason;
  const auto look = [&](const search_problem& problem) {
    const standing known = standing_of(problem, values, task.context.device());
    if (known.is_in_space) {
      reason = known.broken_need;
    } else if (was_in_space()) {
      reason = "it is not in the space any more";
    }
  };
  const only_looking here;
  if (const auto unseen = show_space(task, look)) {
    log(log_level::debug, describe(task.subject) +
                              ": it is unknown whether its space still has the result: " + *unseen);
  }
  return reason;
}

void watch_for_kernel_change(const context& context,
                             const std::shared_ptr<const tuning_layers>& layers,
                             const function_identity& function, const tuning_subject& subject,
                             const record& found) {
  const auto digests = [layers, function, arguments = subject.arguments,
                        found]() -> std::vector<std::string> {
    const auto origin = layers->origin(function, arguments, found);
    // Another libtune may have another preamble, which is a part of every program.
    if (!origin || origin->search.library_version != library_version()) return {};
    return origin->programs;
  };
  const auto differs = [subject = describe(subject), database = found.database] {
    warn_once(fmt::format(
        "the kernel of {} has changed since the result in '{}' was measured; raise the version of "
        "the autotune function, or tune again (LIBTUNE_MODE=force)",
        subject, database));
  };
  expect_program(context, {.configuration = found.values,
                           .key = subject.arguments,
                           .digests = digests,
                           .differs = differs});
}

void detail::leave_if_only_looking() {
  if (only_looks) throw space_is_known{};
}

}  // namespace tune
