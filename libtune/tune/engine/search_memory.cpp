// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tune/engine/search_memory.hpp"

#include <algorithm>
#include <variant>

#include "libtune/tune/engine/prior_trials.hpp"

namespace tune::detail {

prior_knowledge search_memory::read_prior(time_point now) const {
  // A search of quick comparisons has no start event, but may have lost a process.
  if (!started_ && trials_.all().empty()) return known_;
  prior_knowledge told{.goes_on = true,
                       .compile_failures = known_.compile_failures,
                       .denied = known_.denied,
                       .similar = known_.similar,
                       .losses = known_.losses,
                       .priors = known_.priors};
  for (const trial& item : trials_.all()) {
    // An untried configuration may still be needed, if nothing else works.
    if (item.origin == trial_origin::cached) continue;
    stored_trial stored = to_stored(item);
    if (is_incident(item)) told.denied.push_back(stored);
    told.unfinished.push_back(std::move(stored));
  }
  told.spent = {.time = now - begin_, .trials = made_};
  return told;
}

std::optional<tuning_event> search_memory::join(tuning_event event, time_point now) {
  return std::visit([&](auto& item) { return join_one(std::move(item), now); }, event);
}

search_memory::news search_memory::join_one(search_started_event event, time_point) {
  if (std::exchange(started_, true)) return std::nullopt;
  taken_over_ = event.taken_over;
  return event;
}

search_memory::news search_memory::join_one(trial_event event, time_point) {
  if (finished_) return std::nullopt;
  const trial* before = trials_.find(event.trial.index);
  if (event.stage == trial_stage::taken_over) {
    if (before != nullptr) return std::nullopt;
  } else {
    const bool was_remembered = before != nullptr && before->origin == trial_origin::cached;
    if (was_remembered && event.trial.origin == trial_origin::cached) return std::nullopt;
    if (before != nullptr && !was_remembered) event.stage = trial_stage::refined;
    if (event.stage == trial_stage::finished) ++made_;
  }
  trials_.put(event.trial);
  return event;
}

search_memory::news search_memory::join_one(progress_event event, time_point now) {
  event.progress.taken_over = taken_over_;
  event.progress.elapsed = now - begin_;
  return event;
}

search_memory::news search_memory::join_one(search_finished_event event, time_point now) {
  if (std::exchange(finished_, true)) return std::nullopt;
  std::optional<std::size_t> winner;
  if (event.best && *event.best < event.trials.size()) winner = event.trials[*event.best].index;
  // The times of lost children are only known in total.
  const std::chrono::nanoseconds elapsed = now - begin_;
  event.times.idle += std::max(std::chrono::nanoseconds(0), elapsed - event.elapsed);
  event.elapsed = elapsed;
  event.trials = trials_.all();
  event.best.reset();
  for (std::size_t place = 0; place < event.trials.size(); ++place) {
    if (event.trials[place].index == winner) event.best = place;
  }
  return event;
}

prior_knowledge joined_searches::read_prior(const search_identity& search) {
  const std::size_t place = asked_++;
  if (place < searches_.size() && searches_[place]->identity() != search) searches_.resize(place);
  const auto now = std::chrono::steady_clock::now();
  if (place == searches_.size()) {
    searches_.push_back(std::make_unique<search_memory>(
        search, read_prior_ ? read_prior_(search) : prior_knowledge{}, now));
  }
  return searches_[place]->read_prior(now);
}

void joined_searches::on(const tuning_event& event) {
  // An author's function may pass its observers to nested tunings.
  const bool is_own = std::visit(
      [&](const auto& item) {
        return item.subject.function == subject_.function &&
               item.subject.version == subject_.version &&
               item.subject.arguments == subject_.arguments;
      },
      event);
  const bool is_of_search =
      !std::holds_alternative<lookup_event>(event) && !std::holds_alternative<waiting_event>(event);
  if (!is_own || !is_of_search || asked_ == 0) return notify(observers_, event);
  const auto joined = searches_[asked_ - 1]->join(event, std::chrono::steady_clock::now());
  if (!joined) return;
  const auto* made = std::get_if<trial_event>(&*joined);
  if (made != nullptr && made->stage == trial_stage::finished) ++made_;
  notify(observers_, *joined);
}

}  // namespace tune::detail
