// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tune/search_loop.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "libtune/base/log.hpp"
#include "libtune/search/shortlist.hpp"
#include "libtune/search/strategies.hpp"
#include "libtune/tune/error.hpp"
#include "libtune/tune/notify.hpp"
#include "libtune/tune/search_run.hpp"
#include "libtune/tune/similar_results.hpp"
#include "libtune/tune/taken_trials.hpp"
#include "libtune/tune/trial_conversion.hpp"

namespace tune {
namespace {

std::unique_ptr<strategy> make_search_strategy(const search_problem& problem,
                                               const tuning_options& options,
                                               const recollection& known,
                                               const std::vector<std::size_t>& shortlist) {
  if (shortlist.empty()) {
    strategy_options with = options.search;
    for (const std::size_t number : numbers_of(known.similar, problem)) {
      with.warm_start.push_back(number);
    }
    return make_strategy(options.strategy, problem.space, with);
  }
  return std::make_unique<shortlist_strategy>(problem.space, shortlist);
}

bool learns_from_answers(std::string_view strategy) {
  return strategy != "exhaustive" && strategy != "random" && strategy != "shortlist";
}

}  // namespace

trial run_search(const search_problem& problem, const tuning_subject& subject, const device& device,
                 const tuning_options& options,
                 std::span<const std::shared_ptr<observer>> observers, const wall_clock& now,
                 program_workshop& workshop, const std::function<recollection()>& recall,
                 const std::vector<std::size_t>& shortlist) {
  const auto start = now();
  const recollection known = recall ? recall() : recollection{};
  const auto strategy = make_search_strategy(problem, options, known, shortlist);
  search_started_event started{.subject = subject,
                               .strategy = shortlist.empty() ? options.strategy : "shortlist",
                               .combinations = problem.space.cartesian_size(),
                               .configurations = problem.space.size(),
                               .planned = strategy->remaining(),
                               .removals = problem.space.removals()};
  if (started.planned == 0) throw empty_space_error(started);
  std::vector<trial> earlier = trials_to_take_over(known.unfinished, problem, subject);
  started.taken_over = earlier.size();
  started.planned = std::max(started.planned, earlier.size());
  notify(observers, [&](observer& listener) { listener.search_started(started); });

  search_run run({problem, subject, device, options, observers, now, workshop,
                  learns_from_answers(started.strategy)});
  run.take_over(std::move(earlier), *strategy);
  run.run(*strategy, started.planned, to_known_failures(known.compile_failures));
  if (!run.best() && run.end() == search_end::complete) run.retry_remembered();

  const std::optional<std::size_t> best = run.best();
  const search_finished_event finished{.subject = subject,
                                       .trials = run.trials(),
                                       .best = best,
                                       .elapsed = now() - start,
                                       .end = run.end(),
                                       .doubts = run.doubts(),
                                       .times = run.times()};
  for (const std::string& doubt : finished.doubts) {
    log(log_level::warning, describe(subject) + ": " + doubt);
  }
  notify(observers, [&](observer& listener) { listener.search_finished(finished); });
  if (!best) throw tuning_failed_error(subject, finished.trials);
  return finished.trials[*best];
}

}  // namespace tune
