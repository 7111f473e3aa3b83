// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/ahead/recheck_work.hpp"

#include <algorithm>
#include <exception>
#include <fmt/format.h>
#include <utility>

#include "libtune/store/database/identity_column.hpp"
#include "libtune/tune/engine/tuning_transaction.hpp"
#include "libtune/tune/error.hpp"

namespace tune::detail {
namespace {

/// Collects the events of the last search of a function.
class comparison_watch final : public observer {
 public:
  explicit comparison_watch(comparison& made) : made_(made) {}

  void search_started(const search_started_event& event) override {
    made_.started = event;
    made_.trials.clear();
    made_.finished.reset();
  }
  void trial_finished(const tuning_subject&, const trial& item) override { put(item); }
  void trial_refined(const tuning_subject&, const trial& item) override { put(item); }
  void search_finished(const search_finished_event& event) override { made_.finished = event; }

 private:
  void put(const trial& item) {
    const auto known = std::ranges::find(made_.trials, item.index, &trial::index);
    if (known == made_.trials.end()) {
      made_.trials.push_back(item);
    } else {
      *known = item;
    }
  }

  comparison& made_;
};

/// The options of a comparison, which the author and the environment must not change: every result
/// is checked, the list is tried in full, and the device time is limited.
tuning_options comparison_options(tuning_options search, std::size_t configurations,
                                  std::chrono::nanoseconds time) {
  constexpr std::size_t no_limit = 1'000'000;
  search.given_by = option_source::command;
  search.budget = tuning_budget{.trials = no_limit};
  search.search = {};
  search.strategy.clear();
  search.verify = result_check::every;
  search.goal = tuning_goal{};  // that of the function's name replaces it
  const auto count = static_cast<std::int64_t>(std::max<std::size_t>(1, configurations));
  search.race.screening_time = std::min(search.race.screening_time, time / (8 * count));
  search.race.final_time = std::min(search.race.final_time, time / 4);
  search.race.drift.patience = std::min(search.race.drift.patience, time / 8);
  return search;
}

// Calls of other autotuners use the nearest result and store nothing.
tuning_options nested_options(tuning_options search) {
  search.mode = tuning_mode::cached;
  search.match = match_mode::nearest;
  search.push_results = false;
  return search;
}

bool has_same_fields(const function_identity& a, const function_identity& b) {
  return a.key_fields == b.key_fields && a.value_fields == b.value_fields;
}

}  // namespace

const remote_function* recheck_task::find(const function_identity& stored) const {
  const std::string name = own_name(stored.name);
  const remote_function* found = nullptr;
  for (const remote_function& each : functions_) {
    if (own_name(each.identity.name) != name) continue;
    if (found == nullptr || each.identity.version == stored.version) found = &each;
  }
  return found;
}

std::string recheck_task::why_skipped(const stored_winner& winner) const {
  const remote_function* const own = find(winner.function);
  if (own == nullptr) return "the application does not have the function";
  if (own->identity.version != winner.function.version) {
    return fmt::format("stored by version {}; the application has version {}",
                       winner.function.version, own->identity.version);
  }
  if (!has_same_fields(own->identity, winner.function)) {
    return "the function of the application has other fields";
  }
  return {};
}

recheck_result recheck_task::run(const stored_winner& winner, const device& device,
                                 kept_child& child, std::size_t children) {
  winner_ = &winner;
  device_ = &device;
  child_ = &child;
  children_ = children;
  recheck_result result{.winner = winner};
  result.reason = why_skipped(winner);
  if (!result.reason.empty()) {
    result.verdict = recheck_verdict::skipped;
    return result;
  }
  const std::vector<std::vector<named_value>> no_rivals;
  const auto listed =
      list_rivals(winner, options_.rivals ? options_.rivals(winner) : no_rivals,
                  database_.trials(winner.function, {winner.key, winner.stored_for}),
                  find(winner.function)->test_default, options_.runners_up, options_.time);
  const comparison made = compare(listed);
  judge(result, made, options_.within);
  note_rivals(result, made);
  if (needs_second_look(result)) {
    const auto best = result.best;
    judge(result, compare({winner.values, best}), options_.within);
  }
  if (options_.repair) repair(result, made);
  return result;
}

comparison recheck_task::compare(const std::vector<std::vector<named_value>>& listed) const {
  comparison made;
  const auto stop = [this] { return options_.stop && options_.stop(); };
  remote_task task{.function = winner_->function,
                   .key = winner_->key,
                   .device = *device_,
                   .options = comparison_options(search_, listed.size(), options_.time),
                   .context_options = nested_options(search_),
                   .read_prior =
                       [&made](const search_identity& identity) {
                         made.identity = identity;
                         return prior_knowledge{};
                       },
                   .choice = {.configurations = listed},
                   .children = children_,
                   .stop = stop,
                   .kept = child_,
                   .peaks = options_.repair ? database_.path() : std::string()};
  task.options.observers = {std::make_shared<comparison_watch>(made)};
  try {
    static_cast<void>(tune_(task));
  } catch (const tuning_stopped_error& stopped) {
    made.is_stopped = true;
    made.failure = stopped.what();
  } catch (const std::exception& failure) {
    made.failure = failure.what();
  }
  return made;
}

// The trials are stored too, as those of a short search that found the result.
void recheck_task::repair(recheck_result& result, const comparison& made) const {
  const bool is_moved =
      result.verdict == recheck_verdict::holds && result.winner.stored_for != result.winner.device;
  const bool is_worse =
      result.verdict == recheck_verdict::wrong || result.verdict == recheck_verdict::lost;
  if (!is_moved && !is_worse) return;
  if (result.best.empty() || !made.started || !made.finished) {
    result.store_failure = "no other configuration of the comparison works";
    return;
  }
  const auto& values = is_moved ? result.winner.values : result.best;
  const auto& score = is_moved ? result.score : result.best_score;
  const record_key key{result.winner.key, result.winner.device};
  try {
    const auto present = database_.find_patiently(result.winner.function,
                                                  {result.winner.key, result.winner.stored_for});
    if (!present || present->values != result.winner.values) {
      throw error("the result has been replaced meanwhile");
    }
    const std::shared_ptr<tuning_database> shared(&database_, [](tuning_database*) {});
    trial_recorder recorder(shared, result.winner.function, key, search_start::anew);
    static_cast<void>(recorder.read_prior(made.identity));
    recorder.search_started(*made.started);
    for (const trial& item : made.trials) recorder.trial_finished(result.subject, item);
    recorder.search_finished(*made.finished);
    database_.store(result.winner.function, key, values,
                    score ? std::optional(score->count()) : std::nullopt);
    recorder.result_stored();
    result.is_stored = true;
  } catch (const std::exception& failure) {
    result.store_failure = failure.what();
  }
}

}  // namespace tune::detail
