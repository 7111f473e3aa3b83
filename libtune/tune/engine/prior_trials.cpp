// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tune/engine/prior_trials.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <fmt/format.h>
#include <iterator>
#include <limits>
#include <map>
#include <numbers>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include "libtune/base/log.hpp"
#include "libtune/kernel/compile_scope.hpp"
#include "libtune/measure/race/race_book.hpp"
#include "libtune/measure/timing/samples.hpp"
#include "libtune/store/database/tuning_layers.hpp"
#include "libtune/tune/databases.hpp"
#include "libtune/tune/engine/trial_list.hpp"
#include "libtune/tune/error.hpp"

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
                      .level = finished.level,
                      .metrics = finished.metrics};
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
  // Fields outside of the space are compared too.
  if (canonical_text(taken.configuration) != canonical_text(stored.configuration)) {
    return std::nullopt;
  }
  taken.outcome = *result;
  taken.reason = stored.message;
  taken.preparation = stored.preparation;
  taken.origin = trial_origin::resumed;
  taken.programs = stored.programs;
  taken.level = stored.level;
  taken.metrics = stored.metrics;
  if (!(taken.level > 0) || !std::isfinite(taken.level)) return std::nullopt;
  for (const double time : stored.samples_ns) taken.samples.add(run_time(time));
  taken.score = score(taken.samples);
  if (stored.score_lower_ns && stored.score_upper_ns) {
    taken.bounds = {run_time(*stored.score_lower_ns), run_time(*stored.score_upper_ns)};
  }
  if (taken.score.has_value() != (taken.outcome == outcome::measured)) return std::nullopt;
  return taken;
}

namespace {

constexpr run_time endless(std::numeric_limits<double>::infinity());
constexpr double confidence_then = 0.99;
// The margin of an estimate: a multiple of the spread of the ratios, with a minimum for few ratios
// or ratios that are equal by chance.
constexpr double deviate = 2;
constexpr double least_margin = 0.01;
constexpr double least_margin_of_few = 0.05;
constexpr std::size_t enough_to_spread = 3;
constexpr double deviation_to_spread = 1.4826;

// Returns the spread of the ratio of two medians, each of the number of runs of a screening.
double spread_of_quotient(double spread) {
  constexpr std::size_t usual_runs = 8;
  return spread * std::numbers::sqrt2 * median_error(usual_runs);
}

double median_of(std::vector<double> numbers) {
  const auto middle = numbers.begin() + static_cast<std::ptrdiff_t>(numbers.size() / 2);
  std::ranges::nth_element(numbers, middle);
  return *middle;
}

bool has_known_program(const trial& item) {
  return !item.programs.empty() && item.programs.front() != compile_scope::unknown_program;
}

/// Returns the trial whose program is compared; null if no trial has a known program.
const trial* choose_probe(const std::vector<trial>& trials) {
  const trial* chosen = nullptr;
  for (const trial& item : trials) {
    if (!has_known_program(item)) continue;
    const bool better = chosen == nullptr || (item.score && !chosen->score) ||
                        (item.score && chosen->score && *item.score < *chosen->score);
    if (better) chosen = &item;
  }
  return chosen;
}

bool has_same_program(const trial& probe, const search_problem& problem) {
  const compile_scope scope({.refuses_all = true, .learns_files = true});
  try {
    static_cast<void>(problem.generate(probe.index));
  } catch (...) {
    // Either the refusal itself, or another exception that the author's function throws instead.
  }
  return !scope.programs().empty() && scope.programs().front() == probe.programs.front();
}

}  // namespace

std::vector<trial> trials_to_resume(const std::vector<stored_trial>& stored,
                                    const search_problem& problem, const tuning_subject& subject) {
  std::vector<trial> trials;
  std::unordered_map<std::size_t, std::size_t> places;  // in trials, by configuration
  for (const stored_trial& item : stored) {
    std::optional<trial> taken = from_stored(item, problem);
    if (!taken) continue;
    const auto [place, is_new] = places.emplace(taken->index, trials.size());
    if (is_new) {
      trials.push_back(*std::move(taken));
    } else {
      trials[place->second] = *std::move(taken);
    }
  }
  const trial* probe = choose_probe(trials);
  if (probe == nullptr || has_same_program(*probe, problem)) return trials;
  warn_once(fmt::format(
      "the kernel of {} has changed since a search for it was interrupted: its {} trials are "
      "repeated; raise the version of the autotune function when results of the old kernel mislead",
      describe(subject), trials.size()));
  return {};
}

void earlier_times::add(std::size_t configuration, run_time then, run_time least) {
  const entry added{.configuration = configuration, .then = then, .least = std::min(then, least)};
  const auto place = std::ranges::upper_bound(
      entries_, std::pair(then, configuration), {},
      [](const entry& item) { return std::pair(item.then, item.configuration); });
  entries_.insert(place, added);
}

std::vector<std::size_t> earlier_times::next_references() {
  const std::size_t wanted = std::min(references, (entries_.size() + 3) / 4);
  return name(wanted - std::min(wanted, known_), endless);
}

std::vector<std::size_t> earlier_times::next_rivals(std::optional<run_time> leading,
                                                    std::size_t count) {
  if (!leading || known_ == 0) return name(count, endless);
  const double spread = std::max(spread_, least_spread_);
  const double least = known_ < enough_to_spread ? least_margin_of_few : least_margin;
  const double margin = std::max(least, deviate * spread);
  return name(count, *leading * (1 + margin));
}

std::vector<std::size_t> earlier_times::name(std::size_t count, run_time bound) {
  count = std::min(count, most - std::min(most, named_.size()));
  std::vector<std::size_t> chosen;
  for (entry& item : entries_) {
    if (chosen.size() == count) break;
    if (item.named || item.least * factor_ > bound) continue;
    item.named = true;
    chosen.push_back(item.configuration);
  }
  named_.insert(named_.end(), chosen.begin(), chosen.end());
  return chosen;
}

void earlier_times::note(std::size_t configuration, run_time now) {
  const auto noted = std::ranges::find(entries_, configuration, &entry::configuration);
  if (noted == entries_.end() || !noted->named) return;
  if (!noted->now) ++known_;
  noted->now = now;
  learn();
}

void earlier_times::learn() {
  std::vector<double> quotients;
  for (const entry& item : entries_) {
    if (item.now) quotients.push_back(*item.now / item.then);
  }
  factor_ = median_of(quotients);
  for (double& quotient : quotients) quotient = std::abs(quotient / factor_ - 1);
  spread_ = deviation_to_spread * median_of(quotients);
}

std::optional<run_time> earlier_times::estimate(std::size_t configuration) const {
  const auto found = std::ranges::find(entries_, configuration, &entry::configuration);
  return found == entries_.end() ? std::nullopt : std::optional(found->then * factor_);
}

earlier_times earlier_times::unnamed() const {
  earlier_times left;
  left.expect_spread(least_spread_);
  for (const entry& item : entries_) {
    if (!item.named) left.add(item.configuration, item.then * factor_, item.least * factor_);
  }
  return left;
}

// Dropped trials have few runs, so their times are less certain.
earlier_times times_of(const std::vector<trial>& taken,
                       const std::function<run_time(const trial&, run_time)>& cost) {
  const auto compared = [&](const trial& item, run_time time) {
    return cost ? cost(item, time) : time;
  };
  pooled_spread spread;
  for (const trial& item : taken) spread.add(item.samples);
  earlier_times times;
  times.expect_spread(spread_of_quotient(spread.value()));
  for (const trial& item : taken) {
    if (!item.score) continue;
    const interval bounds = confidence_interval(item.samples, confidence_then, spread.value());
    times.add(item.index, compared(item, score_at_begin(item)),
              compared(item, bounds.lower / item.level));
  }
  return times;
}

namespace {

bool is_incident(outcome result, const std::vector<std::string>& programs) {
  switch (result) {
    case outcome::device_fault: return true;
    case outcome::timed_out:
    case outcome::crashed:
    case outcome::out_of_memory: return programs.empty();
    default: return false;
  }
}

}  // namespace

std::span<const std::string> incident_outcomes() {
  static const auto* const words = new std::array{
      std::string(outcome_name(outcome::device_fault)),
      std::string(outcome_name(outcome::timed_out)), std::string(outcome_name(outcome::crashed)),
      std::string(outcome_name(outcome::out_of_memory))};
  return *words;
}

bool is_incident(const stored_trial& trial) {
  const auto result = outcome_from_name(trial.outcome);
  return result && !trial.remembered && is_incident(*result, trial.programs);
}

bool is_incident(const trial& trial) { return is_incident(trial.outcome, trial.programs); }

bool is_short_of_memory(const trial& item) {
  return !item.score && find_metric(item.metrics, memory_limit_metric) != nullptr;
}

std::vector<stored_trial> denied_by(const std::vector<stored_trial>& incidents,
                                    std::size_t enough) {
  // The latest trial, and the number.
  std::vector<std::pair<const stored_trial*, std::size_t>> counted;
  std::map<std::string, std::size_t, std::less<>> places;
  for (const stored_trial& incident : incidents) {
    if (!is_incident(incident)) continue;
    const auto [place, is_new] =
        places.emplace(canonical_text(incident.configuration), counted.size());
    if (is_new) counted.emplace_back(&incident, 0);
    ++counted[place->second].second;
  }
  std::vector<stored_trial> denied;
  for (const auto& [latest, count] : counted) {
    if (count < enough) continue;
    denied.push_back(*latest);
    denied.back().message +=
        fmt::format(" (it is on the denylist after {} incidents; see tunedb denylist)", count);
  }
  return denied;
}

void add_lower_incidents(std::vector<stored_trial>& incidents, const tuning_layers& layers,
                         const function_identity& function, const record_key& key,
                         const prior_query& query) {
  std::vector<stored_trial> lower = layers.lower_incidents(function, key, query);
  drop_copies(lower, incidents);
  std::ranges::move(lower, std::back_inserter(incidents));
}

incident_recorder::incident_recorder(std::shared_ptr<tuning_database> database,
                                     function_identity function, record_key key)
    : database_(std::move(database)), function_(std::move(function)), key_(std::move(key)) {}

prior_knowledge incident_recorder::read_prior(const search_identity& search,
                                              const tuning_layers* layers) {
  identity_ = search;
  const prior_query query{.search = search, .incident_outcomes = incident_outcomes()};
  std::vector<stored_trial> incidents;
  if (database_) {
    warn_on_database_error([&] { incidents = database_->prior(function_, key_, query).incidents; });
  }
  if (layers != nullptr) add_lower_incidents(incidents, *layers, function_, key_, query);
  return {.denied = denied_by(incidents, incidents_to_deny)};
}

void incident_recorder::trial_finished(const tuning_subject&, const trial& finished) {
  if (!database_) return;
  const std::array made{to_stored(finished)};
  if (!is_incident(made.front())) return;
  warn_on_database_error([&] { database_->add_trials(search_to_add_to(), made); });
}

// An additional search would be newer than an interrupted one, and hide it from the next search.
search_id incident_recorder::search_to_add_to() {
  const auto unfinished = database_->unfinished_search(function_, key_, identity_.stage);
  if (unfinished && unfinished->identity == identity_) return unfinished->id;
  return database_->begin_search(function_, key_, identity_);
}

}  // namespace tune
