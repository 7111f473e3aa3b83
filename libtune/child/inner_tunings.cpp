// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/child/inner_tunings.hpp"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "libtune/process/wire.hpp"
#include "libtune/store/database/tuning_database.hpp"
#include "libtune/tune/engine/prior_trials.hpp"
#include "libtune/tune/engine/tuning_transaction.hpp"

namespace tune::detail {

void inner_tunings::begin(nested_tuning what) {
  constexpr std::size_t deepest = 64;
  if (all_.size() >= deepest) throw wire_error("tunings are nested without end");
  all_.push_back({std::move(what), std::nullopt});
}

void inner_tunings::begin_search(const search_identity& search) {
  if (all_.empty()) throw wire_error("a search of a tuning without a start");
  all_.back().search = search;
}

void inner_tunings::end() {
  if (all_.empty()) throw wire_error("the end of a tuning without a start");
  all_.pop_back();
}

tuning_subject inner_tunings::subject(std::size_t depth, const device_info& device) const {
  const nested_tuning& what = all_[depth - 1].what;
  return {.function = what.function.name,
          .version = what.function.version,
          .arguments = what.key,
          .device = device};
}

bool inner_tunings::is_new(std::size_t depth, const trial& ended) const {
  const auto& search = all_[depth - 1].search;
  return search && std::ranges::none_of(lost_, [&](const lost_inside& before) {
           return search == before.search && before.trial.configuration == ended.configuration;
         });
}

void inner_tunings::lose(std::size_t depth, const tuning_subject& subject, const trial& ended) {
  const inner_tuning& inner = all_[depth - 1];
  if (!inner.search) return;
  const record_key key{inner.what.key, inner.what.device};
  lost_.push_back({tuning_name(inner.what.database, search_name(inner.what.function, key)),
                   *inner.search, to_stored(ended)});
  // Only incidents count for the denylist, and this configuration ended a process.
  stored_trial& told = lost_.back().trial;
  if (!is_incident(told)) told.outcome = std::string(outcome_name(outcome::crashed));
  if (inner.what.database.empty()) return;
  incident_recorder kept(std::make_shared<tuning_database>(inner.what.database),
                         inner.what.function, key);
  kept.read_prior(*inner.search);
  kept.trial_finished(subject, ended);
}

}  // namespace tune::detail
