// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tune/engine/trial_recorder.hpp"

#include <exception>
#include <fmt/format.h>
#include <utility>

#include "libtune/base/log.hpp"
#include "libtune/tune/engine/denylist.hpp"
#include "libtune/tune/engine/tolerant.hpp"
#include "libtune/tune/engine/trial_conversion.hpp"

namespace tune {
namespace {

/// Why the trials of one search do not serve the other; null if they do.
const char* describe_change(const search_identity& before, const search_identity& now) {
  if (before.space.empty() || now.space.empty()) return "its space is not known";
  if (before.space != now.space) return "the space has changed";
  if (before.compiler != now.compiler) return "the compiler is another";
  if (before.library_version != now.library_version) return "it was made by another libtune";
  return nullptr;
}

}  // namespace

trial_recorder::trial_recorder(std::shared_ptr<tuning_database> database,
                               function_identity function, record_key key, search_start start)
    : database_(std::move(database)),
      function_(std::move(function)),
      key_(std::move(key)),
      start_(start) {}

// A search that was left by an exception can be continued too.
trial_recorder::~trial_recorder() {
  try {
    keep_pending();
  } catch (const std::exception& failure) {
    log(log_level::error, fmt::format("the last trials of a search for '{}' are not kept: {}",
                                      function_.name, failure.what()));
  }
}

prior_knowledge trial_recorder::read_prior(const search_identity& search) {
  identity_ = search;
  unfinished_.reset();
  prior_knowledge known;
  warn_on_database_error([&] {
    known.denied =
        denied_by(database_->incidents(function_, key_, identity_, incident_outcomes()),
                  start_ == search_start::anew ? incidents_to_deny_by_force : incidents_to_deny);
  });
  if (start_ == search_start::anew) return known;
  warn_on_database_error([&] {
    known.unfinished = read_unfinished();
    known.compile_failures = database_->failed_trials(
        function_, key_, identity_, std::string(outcome_name(outcome::compile_failed)));
  });
  return known;
}

std::vector<stored_trial> trial_recorder::read_unfinished() {
  std::optional<stored_search> before =
      database_->unfinished_search(function_, key_, identity_.stage);
  if (!before || before->trials.empty()) return {};
  if (const char* change = describe_change(before->identity, identity_)) {
    log(log_level::info,
        fmt::format("the {} trials of an unfinished search for '{}' of {} are not used: {}",
                    before->trials.size(), function_.name, before->started_at, change));
    return {};
  }
  unfinished_ = before->id;
  return std::move(before->trials);
}

void trial_recorder::search_started(const search_started_event& event) {
  search_.reset();
  if (event.taken_over > 0) {
    search_ = unfinished_;
    return;
  }
  warn_on_database_error([&] { search_ = database_->begin_search(function_, key_, identity_); });
}

void trial_recorder::trial_finished(const tuning_subject&, const trial& finished) {
  add(pending_, finished);
}

void trial_recorder::trial_refined(const tuning_subject&, const trial& refined) {
  add(refined_, refined);
}

void trial_recorder::add(std::vector<stored_trial>& pending, const trial& made) {
  if (!search_) return;
  pending.push_back(to_stored(made));
  pending_cost_ += made.elapsed;
  // To make an incident anew would cost more than its time.
  if (pending_cost_ >= at_risk || is_incident(made)) keep_pending();
}

void trial_recorder::keep_pending() {
  if (search_ && !(pending_.empty() && refined_.empty())) {
    const bool kept =
        warn_on_database_error([&] { database_->add_trials(*search_, pending_, refined_); });
    if (!kept) search_.reset();
  }
  pending_.clear();
  refined_.clear();
  pending_cost_ = {};
}

void trial_recorder::search_finished(const search_finished_event& event) {
  keep_pending();
  if (!search_) return;
  if (event.best) {
    const bool stopped = event.end == search_end::time || event.end == search_end::trials;
    found_.emplace_back(*search_, stopped ? stopped_search : "found");
  } else if (event.end == search_end::complete) {
    warn_on_database_error([&] { database_->finish_search(*search_, all_failed); });
  }
  search_.reset();
}

void trial_recorder::result_stored() {
  for (const auto& [search, result] : found_) {
    warn_on_database_error([&, id = search, word = result] { database_->finish_search(id, word); });
  }
  found_.clear();
}

}  // namespace tune
