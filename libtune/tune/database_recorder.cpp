// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tune/database_recorder.hpp"

#include <utility>

#include "libtune/tune/tolerant.hpp"

namespace tune {
namespace {

stored_trial to_stored(const trial& finished) {
  stored_trial stored{.configuration = finished.configuration,
                      .outcome = std::string(outcome_name(finished.outcome)),
                      .message = finished.reason,
                      .samples_ns = {},
                      .score_ns = std::nullopt,
                      .preparation = finished.preparation};
  if (!finished.score) return stored;
  stored.score_ns = finished.score->count();
  for (const run_time time : finished.samples.times()) stored.samples_ns.push_back(time.count());
  return stored;
}

}  // namespace

database_recorder::database_recorder(std::shared_ptr<tuning_database> database,
                                     function_identity function, record_key key)
    : database_(std::move(database)), function_(std::move(function)), key_(std::move(key)) {}

void database_recorder::search_started(const search_started_event&) {
  search_.reset();
  warn_on_database_error([&] { search_ = database_->begin_search(function_, key_); });
}

void database_recorder::trial_finished(const tuning_subject&, const trial& finished) {
  if (!search_) return;
  const bool kept =
      warn_on_database_error([&] { database_->add_trial(*search_, to_stored(finished)); });
  if (!kept) search_.reset();
}

void database_recorder::search_finished(const search_finished_event& event) {
  if (!search_) return;
  warn_on_database_error(
      [&] { database_->finish_search(*search_, event.best ? "found" : "all failed"); });
  search_.reset();
}

}  // namespace tune
