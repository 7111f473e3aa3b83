// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/live/live_core.hpp"

#include <algorithm>
#include <chrono>
#include <fmt/format.h>
#include <pthread.h>
#include <utility>

#include "libtune/base/error.hpp"
#include "libtune/base/forked_process.hpp"
#include "libtune/base/log.hpp"
#include "libtune/base/seal.hpp"
#include "libtune/device/device.hpp"
#include "libtune/device/queue_interface.hpp"
#include "libtune/extra/live/live_correction.hpp"
#include "libtune/tune/error.hpp"

namespace tune::detail {
namespace {

// A candidate waits for epochs, which are frequent.
constexpr std::chrono::milliseconds busy_look{2};
// For drifts and requests, because a pipeline cannot signal them without a system call.
constexpr std::chrono::milliseconds idle_look{50};
// The number of requests for the bindings of a graph before it is given up.
constexpr int most_rounds = 64;

}  // namespace

// ---- the pipeline's thread

live_core::live_core(live_options options, bool has_thread) : options_(std::move(options)) {
  refuse_if_forked([] { return "make a live pipeline"; });
  if (options_.block_epochs < 2) {
    throw argument_error(
        "a block of a live pipeline needs at least 2 epochs, because the first has no times; set "
        "live_options::block_epochs");
  }
  until_watch_ = options_.watch_every;
  if (!has_thread) return;
  threads_.start(*this,
                 [this] { thread_ = std::make_unique<std::thread>([this] { serve_steps(); }); });
}

live_core::~live_core() {
  if (is_forked()) {
    static_cast<void>(members_.release());
    static_cast<void>(thread_.release());
    return;
  }
  threads_.leave(*this);
  end_threads();
  for (const live_swap& each : candidate_.swaps) wait_for(each.end);
  members_->end();
}

void live_core::end_threads() noexcept {
  members_->stop();
  if (!thread_ || !thread_->joinable()) return;
  if (thread_->get_id() == std::this_thread::get_id()) {
    thread_->detach();  // a function called by this thread ends the process
  } else {
    thread_->join();
  }
}

void live_core::epoch() {
  switch (phase_.load(std::memory_order_acquire)) {
    case phase::asked: answer(); break;
    case phase::ready: begin(); return;
    case phase::trying:
      if (trial_.go_on()) end_trial();
      return;
    default: break;
  }
  epoch_.times = live_epoch::timing::none;
  if (options_.watch_every == 0 || --until_watch_ > 0) return;
  until_watch_ = options_.watch_every;
  epoch_.times = live_epoch::timing::watch;
}

std::shared_ptr<live_key> live_core::add(live_function function) {
  threads_of_program<live_core>::end_before_driver();  // that of its context is loaded
  auto key = std::make_shared<live_key>(std::move(function));
  // Subscribed before the call that may request tuning, so that no news is missed.
  key->news = std::make_unique<tuning_news::subscription>(tuning_news::shared().subscribe(
      key->identity(), key->key(),
      [this, of = key.get()](const better_tuning& found) { take(*of, found); }));
  key->obtain();
  members_->add(key);
  return key;
}

void live_core::remove(const std::shared_ptr<live_key>& key) noexcept {
  key->gone.store(true, std::memory_order_release);
}

std::shared_ptr<live_node> live_core::instantiate(const command_queue& queue, bool as_graph,
                                                  live_maker make,
                                                  std::vector<std::shared_ptr<live_key>> keys) {
  const bool needs_times = options_.compare || options_.watch_every > 0;
  if (needs_times && !queue.impl()->profiling()) {
    throw argument_error(
        "the queue of a live instance has no profiling, without which its runs have no times; make "
        "it by create_command_queue({.profiling = true}), or turn live_options::compare and "
        "watch_every off");
  }
  const bool graphs = as_graph && queue.device().info().command_graphs;
  auto node = std::make_shared<live_node>(epoch_, queue, graphs, std::move(make), std::move(keys));
  for (const auto& key : node->keys()) node->built_with.push_back(key->current);
  node->serving = node->make_side(node->built_with);
  node->active = node->serving.get();
  members_->add(node);
  return node;
}

void live_core::answer() {
  try {
    candidate_.read_bindings();
  } catch (...) {
    failure_ = std::current_exception();
    return hand_over(phase::decided);
  }
  hand_over(phase::answered);
}

void live_core::begin() {
  epoch_.times = live_epoch::timing::none;
  if (candidate_.generation != members_->generation()) {
    return hand_over(phase::stale);
  }
  // The graph of a changed operation must be recorded beside the pipeline.
  if (candidate_.has_changed_graph()) return answer();
  const bool compares = candidate_.is_compared(options_);
  if (compares) reports_.count_trial();
  if (trial_.begin(candidate_.swaps, options_.block_epochs, compares)) return end_trial();
  hand_over(phase::trying);
}

void live_core::end_trial() noexcept {
  if (trial_.keeps() && candidate_.of) std::swap(candidate_.of->current, candidate_.made);
  hand_over(phase::decided);
}

// ---- libtune's thread

void live_core::serve_steps() {
  const unsealed_section ours;  // the seal applies to the pipeline only
  ::pthread_setname_np(::pthread_self(), "libtune-live");
  while (true) {
    bool soon = false;
    try {
      soon = step();
    } catch (...) {
      log(log_level::error, "a live pipeline: " + what_of(std::current_exception()));
    }
    if (!members_->wait_for_news(soon ? busy_look : idle_look)) return;
  }
}

bool live_core::step() {
  report_drifts();
  switch (phase_.load(std::memory_order_acquire)) {
    case phase::idle:
      members_->tidy();
      if (look_again_.exchange(false, std::memory_order_acquire)) look_into_database();
      return start_next();
    case phase::answered: bind_candidate(); break;
    case phase::stale: {
      const auto key = candidate_.of;
      better_tuning found = std::move(candidate_.found);
      candidate_ = {};
      hand_over(phase::idle);
      if (key) make_candidate(key, std::move(found));
      break;
    }
    case phase::decided:
      if (failure_) {
        refuse(what_of(failure_));
      } else {
        settle();
      }
      break;
    case phase::trying: announce(); break;
    default: break;
  }
  return true;
}

void live_core::report_drifts() {
  for (const auto& node : members_->drifted()) {
    const drift news = node->news;
    node->has_drifted.store(false, std::memory_order_release);
    for (const auto& key : node->keys()) {
      const live_event event = drift_event(*key, news);
      reports_.tell(*key, event, !std::exchange(key->drift_logged, true));
      if (options_.tunes_again) key->tune_again();
      if (!options_.drifted) continue;
      try {
        options_.drifted(event);
      } catch (const std::exception& failure) {
        log(log_level::error, std::string("live_options::drifted failed: ") + failure.what());
      }
    }
  }
}

void live_core::look_into_database() {
  for (const auto& key : members_->keys()) {
    const auto stored = key->find_stored();
    if (stored) take(*key, *stored);
  }
}

bool live_core::start_next() {
  if (auto next = members_->next()) {
    make_candidate(next->first, std::move(next->second));
    return true;
  }
  renew_stale();
  return !is_idle();
}

void live_core::make_candidate(const std::shared_ptr<live_key>& key, better_tuning found) {
  if (!key->may_try(found.values)) return;
  candidate_ = {};
  candidate_.of = key;
  candidate_.found = std::move(found);
  try {
    key->parts().function->check(candidate_.found.values);
    candidate_.made = key->parts().make(candidate_.found.values);
    prepare(members_->instances_of(key));
  } catch (...) {
    refuse(what_of(std::current_exception()));
  }
}

// An instance made while a candidate of its key was under way has the old template.
void live_core::renew_stale() {
  const live_members::selection stale = members_->stale();
  candidate_.generation = stale.generation;
  if (stale.nodes.empty()) return;
  try {
    prepare(stale);
  } catch (...) {
    refuse(what_of(std::current_exception()));
  }
}

void live_core::prepare(const live_members::selection& of) {
  candidate_.generation = of.generation;
  candidate_.swaps.reserve(of.nodes.size());
  for (const auto& node : of.nodes) candidate_.add(node, options_);
  hand_over(phase::asked);
}

// An unbound instance cannot be swapped yet: it is recreated after its first run. If all are
// unbound the candidate waits for the first. Returns false if no candidate is left.
bool live_core::pass_over_unbound() {
  if (!candidate_.drop_unbound()) return true;
  if (candidate_.of) {
    log(log_level::info, describe(candidate_.of->subject()) +
                             ": a swap skips instances without arrays until they have run");
  }
  if (!candidate_.swaps.empty()) return true;
  if (candidate_.of) members_->put_back(*candidate_.of, std::move(candidate_.found));
  end_candidate();
  return false;
}

void live_core::bind_candidate() {
  if (!pass_over_unbound()) return;
  if (++candidate_.rounds > most_rounds) {
    return refuse(
        "an instance that is run as a graph has other arrays in each epoch; make it with "
        "live_run::enqueue");
  }
  try {
    candidate_.bind();
    hand_over(phase::ready);
  } catch (...) {
    refuse(what_of(std::current_exception()));
  }
}

void live_core::settle() {
  if (!std::exchange(told_, true)) tell_decision();
  for (live_swap& each : candidate_.swaps) {
    if (!has_ended(each.end)) return;
    each.end.reset();
  }
  end_candidate();
}

void live_core::tell_decision() {
  live_key* const key = candidate_.of.get();
  if (key == nullptr) return;
  announce();
  live_event event =
      event_of_candidate(trial_.keeps() ? live_change::kept : live_change::taken_back);
  if (trial_.pairs() > 0) event.ratio = trial_.ratio();
  event.reason = trial_text(trial_);
  if (trial_.keeps()) {
    key->note_loss(key->values);
    key->values = candidate_.found.values;
    const auto stored = key->find_stored();
    key->is_result = stored && stored->values == key->values;
    key->score_ns.reset();
    if (candidate_.found.score) key->score_ns = candidate_.found.score->count();
  } else {
    key->note_loss(candidate_.found.values);
    // Without a decision the result may be right for other programs.
    if (trial_.doubt() == nullptr) correct_result(event.reason);
  }
  reports_.tell(*key, event);
}

void live_core::correct_result(const std::string& reason) const {
  const live_key& key = *candidate_.of;
  std::optional<result_before> before;
  if (key.is_result) before.emplace(result_before{key.values, key.score_ns});
  take_back_result(
      key.parts().context,
      {.function = key.identity(), .key = key.key(), .values = candidate_.found.values}, before,
      reason);
}

void live_core::announce() {
  if (!candidate_.of || !candidate_.is_compared(options_) || std::exchange(announced_, true))
    return;
  reports_.tell(*candidate_.of, event_of_candidate(live_change::trying));
}

void live_core::refuse(const std::string& reason) {
  if (candidate_.of) {
    live_event event = event_of_candidate(live_change::refused);
    event.reason = reason;
    candidate_.of->note_loss(candidate_.found.values);
    reports_.tell(*candidate_.of, event);
  } else {
    log(log_level::error, "an instance of a live pipeline stays as it is: " + reason);
    for (live_swap& each : candidate_.swaps) each.node->built_with = each.built_with;
  }
  end_candidate();
}

void live_core::end_candidate() {
  candidate_ = {};
  failure_ = nullptr;
  announced_ = told_ = false;
  hand_over(phase::idle);
}

live_event live_core::event_of_candidate(live_change change) const {
  return {.subject = candidate_.of->subject(),
          .change = change,
          .before = candidate_.of->values,
          .after = candidate_.found.values};
}

}  // namespace tune::detail
