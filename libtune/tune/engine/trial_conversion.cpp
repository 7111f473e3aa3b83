// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tune/engine/trial_conversion.hpp"

#include <cmath>
#include <string>
#include <utility>

#include "libtune/tune/engine/denylist.hpp"

namespace tune {

stored_trial to_stored(const trial& finished) {
  stored_trial stored{.configuration = finished.configuration,
                      .outcome = std::string(outcome_name(finished.outcome)),
                      .message = finished.reason,
                      .samples_ns = {},
                      .score_ns = std::nullopt,
                      .preparation = finished.preparation,
                      .remembered = finished.origin == trial_origin::cached,
                      .programs = finished.programs,
                      .level = finished.level};
  if (!finished.score) return stored;
  stored.score_ns = finished.score->count();
  if (finished.bounds) {
    stored.score_lower_ns = finished.bounds->lower.count();
    stored.score_upper_ns = finished.bounds->upper.count();
  }
  for (const run_time time : finished.samples.times()) stored.samples_ns.push_back(time.count());
  return stored;
}

std::optional<trial> from_stored(const stored_trial& stored, const search_problem& problem) {
  const std::optional<std::size_t> index = problem.space.find(stored.configuration);
  const std::optional<outcome> result = outcome_from_name(stored.outcome);
  if (!index || !result) return std::nullopt;
  trial taken;
  taken.index = *index;
  taken.configuration = problem.configuration(*index);
  // Fields outside of the space count too.
  if (canonical_text(taken.configuration) != canonical_text(stored.configuration)) {
    return std::nullopt;
  }
  taken.outcome = *result;
  taken.reason = stored.message;
  taken.preparation = stored.preparation;
  taken.origin = trial_origin::resumed;
  taken.programs = stored.programs;
  taken.level = stored.level;
  if (!(taken.level > 0) || !std::isfinite(taken.level)) return std::nullopt;
  for (const double time : stored.samples_ns) taken.samples.add(run_time(time));
  taken.score = score(taken.samples);
  if (stored.score_lower_ns && stored.score_upper_ns) {
    taken.bounds = {run_time(*stored.score_lower_ns), run_time(*stored.score_upper_ns)};
  }
  if (taken.score.has_value() != (taken.outcome == outcome::measured)) return std::nullopt;
  return taken;
}

known_failures to_known_failures(const std::vector<stored_trial>& compile_failures,
                                 const std::vector<stored_trial>& denied) {
  known_failures known;
  for (const stored_trial& failed : compile_failures) {
    if (failed.programs.empty()) {
      known.configurations.emplace(canonical_text(failed.configuration), failed.message);
    } else if (failed.programs.back() != compile_watch::unknown_program) {
      known.programs.emplace(failed.programs.back(), failed.message);
    }
  }
  for (const stored_trial& failed : denied) {
    const auto result = outcome_from_name(failed.outcome);
    if (!result || !is_incident(failed)) continue;
    known.denied.emplace(canonical_text(failed.configuration),
                         failure_reason{*result, failed.message});
  }
  return known;
}

}  // namespace tune
