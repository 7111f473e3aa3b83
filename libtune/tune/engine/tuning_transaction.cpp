// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tune/engine/tuning_transaction.hpp"

#include <algorithm>
#include <exception>
#include <fmt/format.h>
#include <utility>

#include "libtune/base/log.hpp"
#include "libtune/search/strategy/strategy.hpp"
#include "libtune/store/database/identity_column.hpp"
#include "libtune/tune/databases.hpp"
#include "libtune/tune/engine/prior_knowledge.hpp"
#include "libtune/tune/engine/prior_trials.hpp"
#include "libtune/tune/error.hpp"

namespace tune {
namespace {

/// Returns the reason why the trials of one search cannot be used by the other; null if they can.
const char* describe_change(const search_identity& before, const search_identity& now) {
  if (before.space.empty() || now.space.empty()) return "its space is not known";
  if (before.space != now.space) return "the space has changed";
  if (before.inputs != now.inputs) return "it had other inputs";
  if (before.compiler != now.compiler) return "the compiler has changed";
  if (before.library_version != now.library_version) return "another version of libtune made it";
  return nullptr;
}

stored_space kept_of(const space_outline& outline) {
  stored_space space{.combinations = outline.combinations,
                     .configurations = outline.configurations,
                     .removals = {},
                     .parameters = {}};
  for (const removal& one : outline.removals) {
    space.removals.push_back({one.description, one.combinations});
  }
  for (const parameter& one : outline.parameters) {
    space.parameters.push_back({one.name, one.candidates});
  }
  return space;
}

// A search that was limited to fewer trials than it would make has not seen all.
bool went_over_all(const search_finished_event& event) {
  if (!is_whole(event.end)) return false;
  const std::size_t usual = choose_search(event.space.configurations, search_limit::none).most;
  return event.end == search_end::no_gain || event.trials.size() >= usual;
}

search_start start_in(tuning_mode mode, search_start otherwise) {
  return mode == tuning_mode::force ? search_start::anew : otherwise;
}

}  // namespace

trial_recorder::trial_recorder(std::shared_ptr<tuning_database> database,
                               function_identity function, record_key key, search_start start)
    : database_(std::move(database)),
      function_(std::move(function)),
      key_(std::move(key)),
      start_(start) {}

// A search that an exception ended can be resumed too.
trial_recorder::~trial_recorder() {
  try {
    keep_pending();
  } catch (const std::exception& failure) {
    log(log_level::error, fmt::format("the last trials of a search for '{}' are not kept: {}",
                                      function_.name, failure.what()));
  }
}

prior_knowledge trial_recorder::read_prior(const search_identity& search,
                                           const tuning_layers* layers) {
  const bool anew = start_ == search_start::anew;
  identity_ = search;
  prior_query query{.search = search, .incident_outcomes = incident_outcomes()};
  if (!anew) {
    query.failure_outcome = outcome_name(outcome::compile_failed);
    query.unfinished = true;
  }
  prior_rows rows;
  warn_on_database_error([&] { rows = database_->prior(function_, key_, query); });
  if (layers != nullptr) add_lower_incidents(rows.incidents, *layers, function_, key_, query);
  prior_knowledge known{
      .unfinished = resume(std::move(rows.unfinished)),
      .compile_failures = std::move(rows.failures),
      .denied = denied_by(rows.incidents, anew ? incidents_to_deny_by_force : incidents_to_deny)};
  if (!anew && layers != nullptr) {
    similar_knowledge similar = find_similar(*layers, function_, key_, search.stage);
    known.similar = std::move(similar.configurations);
    known.losses = std::move(similar.losses);
    known.priors = prior_configurations(*layers, function_, key_);
  }
  return known;
}

std::vector<stored_trial> trial_recorder::resume(std::optional<stored_search> before) {
  unfinished_.reset();
  if (!before || before->trials.empty()) return {};
  if (const char* change = describe_change(before->identity, identity_)) {
    log(log_level::info,
        fmt::format("the {} trials of an unfinished search for '{}' of {} are not used: {}",
                    before->trials.size(), function_.name, before->started_at, change));
    return {};
  }
  unfinished_ = before->id;
  // A configuration deferred for an application has not been tried.
  if (start_ != search_start::behind) {
    std::erase_if(before->trials, [](const stored_trial& each) {
      return find_metric(each.metrics, deferred_behind) != nullptr;
    });
  }
  return std::move(before->trials);
}

void trial_recorder::search_started(const search_started_event& event) {
  search_.reset();
  strategy_ = event.strategy;
  covers_ = event.covers;
  if (event.taken_over > 0) {
    search_ = unfinished_;
    return;
  }
  warn_on_database_error(
      [&] { search_ = database_->begin_search(function_, key_, identity_, strategy_); });
}

void trial_recorder::trial_finished(const tuning_subject&, const trial& finished) {
  add(pending_, finished);
}

void trial_recorder::trial_refined(const tuning_subject&, const trial& refined) {
  add(refined_, refined);
}

void trial_recorder::add(std::vector<stored_trial>& pending, const trial& made) {
  // Quick comparisons store nothing else.
  if (!search_ && is_incident(made)) {
    warn_on_database_error(
        [&] { search_ = database_->begin_search(function_, key_, identity_, "compared"); });
  }
  if (!search_) return;
  pending.push_back(to_stored(made));
  pending_cost_ += made.elapsed;
  // Repeating an incident would cost more than its time.
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
  stored_course course{.strategy = strategy_, .ending = std::string(search_end_name(event.end))};
  if (!event.space.parameters.empty()) course.space = kept_of(event.space);
  course.seeds = {.is_whole = covers_ && went_over_all(event),
                  .tried = event.seeds.tried,
                  .judges = event.seeds.judges,
                  .expected_loss = event.seeds.expected_loss,
                  .loss_bound = event.seeds.loss_bound};
  if (event.best) {
    // Like a search that its budget ended it may continue: with more memory.
    const bool stopped = event.end == search_end::time || event.end == search_end::trials ||
                         std::ranges::any_of(event.trials, is_short_of_memory);
    const char* const word = start_ == search_start::behind ? behind_search
                             : stopped                      ? stopped_search
                                                            : "found";
    found_.push_back({*search_, word, std::move(course)});
  } else if (is_whole(event.end) && start_ != search_start::behind) {
    warn_on_database_error([&] { database_->finish_search(*search_, all_failed, course); });
  }
  search_.reset();
}

void trial_recorder::result_stored() {
  for (const found_search& one : found_) {
    warn_on_database_error([&] { database_->finish_search(one.search, one.word, one.course); });
  }
  found_.clear();
}

tuning_transaction::tuning_transaction(std::shared_ptr<const tuning_layers> layers,
                                       function_identity function, record_key key, tuning_mode mode,
                                       check_function check, std::chrono::milliseconds wait,
                                       search_start start)
    : layers_(std::move(layers)),
      function_(std::move(function)),
      key_(std::move(key)),
      mode_(mode),
      start_(start_in(mode, start)),
      check_(std::move(check)),
      wait_(wait),
      recorder_(std::make_shared<trial_recorder>(layers_->user(), function_, key_, start_)) {}

prior_knowledge tuning_transaction::read_prior(const search_identity& search) const {
  return recorder_->read_prior(search, layers_.get());
}

std::vector<named_value> tuning_transaction::store(const tuned_values& made) {
  std::vector<named_value> best = made.values;
  // A result that is not stored is searched for again by the next call.
  stored_ = warn_on_database_error(
      [&] { wait_while_busy(wait_, [&] { best = store_in_database(made); }); });
  if (stored_) {
    recorder_->result_stored();
  } else {
    layers_->remember(function_, key_, best);
  }
  return best;
}

std::vector<named_value> tuning_transaction::store_in_database(const tuned_values& made) const {
  std::optional<double> score_ns;
  if (made.score) score_ns = made.score->count();
  tuning_database& database = *layers_->user();
  if (mode_ != tuning_mode::force && mode_ != tuning_mode::resume) {
    record first = database.store_first(function_, key_, made.values, score_ns);
    if (!check_ || check_(first)) return std::move(first.values);
  }
  database.store(function_, key_, made.values, score_ns);
  return made.values;
}

std::string search_name(const function_identity& function, const record_key& key) {
  return fmt::format("{}\n{}\n{}", table_name(function), canonical_text(key.device),
                     canonical_text(key.arguments));
}

}  // namespace tune
