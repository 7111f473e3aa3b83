// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tune/poison_log.hpp"

#include <array>
#include <utility>

#include "libtune/tune/poison.hpp"
#include "libtune/tune/tolerant.hpp"
#include "libtune/tune/trial_conversion.hpp"

namespace tune {

poison_log::poison_log(std::shared_ptr<tuning_database> database, function_identity function,
                       record_key key)
    : database_(std::move(database)), function_(std::move(function)), key_(std::move(key)) {}

recollection poison_log::recall(const search_identity& search) {
  identity_ = search;
  recollection known;
  if (!database_) return known;
  warn_on_database_error([&] {
    known.poison = database_->poisonous_trials(function_, key_, identity_, poisonous_outcomes());
  });
  return known;
}

void poison_log::trial_finished(const tuning_subject&, const trial& finished) {
  if (!database_) return;
  const std::array made{to_stored(finished)};
  if (!is_poison(made.front())) return;
  warn_on_database_error([&] { database_->add_trials(search_to_add_to(), made); });
}

// A search of its own would come after one that was interrupted, and hide it from the next.
search_id poison_log::search_to_add_to() {
  const auto unfinished = database_->unfinished_search(function_, key_, identity_.stage);
  if (unfinished && unfinished->identity == identity_) return unfinished->id;
  return database_->begin_search(function_, key_, identity_);
}

}  // namespace tune
