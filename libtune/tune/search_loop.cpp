// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tune/search_loop.hpp"

#include <exception>
#include <optional>
#include <string>
#include <utility>

#include "libtune/base/log.hpp"
#include "libtune/search/strategies.hpp"
#include "libtune/tune/error.hpp"

namespace tune {
namespace {

bool is_better(const trial& candidate, const trial& best) {
  if (*candidate.score != *best.score) return *candidate.score < *best.score;
  return candidate.index < best.index;
}

std::optional<std::size_t> find_best(const std::vector<trial>& trials) {
  std::optional<std::size_t> best;
  for (std::size_t i = 0; i < trials.size(); ++i) {
    if (trials[i].score && (!best || is_better(trials[i], trials[*best]))) best = i;
  }
  return best;
}

std::optional<double> told_score(const trial& result) {
  if (!result.score) return std::nullopt;
  return result.score->count();
}

}  // namespace

void notify(std::span<const std::shared_ptr<observer>> observers,
            const std::function<void(observer&)>& call) noexcept {
  for (const auto& listener : observers) {
    try {
      call(*listener);
    } catch (const std::exception& failure) {
      log(log_level::error, std::string("an observer failed: ") + failure.what());
    } catch (...) {
      log(log_level::error, "an observer failed");
    }
  }
}

trial run_search(const search_problem& problem, const tuning_subject& subject, const device& device,
                 const tuning_options& options,
                 std::span<const std::shared_ptr<observer>> observers, const wall_clock& now) {
  const auto start = now();
  const auto strategy = make_strategy(options.strategy, problem.space, options.search);
  const search_started_event started{.subject = subject,
                                     .strategy = options.strategy,
                                     .combinations = problem.space.cartesian_size(),
                                     .configurations = problem.space.size(),
                                     .planned = strategy->remaining(),
                                     .removals = problem.space.removals()};
  if (started.planned == 0) throw empty_space_error(started);
  notify(observers, [&](observer& listener) { listener.search_started(started); });

  std::vector<trial> trials;
  while (const auto index = strategy->ask()) {
    trials.push_back(run_trial(problem, *index, device, options.measure, now,
                               options.wait.value_or(default_wait)));
    strategy->tell(*index, told_score(trials.back()));
    notify(observers, [&](observer& listener) { listener.trial_finished(subject, trials.back()); });
  }

  const std::optional<std::size_t> best = find_best(trials);
  const search_finished_event finished{
      .subject = subject, .trials = std::move(trials), .best = best, .elapsed = now() - start};
  notify(observers, [&](observer& listener) { listener.search_finished(finished); });
  if (!best) throw tuning_failed_error(subject, finished.trials);
  return finished.trials[*best];
}

}  // namespace tune
