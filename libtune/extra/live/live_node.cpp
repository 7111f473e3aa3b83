// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/live/live_node.hpp"

#include <algorithm>
#include <utility>

namespace tune::detail {

void live_times::add(double time_ns) noexcept {
  if (count < most) times_ns[count++] = time_ns;
}

double live_times::median() noexcept {
  const auto middle = times_ns.begin() + static_cast<std::ptrdiff_t>(count / 2);
  std::nth_element(times_ns.begin(), middle, times_ns.begin() + static_cast<std::ptrdiff_t>(count));
  return *middle;
}

live_node::live_node(const live_epoch& epoch, command_queue queue, bool as_graph, live_maker make,
                     std::vector<std::shared_ptr<live_key>> keys)
    : epoch_(epoch),
      queue_(std::move(queue)),
      as_graph_(as_graph),
      make_(std::move(make)),
      keys_(std::move(keys)) {}

std::unique_ptr<live_side> live_node::make_side(
    std::span<const std::shared_ptr<const void>> templates) const {
  const command_queue on = as_graph_ ? queue_.context().create_command_queue() : queue_;
  return std::make_unique<live_side>(make(templates, on), as_graph_);
}

std::unique_ptr<operation> live_node::make(std::span<const std::shared_ptr<const void>> templates,
                                           const command_queue& on) const {
  std::vector<const void*> erased;
  for (const auto& each : templates) erased.push_back(each.get());
  return make_(erased, on);
}

void live_node::run() {
  if (epoch_.times == live_epoch::timing::none) [[likely]] {
    run_active();
  } else {
    run_timed();
  }
  if (passed_over.load(std::memory_order_relaxed)) [[unlikely]]
    passed_over.store(false, std::memory_order_release);
}

void live_node::run_active() {
  if (trial == nullptr || active == serving.get()) [[likely]]
    return active->run(queue_);
  try {
    active->run(queue_);
  } catch (...) {
    trial->give_up();
    active->run(queue_);
  }
}

void live_node::run_timed() {
  collect();
  const bool trying = epoch_.times == live_epoch::timing::trial;
  if (count_ == most_pending || queue_.is_capturing() || (trying && trial == nullptr)) {
    return run_active();
  }
  const live_side* const side = active;
  event begin = queue_.enqueue_marker();
  run_active();
  if (active != side) return;
  pending& next = pending_[(first_ + count_++) % most_pending];
  next.begin = std::move(begin);
  next.end = queue_.enqueue_marker();
  next.pair = trying ? epoch_.pair : no_pair;
  next.candidate = side != serving.get();
}

// A lost device is reported by the next run, too.
void live_node::collect() noexcept {
  try {
    while (count_ > 0) {
      pending& oldest = pending_[first_];
      if (!oldest.end->is_complete()) return;
      take(oldest);
      oldest = {};
      first_ = (first_ + 1) % most_pending;
      --count_;
    }
  } catch (...) {
    forget_times();
  }
}

void live_node::take(const pending& times) {
  const auto time_ns = static_cast<double>(times.begin->time_till(*times.end).count());
  if (times.pair != no_pair) {
    if (trial != nullptr && time_ns > 0) {
      trial->times[times.pair % live_swap::open_pairs][times.candidate ? 1 : 0].add(time_ns);
    }
    return;
  }
  const auto found = watch_.add(time_ns);
  if (!found || has_drifted.load(std::memory_order_acquire)) return;
  news = *found;
  has_drifted.store(true, std::memory_order_release);
}

bool live_node::has_resolved(std::uint32_t pair) const noexcept {
  for (std::size_t i = 0; i < count_; ++i) {
    if (pending_[(first_ + i) % most_pending].pair <= pair) return false;
  }
  return true;
}

void live_node::forget_times() noexcept {
  for (pending& each : pending_) each = {};
  first_ = count_ = 0;
}

void live_swap::follow(bool to_candidate) {
  live_side& from = side(!to_candidate);
  live_side& to = side(to_candidate);
  if (from.made().version() == (to_candidate ? seen_before : seen_fresh)) return;
  bind_alike(from.made(), to.made());
  if (node->carry) node->carry(from.made(), to.made());
  seen_before = node->serving->made().version();
  seen_fresh = fresh->made().version();
}

void live_swap::give_up() noexcept {
  failure = std::current_exception();
  try {
    follow(false);
  } catch (...) {
    // The serving operation continues with its previous arrays.
  }
  node->active = node->serving.get();
}

}  // namespace tune::detail
