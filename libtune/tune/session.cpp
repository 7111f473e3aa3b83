// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tune/session.hpp"

#include <cstdint>
#include <exception>
#include <memory>
#include <utility>

#include "libtune/base/error.hpp"
#include "libtune/base/library_version.hpp"
#include "libtune/base/log.hpp"
#include "libtune/kernel/pool/compile_pool.hpp"
#include "libtune/tune/device_probes.hpp"
#include "libtune/tune/engine/compile_pipeline.hpp"
#include "libtune/tune/engine/prior_knowledge.hpp"
#include "libtune/tune/engine/search_loop.hpp"
#include "libtune/tune/error.hpp"
#include "libtune/tune/settings.hpp"

namespace tune {
namespace {

// OpenCL has no word for a fault. What some drivers say in its place they say for other reasons
// too.
bool hides_faults(const device& device) {
  return device.info().backend == "OpenCL" && device.kind() == device_kind::gpu;
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

// A search that checks every result does not resume the trials of one that did not.
const char* suffix_of(result_check verify) {
  switch (verify) {
    case result_check::every: break;
    case result_check::finalists: return "/finalists";
    case result_check::none: return "/unchecked";
  }
  return "";
}

}  // namespace

struct tuning_session::state : detail::session_setup {
  int searches = 0;  // that have started
  std::optional<run_time> best_score{};
};

tuning_session::tuning_session(const tune::context& context, tuning_subject subject,
                               const tuning_options& options)
    : tuning_session(detail::session_setup{
          .context = context, .subject = std::move(subject), .options = search_options(options)}) {}

tuning_session::tuning_session(detail::session_setup setup)
    : state_(std::make_unique<state>(std::move(setup))) {
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

std::size_t tuning_session::search(const search_problem& problem, const search_defaults& defaults) {
  const int stage = state_->searches++;
  // Before the service is made, because some lists only read the space and leave by an exception.
  const auto shortlist =
      state_->shortlist ? state_->shortlist(problem) : std::vector<std::size_t>();
  search_decision decided = decide(options(), defaults, state_->goal_of_author);
  detail::add_device_probes(decided.options.metrics, problem.metrics,
                            decided.options.goal.value_or(tuning_goal{}), context());
  const tuning_options& with = decided.options;
  const auto read_prior = [&]() -> prior_knowledge {
    if (!state_->read_prior) return {};
    return state_->read_prior(
        {.space = space_fingerprint(problem) + suffix_of(with.verify.value_or(result_check::every)),
         .compiler = context().compiler_identity(),
         .library_version = std::string(library_version()),
         .stage = stage});
  };
  const auto service = make_compile_service(compile_pool::shared(), context(), with.compile_time);
  const auto run = [&](const std::vector<std::size_t>& listed) {
    if (listed.empty() && !decided.sources.empty()) {
      log(log_level::info, describe(state_->subject) + " is searched with " + decided.sources);
    }
    const trial best =
        run_search(problem, state_->subject, context().device(), with, with.observers, state_->now,
                   *service, read_prior, listed, state_->hooks);
    state_->best_score = best.score;
    return best.index;
  };
  if (shortlist.empty() || state_->only_listed) return run(shortlist);
  try {
    return run(shortlist);
  } catch (const tuning_failed_error& failure) {
    log(log_level::info, std::string("none of the listed configurations works, so the whole space "
                                     "is searched: ") +
                             failure.what());
    return run({});
  }
}

}  // namespace tune
