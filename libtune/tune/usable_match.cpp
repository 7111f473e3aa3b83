// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tune/usable_match.hpp"

#include <chrono>
#include <exception>
#include <fmt/format.h>
#include <utility>

#include "libtune/base/log.hpp"
#include "libtune/kernel/compile_watch.hpp"
#include "libtune/tune/engine/limits.hpp"
#include "libtune/tune/engine/session_setup.hpp"
#include "libtune/tune/engine/trial_runner.hpp"
#include "libtune/tune/error.hpp"

namespace tune {
namespace {

/// Leaves an autotune function where its search would start. No std::exception, so that a function
/// which handles errors does not take it for one.
struct space_is_known {};

thread_local bool only_looks = false;

/// While it lives this thread neither compiles nor tunes for the function that it runs.
class [[nodiscard]] only_looking {
 public:
  only_looking() : outer_(std::exchange(only_looks, true)) { watch_.refuse_all(); }
  ~only_looking() { only_looks = outer_; }
  only_looking(const only_looking&) = delete;
  only_looking& operator=(const only_looking&) = delete;

 private:
  bool outer_;
  compile_watch watch_;
};

// One run is enough to know that it works; its time is of no interest.
tuning_options run_once(const tuning_options& options) {
  tuning_options once = options;
  once.measure = {
      .time_limit = std::chrono::nanoseconds(0), .min_iterations = 1, .max_iterations = 1};
  return once;
}

std::optional<record> first_usable(const std::vector<record>& candidates,
                                   const search_problem& problem, const device& device,
                                   const tuning_options& options, const tuning_subject& subject,
                                   const trial_in_child& elsewhere) {
  for (const record& candidate : candidates) {
    std::size_t index = 0;
    const auto reason = why_unusable(problem, candidate.values, device, options, index, elsewhere);
    if (!reason) return candidate;
    log(log_level::info,
        fmt::format("{}: the result of device '{}' ({}) cannot be used: {}", describe(subject),
                    candidate.device.name, to_string(candidate.values), *reason));
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> why_unusable(const search_problem& problem,
                                        const std::vector<named_value>& configuration,
                                        const device& device, const tuning_options& options,
                                        std::size_t& index, const trial_in_child& elsewhere) {
  try {
    const std::optional<std::size_t> place = problem.find(configuration);
    if (!place) return "it is not in the space";
    index = *place;
    if (const auto asked = problem.needs(index)) {
      auto broken = find_broken_limit(*asked, device.limits());
      return broken ? std::optional("it needs " + *std::move(broken)) : std::nullopt;
    }
  } catch (const std::exception& failure) {
    return failure.what();
  }
  if (elsewhere) return elsewhere(configuration);
  const trial tried =
      run_trial(problem, index, device, run_once(options).measure, std::chrono::steady_clock::now,
                {}, options.wait.value_or(default_wait));
  if (tried.outcome == outcome::measured) return std::nullopt;
  return fmt::format("{}: {}", outcome_name(tried.outcome), tried.reason);
}

std::optional<record> find_usable(
    const std::vector<record>& candidates, const context& context, const tuning_subject& subject,
    const tuning_options& options,
    const std::function<void(tuning_session&, const std::vector<named_value>&)>& function,
    const trial_in_child& elsewhere) {
  std::optional<record> usable;
  const auto look = [&](const search_problem& problem) -> std::vector<std::size_t> {
    usable = first_usable(candidates, problem, context.device(), options, subject, elsewhere);
    throw space_is_known{};
  };
  try {
    tuning_session session(detail::session_setup{
        .context = context, .subject = subject, .options = options, .shortlist = look});
    function(session, subject.arguments);
    log(log_level::info, describe(subject) +
                             ": results of other devices are not used, because the function "
                             "searches no space in which to look for them");
  } catch (const space_is_known&) {
  } catch (const std::exception& failure) {
    log(log_level::info,
        describe(subject) + ": results of other devices cannot be checked: " + failure.what());
  } catch (...) {
    log(log_level::info, describe(subject) + ": results of other devices cannot be checked");
  }
  return usable;
}

std::optional<std::string> why_forbidden(
    const std::vector<named_value>& values, const context& context, const tuning_subject& subject,
    const tuning_options& options,
    const std::function<void(tuning_session&, const std::vector<named_value>&)>& function,
    const std::function<bool()>& was_in_space) {
  std::optional<std::string> reason;
  const auto look = [&](const search_problem& problem) -> std::vector<std::size_t> {
    if (const auto place = problem.find(values)) {
      const auto asked = problem.needs(*place);
      if (asked) reason = find_broken_limit(*asked, context.device().limits());
      if (reason) reason = "it needs " + *reason;
    } else if (was_in_space()) {
      reason = "it is not in the space any more";
    }
    throw space_is_known{};
  };
  try {
    const only_looking here;
    tuning_session session(detail::session_setup{
        .context = context, .subject = subject, .options = options, .shortlist = look});
    function(session, subject.arguments);
  } catch (const space_is_known&) {
  } catch (const std::exception& failure) {
    log(log_level::debug, describe(subject) +
                              ": whether its space still has the result cannot be "
                              "told: " +
                              failure.what());
  } catch (...) {
    log(log_level::debug,
        describe(subject) + ": whether its space still has the result cannot be told");
  }
  return reason;
}

void detail::leave_if_only_looking() {
  if (only_looks) throw space_is_known{};
}

}  // namespace tune
