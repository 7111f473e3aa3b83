// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tune/session.hpp"

#include <cstdint>
#include <exception>
#include <utility>

#include "libtune/base/error.hpp"
#include "libtune/base/library_version.hpp"
#include "libtune/base/log.hpp"
#include "libtune/tune/error.hpp"
#include "libtune/tune/pool_workshop.hpp"
#include "libtune/tune/search_loop.hpp"
#include "libtune/tune/space_fingerprint.hpp"

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

// A search that checks every result does not go on with the trials of one that did not.
const char* suffix_of(result_check verify) {
  switch (verify) {
    case result_check::every: break;
    case result_check::finalists: return "/finalists";
    case result_check::none: return "/unchecked";
  }
  return "";
}

}  // namespace

tuning_session::tuning_session(const tune::context& context, tuning_subject subject,
                               const tuning_options& options, wall_clock now,
                               recall_function recall, shortlist_function shortlist,
                               session_rules rules)
    : context_(context),
      subject_(std::move(subject)),
      options_(options),
      now_(std::move(now)),
      recall_(std::move(recall)),
      shortlist_(std::move(shortlist)),
      rules_(std::move(rules)) {
  if (!rules_.guard.device_works && hides_faults(context_.device())) {
    rules_.guard.device_works = [context = context_] { return still_works(context); };
  }
  if (!rules_.guard.survives_faults) {
    rules_.guard.survives_faults = [context = context_] { return still_works(context); };
  }
}

const std::vector<named_value>& tuning_session::test_default_values() const {
  if (!subject_.test_default.empty()) return subject_.test_default;
  throw argument_error("the session for '" + subject_.function + "' on device '" +
                       context_.device().name() +
                       "' knows no test default, for no autotuner made it; name a configuration");
}

std::size_t tuning_session::search(const search_problem& problem) {
  const int stage = searches_++;
  // First, for some only want to know the space.
  const auto shortlist = shortlist_ ? shortlist_(problem) : std::vector<std::size_t>();
  const auto recall = [&]() -> recollection {
    if (!recall_) return {};
    return recall_({.space = space_fingerprint(problem) + suffix_of(options_.verify),
                    .compiler = context_.compiler_identity(),
                    .library_version = std::string(library_version()),
                    .stage = stage});
  };
  pool_workshop workshop(compile_pool::shared(), context_, options_.compile_time);
  const auto run = [&](const std::vector<std::size_t>& listed) {
    const trial best = run_search(problem, subject_, context_.device(), options_,
                                  options_.observers, now_, workshop, recall, listed, rules_.guard);
    best_score_ = best.score;
    return best.index;
  };
  if (shortlist.empty() || rules_.only_listed) return run(shortlist);
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
