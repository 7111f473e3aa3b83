// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tune/engine/search_course.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <string>
#include <utility>

#include "libtune/base/library_version.hpp"
#include "libtune/base/log.hpp"
#include "libtune/device/memory_quota.hpp"
#include "libtune/kernel/pool/compile_pool.hpp"
#include "libtune/tune/engine/doors.hpp"
#include "libtune/tune/engine/step_gate.hpp"
#include "libtune/tune/error.hpp"

namespace tune::detail {
namespace {

// A limit of device time is stretched, because the time is spent in slices. A peak, which needs
// long copies, cannot be measured beside an application.
void stretch(tuning_options& options, const step_gate& gate) {
  if (!options.budget) return;
  options.budget->within.reset();
  if (!options.budget->time) return;
  const double longest = 1e18;  // ns
  const double ns = static_cast<double>(options.budget->time->count()) * gate.stretch();
  options.budget->time = std::chrono::nanoseconds(std::llround(std::min(ns, longest)));
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

std::size_t run(session_state& session, session_search search) {
  tuning_options& with = search.decided.options;
  if (step_gate* const gate = session.hooks.gate) {
    gate->measure_on(session.context);
    stretch(with, *gate);
  } else {
    open_doors().add_probes(with.metrics, search.problem.metrics, with.goal.value_or(tuning_goal{}),
                            session.context);
  }
  const auto read_prior = [&]() -> prior_knowledge {
    if (!session.read_prior) return {};
    prior_knowledge known =
        session.read_prior({.space = space_fingerprint(search.problem) +
                                     suffix_of(with.verify.value_or(result_check::every)),
                            .compiler = session.context.compiler_identity(),
                            .library_version = std::string(library_version()),
                            .stage = search.stage});
    if (!search.ends_after_seeds) known.losses = {};
    return known;
  };
  session.hooks.memory = session.context.impl()->quota();
  session.hooks.programs = search.programs;
  session.hooks.is_warm = search.is_warm;
  const auto service =
      make_compile_service(compile_pool::shared(), session.context, with.compile_time);
  if (search.shortlist.empty() && !search.decided.sources.empty()) {
    log(log_level::info, describe(session.subject) + " is searched with " + search.decided.sources);
  }
  const trial best =
      run_search(search.problem, session.subject, session.context.device(), with, with.observers,
                 session.now, *service, read_prior, search.shortlist, session.hooks);
  session.best_score = best.score;
  return best.index;
}

}  // namespace tune::detail
