// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tune/session.hpp"

#include <cstdint>
#include <exception>
#include <memory>
#include <utility>

#include "libtune/base/error.hpp"
#include "libtune/base/forked_process.hpp"
#include "libtune/base/log.hpp"
#include "libtune/device/backend.hpp"
#include "libtune/device/memory_quota.hpp"
#include "libtune/tune/engine/executor.hpp"
#include "libtune/tune/engine/search_course.hpp"
#include "libtune/tune/error.hpp"
#include "libtune/tune/settings.hpp"

namespace tune {
namespace {

bool hides_faults(const device& device) {
  const detail::backend* const found = detail::find_backend(device.info().backend);
  return found != nullptr && found->hides_faults(device.info());
}

bool still_works(const context& context) {
  try {
    command_queue queue = context.create_command_queue();
    const buffer probe = context.create_buffer(sizeof(std::uint32_t));
    queue.zero(probe, sizeof(std::uint32_t));
    queue.finish();
    return true;
  } catch (const std::exception&) {
    return false;
  }
}

}  // namespace

struct tuning_session::state final : detail::session_state {
  using session_state::session_state;
};

tuning_session::tuning_session(const tune::context& context, tuning_subject subject,
                               const tuning_options& options)
    : tuning_session(detail::session_setup{
          .context = context, .subject = std::move(subject), .options = search_options(options)}) {}

tuning_session::tuning_session(detail::session_setup setup)
    : state_(std::make_unique<state>(std::move(setup))) {
  detail::refuse_if_forked([&] { return "tune '" + state_->subject.function + "'"; });
  step_hooks& hooks = state_->hooks;
  if (!hooks.device_works && hides_faults(context().device())) {
    hooks.device_works = [context = context()] { return still_works(context); };
  }
  if (!hooks.survives_faults) {
    hooks.survives_faults = [context = context()] { return still_works(context); };
  }
}

tuning_session::~tuning_session() = default;

const tune::context& tuning_session::context() const noexcept { return state_->context; }
const tuning_options& tuning_session::options() const noexcept { return state_->options; }
std::optional<run_time> tuning_session::best_score() const noexcept { return state_->best_score; }

const std::vector<named_value>& tuning_session::test_default_values() const {
  if (!state_->subject.test_default.empty()) return state_->subject.test_default;
  throw argument_error(
      "the session for '" + state_->subject.function + "' on device '" + context().device().name() +
      "' knows no test default, because no autotuner made it; name a configuration");
}

// A course uses the state of its session, which only this file defines.
detail::search_course::search_course(tuning_session& session)
    : session_(*session.state_), outer_(std::exchange(session_.course, this)) {}
// The time of one of its searches is not the time of the session's result.
detail::search_course::~search_course() {
  session_.course = outer_;
  session_.best_score.reset();
}

std::size_t tuning_session::memory_budget() const {
  return detail::current_quota(context(), options().memory)->reach(*context().impl());
}

std::size_t tuning_session::fit_memory(std::size_t wanted, std::size_t least) const {
  const std::size_t budget = memory_budget();
  if (wanted <= budget) return wanted;
  if (least > budget) {
    throw too_little_memory_error(
        state_->subject, budget,
        "its arrays need " + std::to_string(least) + " bytes at the least");
  }
  warn_once(describe(state_->subject) + " is tuned on arrays of " + std::to_string(budget) +
            " bytes in place of " + std::to_string(wanted) +
            ", because a tuning may hold no more device memory now (LIBTUNE_TUNING_MEMORY)");
  return budget;
}

std::size_t tuning_session::search(const search_problem& problem, const search_defaults& defaults) {
  if (state_->course != nullptr) return state_->course->search(problem, defaults);
  detail::session_search next{.problem = problem, .stage = state_->searches++};
  // First, because some lists only read the space and leave by an exception.
  if (state_->shortlist) next.shortlist = state_->shortlist(problem);
  next.decided = decide(options(), defaults, state_->goal_of_author);
  if (next.shortlist.empty() || state_->only_listed) return run(*state_, std::move(next));
  try {
    return run(*state_, next);
  } catch (const tuning_failed_error& failure) {
    log(log_level::info, std::string("none of the listed configurations works, so the whole space "
                                     "is searched: ") +
                             failure.what());
    next.shortlist.clear();
    return run(*state_, std::move(next));
  }
}

}  // namespace tune
