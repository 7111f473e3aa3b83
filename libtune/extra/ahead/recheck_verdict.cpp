// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/ahead/recheck_verdict.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <limits>
#include <utility>

#include "libtune/base/word_table.hpp"
#include "libtune/tune/engine/prior_trials.hpp"

namespace tune {

std::string_view recheck_verdict_name(recheck_verdict verdict) noexcept {
  constexpr detail::word_table<recheck_verdict, 5> words{
      {"wrong", "lost", "unknown", "skipped", "holds"}};
  return words.word(verdict);
}

}  // namespace tune

namespace tune::detail {
namespace {

// The runs of a comparison at least: of each configuration to warm up, to check, in the screening
// and in the final round; and of one of them, which is visited again and again.
constexpr double runs_of_each = 12;
constexpr double runs_of_sentinel = 16;

void decide(recheck_result& result, recheck_verdict verdict, std::string reason = {}) {
  result.verdict = verdict;
  result.reason = std::move(reason);
}

// Lack of memory or of a metric depends on the machine at this moment, not on the result.
bool is_at_fault(const trial& own, const tuning_goal& goal) {
  if (is_short_of_memory(own)) return false;
  if (own.outcome == outcome::unfit) return why_unfit(goal, own, true).has_value();
  return own.outcome != outcome::out_of_memory && own.outcome != outcome::measured;
}

void judge_failure(recheck_result& result, const trial& own, const tuning_goal& goal) {
  const std::string reason = own.reason.empty()
                                 ? std::string(outcome_name(own.outcome))
                                 : fmt::format("{}: {}", outcome_name(own.outcome), own.reason);
  if (!is_at_fault(own, goal)) return decide(result, recheck_verdict::unknown, reason);
  result.fault = own.outcome;
  decide(result, recheck_verdict::wrong,
         own.outcome == outcome::skipped ? "skipped: the autotune function makes no measure for it"
                                         : reason);
}

void stop(recheck_result& result) {
  result.is_stopped = true;
  decide(result, recheck_verdict::unknown, "ended before it was compared");
}

void judge_absence(recheck_result& result, const comparison& made) {
  if (made.is_stopped) return stop(result);
  const bool has_tried_all = made.finished && made.started && is_whole(made.finished->end);
  if (has_tried_all) {
    return decide(result, recheck_verdict::skipped,
                  fmt::format("its values are not in the present space of {} configurations",
                              made.started->configurations));
  }
  decide(result, recheck_verdict::unknown,
         made.failure.empty() ? "it was not measured" : made.failure);
}

double value_by(const objective& by, const trial& of) {
  if (by.metric == "time") return of.score ? of.score->count() : std::nan("");
  const metric* own = find_metric(of.metrics, by.metric);
  return own == nullptr ? std::nan("") : own->value;
}

/// The slowdown by the intervals of both times, or, for another goal, by its first metric alone.
std::optional<recheck_loss> loss_of(const trial& own, const trial& best, const tuning_goal& goal) {
  const objective by = goal.objectives.empty() ? objective{} : goal.objectives.front();
  const double ratio = cost_of(by, value_by(by, own)) / cost_of(by, value_by(by, best));
  if (!std::isfinite(ratio)) return std::nullopt;
  recheck_loss loss{.estimate = ratio - 1, .lower = ratio - 1};
  if (by.metric != "time" || by.maximise) return loss;
  loss.lower = -1;
  if (!own.bounds || !best.bounds) return loss;
  if (std::isfinite(best.bounds->upper.count())) {
    loss.lower = own.bounds->lower / best.bounds->upper - 1;
  }
  const double upper = own.bounds->upper / best.bounds->lower - 1;
  if (std::isfinite(upper)) loss.upper = upper;
  return loss;
}

std::string too_inaccurate(const recheck_loss& loss) {
  return fmt::format("too inaccurate: between {:.2g} and {} % slower than the best",
                     100 * std::max(loss.lower, -1.0),
                     loss.upper ? fmt::format("{:.2g}", 100 * *loss.upper) : std::string("any"));
}

bool has_winner(const comparison& made) { return made.finished && made.finished->best; }

}  // namespace

const trial* comparison::find(const std::vector<named_value>& configuration) const {
  const std::string wanted = canonical_text(configuration);
  const auto found = std::ranges::find_if(
      trials, [&](const trial& item) { return canonical_text(item.configuration) == wanted; });
  return found == trials.end() ? nullptr : &*found;
}

const trial* comparison::best() const {
  if (!has_winner(*this)) return nullptr;
  return find(finished->trials.at(*finished->best).configuration);
}

void judge(recheck_result& result, const comparison& made, double within) {
  result.fault.reset();
  result.loss.reset();
  result.score.reset();
  const tuning_goal goal = split_name(result.winner.function.name).second;
  const auto counted =
      std::ranges::count_if(made.trials, [](const trial& item) { return item.score.has_value(); });
  result.compared = std::max(result.compared, static_cast<std::size_t>(counted));
  if (made.finished) result.doubts = made.finished->doubts;
  const trial* const best = made.best();
  if (best != nullptr) {
    result.best = best->configuration;
    result.best_score = best->score;
  }
  const trial* const own = made.find(result.winner.values);
  if (own == nullptr) return judge_absence(result, made);
  if (!own->score) return judge_failure(result, *own, goal);
  result.score = own->score;
  if (best == nullptr) {
    if (made.is_stopped) return stop(result);
    return decide(result, recheck_verdict::unknown, made.failure);
  }
  result.loss = best == own ? recheck_loss{} : loss_of(*own, *best, goal);
  if (best == own) return decide(result, recheck_verdict::holds);
  if (!result.loss) {
    return decide(result, recheck_verdict::unknown, "its objective was not measured");
  }
  if (result.loss->estimate <= within) return decide(result, recheck_verdict::holds);
  if (result.loss->lower > 0) return decide(result, recheck_verdict::lost);
  decide(result, recheck_verdict::unknown, too_inaccurate(*result.loss));
}

bool needs_second_look(const recheck_result& result) {
  return result.verdict == recheck_verdict::lost ||
         (result.verdict == recheck_verdict::unknown && result.loss);
}

void note_rivals(recheck_result& result, const comparison& made) {
  const tuning_goal goal = split_name(result.winner.function.name).second;
  const trial* const own = made.find(result.winner.values);
  for (const trial& item : made.trials) {
    if (&item == own) continue;
    recheck_rival rival{.configuration = item.configuration,
                        .outcome = item.outcome,
                        .reason = item.reason,
                        .is_at_fault = !item.score && is_at_fault(item, goal),
                        .score = item.score};
    if (own != nullptr && own->score && item.score) rival.loss = loss_of(item, *own, goal);
    result.rivals.push_back(std::move(rival));
  }
}

std::vector<std::vector<named_value>> list_rivals(
    const stored_winner& winner, const std::vector<std::vector<named_value>>& further,
    std::vector<stored_trial> trials, const std::vector<named_value>& test_default,
    std::size_t runners_up, std::chrono::nanoseconds time) {
  std::vector<std::vector<named_value>> listed{winner.values};
  const auto add = [&](const std::vector<named_value>& configuration) {
    const std::string text = canonical_text(configuration);
    const bool is_new = std::ranges::none_of(
        listed, [&](const auto& other) { return canonical_text(other) == text; });
    if (is_new) listed.push_back(configuration);
  };
  for (const auto& configuration : further) add(configuration);
  const std::size_t least = std::max<std::size_t>(2, listed.size());
  runners_up += listed.size() - 1;
  std::erase_if(trials, [](const stored_trial& item) { return !item.score_ns; });
  std::ranges::stable_sort(trials, {},
                           [](const stored_trial& item) { return *item.score_ns / item.level; });
  for (const stored_trial& item : trials) {
    if (listed.size() > runners_up) break;
    add(item.configuration);
  }
  if (!test_default.empty()) add(test_default);
  if (winner.score_ns && *winner.score_ns > 0) {
    const double runs = static_cast<double>(time.count()) / *winner.score_ns;
    const double most =
        std::max(static_cast<double>(least), (runs - runs_of_sentinel) / runs_of_each);
    if (most < static_cast<double>(listed.size())) {
      listed.resize(static_cast<std::size_t>(most));
    }
  }
  return listed;
}

}  // namespace tune::detail
