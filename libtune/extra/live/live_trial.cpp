// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/live/live_trial.hpp"

#include <algorithm>
#include <utility>

namespace tune::detail {
namespace {

// A comparison without times is given up after this multiple of its epochs.
constexpr std::size_t patience = 4;

}  // namespace

bool live_trial::begin(std::span<live_swap> swaps, std::size_t block_epochs, bool compares) {
  swaps_ = swaps;
  block_epochs_ = block_epochs;
  probation_ = probation(++begun_);
  end_ = compares ? verdict::open : verdict::keep;
  failure_ = nullptr;
  doubt_ = nullptr;
  opened_ = closed_ = 0;
  epochs_ = 0;
  candidate_serves_ = false;
  epoch_.times = live_epoch::timing::none;
  for (live_swap& each : swaps_) {
    each.node->forget_times();
    each.node->trial = &each;
  }
  if (compares) begin_pair();
  return end_ != verdict::open && finish();
}

bool live_trial::go_on() {
  if (end_ == verdict::open) look();
  return end_ != verdict::open && finish();
}

void live_trial::look() {
  for (const live_swap& each : swaps_) {
    if (!each.failure) continue;
    failure_ = each.failure;
    end_ = verdict::take_back;
    return;
  }
  for (const live_swap& each : swaps_) each.node->collect();
  close_pairs();
  if (end_ != verdict::open) return;
  const bool all_gone = std::ranges::all_of(swaps_, [](const live_swap& each) {
    return each.node->gone.load(std::memory_order_relaxed);
  });
  if (all_gone) doubt_ = "its instances have been destroyed";
  if (++epochs_ > patience * probation::most_pairs * 2 * block_epochs_) {
    doubt_ = "too few of its times could be measured";
  }
  if (doubt_ != nullptr) {
    end_ = verdict::take_back;
  } else if (blocks_ == 2) {
    begin_pair();
  } else if (++epoch_in_block_ >= block_epochs_) {
    end_block();
  } else {
    epoch_.times = live_epoch::timing::trial;  // all but the first
  }
}

// If times arrive late, the serving side continues until there is room for them.
void live_trial::begin_pair() {
  if (opened_ - closed_ >= live_swap::open_pairs) return;
  for (live_swap& each : swaps_) each.times[opened_ % live_swap::open_pairs] = {};
  epoch_.pair = opened_;
  candidate_first_ = probation_.candidate_first();
  blocks_ = 0;
  epoch_in_block_ = 0;
  if (!serve(candidate_first_)) end_ = verdict::take_back;
}

void live_trial::end_block() {
  epoch_.times = live_epoch::timing::none;
  epoch_in_block_ = 0;
  if (++blocks_ == 1) {
    if (!serve(!candidate_first_)) end_ = verdict::take_back;
    return;
  }
  ++opened_;
  begin_pair();
}

void live_trial::close_pairs() {
  while (closed_ < opened_) {
    const bool resolved = std::ranges::all_of(
        swaps_, [&](const live_swap& each) { return each.node->has_resolved(closed_); });
    if (!resolved) return;
    const double ratio = pair_ratio(closed_++);
    if (ratio <= 0) continue;
    end_ = probation_.add(ratio);
    if (end_ != verdict::open) return;
  }
}

// An instance's times are weighted by the number of its runs.
double live_trial::pair_ratio(std::uint32_t pair) noexcept {
  double before = 0;
  double after = 0;
  for (live_swap& each : swaps_) {
    auto& [old_times, new_times] = each.times[pair % live_swap::open_pairs];
    if (old_times.count == 0 || new_times.count == 0) continue;
    const auto weight = static_cast<double>(old_times.count + new_times.count);
    before += weight * old_times.median();
    after += weight * new_times.median();
  }
  return before > 0 ? after / before : 0;
}

bool live_trial::serve(bool candidate) noexcept {
  try {
    for (live_swap& each : swaps_) {
      if (each.node->active != &each.side(candidate)) each.follow(candidate);
    }
  } catch (...) {
    failure_ = std::current_exception();
    return false;
  }
  for (live_swap& each : swaps_) each.node->active = &each.side(candidate);
  candidate_serves_ = candidate;
  return true;
}

// The device may still run commands of the loser, until an event shows their end. A queue that is
// being captured has no events, so the next epoch tries again.
bool live_trial::finish() noexcept {
  epoch_.times = live_epoch::timing::none;
  const auto capturing = [](const live_swap& each) { return each.node->queue().is_capturing(); };
  if (std::ranges::any_of(swaps_, capturing)) return false;
  // A loser must stay if the winner no longer accepts its arrays.
  if (!serve(end_ == verdict::keep)) {
    end_ = candidate_serves_ ? verdict::keep : verdict::take_back;
  }
  for (live_swap& each : swaps_) {
    live_node& node = *each.node;
    if (keeps()) {
      std::swap(node.serving, each.fresh);
      std::swap(node.built_with, each.built_with);
      node.restart_watch();
    }
    node.active = node.serving.get();
    node.trial = nullptr;
    node.forget_times();
    try {
      each.end = node.queue().enqueue_marker();
    } catch (...) {
      // The device is lost, or this is a forked process.
    }
  }
  return true;
}

}  // namespace tune::detail
