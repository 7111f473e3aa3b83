// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tune/engine/denylist.hpp"

#include <array>
#include <fmt/format.h>
#include <map>
#include <utility>

#include "libtune/tune/databases.hpp"
#include "libtune/tune/engine/prior_trials.hpp"

namespace tune {
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

std::vector<stored_trial> denied_by(const std::vector<stored_trial>& incidents,
                                    std::size_t enough) {
  std::vector<std::pair<const stored_trial*, std::size_t>> counted;  // the latest, how many
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

incident_recorder::incident_recorder(std::shared_ptr<tuning_database> database,
                                     function_identity function, record_key key)
    : database_(std::move(database)), function_(std::move(function)), key_(std::move(key)) {}

prior_knowledge incident_recorder::read_prior(const search_identity& search) {
  identity_ = search;
  prior_knowledge known;
  if (!database_) return known;
  warn_on_database_error([&] {
    const prior_query query{.search = search, .incident_outcomes = incident_outcomes()};
    known.denied = denied_by(database_->prior(function_, key_, query).incidents, incidents_to_deny);
  });
  return known;
}

void incident_recorder::trial_finished(const tuning_subject&, const trial& finished) {
  if (!database_) return;
  const std::array made{to_stored(finished)};
  if (!is_incident(made.front())) return;
  warn_on_database_error([&] { database_->add_trials(search_to_add_to(), made); });
}

// A search of its own would come after one that was interrupted, and hide it from the next.
search_id incident_recorder::search_to_add_to() {
  const auto unfinished = database_->unfinished_search(function_, key_, identity_.stage);
  if (unfinished && unfinished->identity == identity_) return unfinished->id;
  return database_->begin_search(function_, key_, identity_);
}

}  // namespace tune
