// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tune/remote/search_memory.hpp"

#include <algorithm>
#include <utility>

#include "libtune/tune/engine/denylist.hpp"
#include "libtune/tune/engine/prior_trials.hpp"

namespace tune::detail {

prior_knowledge search_memory::read_prior(time_point now) const {
  if (!started_) return known_;
  prior_knowledge told{.goes_on = true,
                       .compile_failures = known_.compile_failures,
                       .denied = known_.denied,
                       .similar = known_.similar};
  for (const trial& item : trials_.all()) {
    // What was not tried may still have to be, if nothing else works.
    if (item.origin == trial_origin::cached) continue;
    stored_trial stored = to_stored(item);
    if (is_incident(item)) told.denied.push_back(stored);
    told.unfinished.push_back(std::move(stored));
  }
  told.spent = {.time = now - begin_, .trials = made_};
  return told;
}

bool search_memory::start(std::size_t taken_over) {
  if (std::exchange(started_, true)) return false;
  taken_over_ = taken_over;
  return true;
}

search_memory::story search_memory::take_over(trial taken) {
  if (finished_ || trials_.find(taken.index) != nullptr) return story::nothing;
  latest_ = &trials_.put(std::move(taken));
  return story::taken_over;
}

search_memory::story search_memory::add(trial made, bool refined) {
  if (finished_) return story::nothing;
  const trial* before = trials_.find(made.index);
  const bool was_remembered = before != nullptr && before->origin == trial_origin::cached;
  if (was_remembered && made.origin == trial_origin::cached) return story::nothing;
  const bool is_new = before == nullptr || was_remembered;
  latest_ = &trials_.put(std::move(made));
  if (is_new && !refined) ++made_;
  return is_new && !refined ? story::finished : story::refined;
}

search_progress search_memory::progress(search_progress now_in_child, time_point now) const {
  now_in_child.taken_over = taken_over_;
  now_in_child.elapsed = now - begin_;
  return now_in_child;
}

std::optional<search_finished_event> search_memory::finish(const finished_news& news,
                                                           time_point now) {
  if (std::exchange(finished_, true)) return std::nullopt;
  search_finished_event event{.subject = {},
                              .trials = trials_.all(),
                              .best = std::nullopt,
                              .elapsed = now - begin_,
                              .end = news.end,
                              .doubts = news.doubts,
                              .times = news.times};
  // What lost children did is not known in detail.
  event.times.idle += std::max(std::chrono::nanoseconds(0), event.elapsed - news.elapsed);
  for (std::size_t place = 0; place < event.trials.size(); ++place) {
    if (news.best && event.trials[place].index == *news.best) event.best = place;
  }
  return event;
}

}  // namespace tune::detail
