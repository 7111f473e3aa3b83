// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tune/behind/heartbeat.hpp"

#include <algorithm>
#include <cmath>
#include <mutex>
#include <numeric>
#include <vector>

#include "libtune/base/forked_process.hpp"
#include "libtune/base/never_destroyed.hpp"

namespace tune {

namespace detail {

std::uint64_t interval_tally::snapshot::total() const noexcept {
  return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
}

std::chrono::nanoseconds interval_tally::snapshot::quantile(double part) const noexcept {
  const std::uint64_t all = total();
  if (all == 0) return std::chrono::nanoseconds(0);
  const auto wanted = static_cast<std::uint64_t>(std::ceil(static_cast<double>(all) * part));
  std::uint64_t seen = 0;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    seen += counts[i];
    if (seen >= std::max<std::uint64_t>(1, wanted)) {
      return longest.count() > 0 ? std::min(longest, end_of(i)) : end_of(i);
    }
  }
  return longest;
}

interval_tally::snapshot interval_tally::snapshot::since(const snapshot& before) const {
  snapshot made;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    made.counts[i] = counts[i] - std::min(counts[i], before.counts[i]);
    if (made.counts[i] > 0) made.longest = std::min(longest, end_of(i));
  }
  return made;
}

void interval_tally::snapshot::add(const snapshot& other) {
  for (std::size_t i = 0; i < counts.size(); ++i) counts[i] += other.counts[i];
  longest = std::max(longest, other.longest);
}

interval_tally::snapshot interval_tally::read() const {
  snapshot made;
  for (std::size_t i = 0; i < classes; ++i) {
    made.counts[i] = counts_[i].load(std::memory_order_relaxed);
  }
  made.longest = std::chrono::nanoseconds(longest_.load(std::memory_order_relaxed));
  return made;
}

// The tail of a few hundred intervals is their 99th percentile; of more, what is rarer says little
// about the next few hundred.
std::optional<bool> tail_watch::look(const heartbeat_intervals& now) {
  constexpr double tail = 0.99;
  const interval_tally::snapshot lately = now.beside.since(seen_);
  if (lately.total() < least || now.alone.total() < least) return std::nullopt;
  seen_ = now.beside;
  const double usual = static_cast<double>(now.alone.quantile(tail).count());
  const double allowed =
      usual * (1 + tolerance) + static_cast<double>(std::chrono::nanoseconds(slack).count());
  return static_cast<double>(lately.quantile(tail).count()) > allowed;
}

}  // namespace detail

struct heartbeat_list::shared_state {
  std::mutex mutex;
  std::vector<const heartbeat*> living;
  heartbeat_intervals ended;
};

heartbeat_list::shared_state& heartbeat_list::shared() {
  static detail::never_destroyed<shared_state> list;
  return *list;
}

void heartbeat_list::add(const heartbeat& one) {
  const std::lock_guard lock(shared().mutex);
  shared().living.push_back(&one);
}

void heartbeat_list::remove(const heartbeat& one) noexcept {
  if (detail::is_forked()) return;
  const std::lock_guard lock(shared().mutex);
  std::erase(shared().living, &one);
  try {
    shared().ended.alone.add(one.counted_->alone.read());
    shared().ended.beside.add(one.counted_->beside.read());
  } catch (const std::bad_alloc&) {  // its intervals are not counted
  }
}

std::size_t heartbeat_list::count() noexcept {
  const std::lock_guard lock(shared().mutex);
  return shared().living.size();
}

heartbeat_intervals heartbeat_list::read() {
  const std::lock_guard lock(shared().mutex);
  heartbeat_intervals all = shared().ended;
  for (const heartbeat* one : shared().living) {
    all.alone.add(one->counted_->alone.read());
    all.beside.add(one->counted_->beside.read());
  }
  return all;
}

heartbeat::heartbeat() : counted_(std::make_unique<tallies>()), page_(detail::own_gate_page()) {
  heartbeat_list::add(*this);
}

heartbeat::~heartbeat() { heartbeat_list::remove(*this); }

}  // namespace tune
