// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tune/search_loop.hpp"

#include <algorithm>
#include <exception>
#include <optional>
#include <string>
#include <unordered_set>
#include <utility>

#include "libtune/base/log.hpp"
#include "libtune/search/shortlist.hpp"
#include "libtune/search/strategies.hpp"
#include "libtune/tune/error.hpp"
#include "libtune/tune/taken_trials.hpp"
#include "libtune/tune/trial_conversion.hpp"

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

std::unique_ptr<strategy> make_search_strategy(const search_problem& problem,
                                               const tuning_options& options,
                                               const std::vector<std::size_t>& shortlist) {
  if (shortlist.empty()) return make_strategy(options.strategy, problem.space, options.search);
  return std::make_unique<shortlist_strategy>(problem.space, shortlist);
}

/// What a search works with.
struct search_setting {
  const search_problem& problem;
  const tuning_subject& subject;
  const tune::device& device;
  const tuning_options& options;
  std::span<const std::shared_ptr<observer>> observers;
  const wall_clock& now;
};

/// The trials of a search, one for each configuration.
class search_run {
 public:
  explicit search_run(const search_setting& setting) : setting_(setting) {}

  const std::vector<trial>& trials() const noexcept { return trials_; }

  void take_over(std::vector<trial> earlier, strategy& strategy) {
    trials_ = std::move(earlier);
    for (const trial& taken : trials_) {
      tried_.insert(taken.index);
      strategy.tell(taken.index, told_score(taken));
      notify(setting_.observers,
             [&](observer& listener) { listener.trial_taken_over(setting_.subject, taken); });
    }
  }

  /// Until there are so many trials, or no more proposals.
  void try_proposals(strategy& strategy, std::size_t most, const known_failures& known) {
    while (trials_.size() < most) {
      const std::optional<std::size_t> index = strategy.ask();
      if (!index) return;
      if (!tried_.insert(*index).second) continue;
      trials_.push_back(try_one(*index, known));
      strategy.tell(*index, told_score(trials_.back()));
    }
  }

  /// Tries what was not tried because it was known not to compile.
  void retry_remembered() {
    for (trial& known : trials_) {
      if (known.origin == trial_origin::remembered) known = try_one(known.index, {});
    }
  }

 private:
  trial try_one(std::size_t index, const known_failures& known) const {
    const search_setting& with = setting_;
    trial made = run_trial(with.problem, index, with.device, with.options.measure, with.now, known,
                           with.options.wait.value_or(default_wait));
    notify(with.observers,
           [&](observer& listener) { listener.trial_finished(with.subject, made); });
    return made;
  }

  search_setting setting_;
  std::vector<trial> trials_;
  std::unordered_set<std::size_t> tried_;
};

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
                 std::span<const std::shared_ptr<observer>> observers, const wall_clock& now,
                 const std::function<recollection()>& recall,
                 const std::vector<std::size_t>& shortlist) {
  const auto start = now();
  const auto strategy = make_search_strategy(problem, options, shortlist);
  search_started_event started{.subject = subject,
                               .strategy = shortlist.empty() ? options.strategy : "shortlist",
                               .combinations = problem.space.cartesian_size(),
                               .configurations = problem.space.size(),
                               .planned = strategy->remaining(),
                               .removals = problem.space.removals()};
  if (started.planned == 0) throw empty_space_error(started);
  const recollection known = recall ? recall() : recollection{};
  std::vector<trial> earlier = trials_to_take_over(known.unfinished, problem, subject);
  started.taken_over = earlier.size();
  started.planned = std::max(started.planned, earlier.size());
  notify(observers, [&](observer& listener) { listener.search_started(started); });

  search_run run({problem, subject, device, options, observers, now});
  run.take_over(std::move(earlier), *strategy);
  run.try_proposals(*strategy, started.planned, to_known_failures(known.compile_failures));
  if (!find_best(run.trials())) run.retry_remembered();

  const std::optional<std::size_t> best = find_best(run.trials());
  const search_finished_event finished{
      .subject = subject, .trials = run.trials(), .best = best, .elapsed = now() - start};
  notify(observers, [&](observer& listener) { listener.search_finished(finished); });
  if (!best) throw tuning_failed_error(subject, finished.trials);
  return finished.trials[*best];
}

}  // namespace tune
