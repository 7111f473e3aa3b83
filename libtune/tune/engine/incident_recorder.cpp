// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tune/engine/incident_recorder.hpp"

#include <array>
#include <utility>

#include "libtune/tune/engine/denylist.hpp"
#include "libtune/tune/engine/tolerant.hpp"
#include "libtune/tune/engine/trial_conversion.hpp"

namespace tune {

incident_recorder::incident_recorder(std::shared_ptr<tuning_database> database,
                                     function_identity function, record_key key)
    : database_(std::move(database)), function_(std::move(function)), key_(std::move(key)) {}

prior_knowledge incident_recorder::read_prior(const search_identity& search) {
  identity_ = search;
  prior_knowledge known;
  if (!database_) return known;
  warn_on_database_error([&] {
    known.denied = denied_by(database_->incidents(function_, key_, identity_, incident_outcomes()),
                             incidents_to_deny);
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
