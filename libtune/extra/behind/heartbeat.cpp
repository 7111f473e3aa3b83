// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/behind/heartbeat.hpp"

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

// ---- late_watch

// The application's own behaviour is learned continuously, because it may change its pace. For a
// new pace the earlier lateness counts half.
void late_watch::learn(const heartbeat_intervals& now) {
  constexpr double remembered = 1000;
  const interval_tally::snapshot lately = now.alone.since(learned_.alone);
  if (lately.total() < least) return;
  const double part = count_alone_ > remembered ? 0.5 : 1;
  usual_ = lately.quantile(0.5);
  late_alone_ = part * late_alone_ + static_cast<double>(now.late_alone - learned_.late_alone);
  count_alone_ = part * count_alone_ + static_cast<double>(lately.total());
  learned_ = now;
}

// One late frame proves nothing; without the tuner one may also occur, even if none has been seen.
std::optional<bool> late_watch::look(const heartbeat_intervals& now) {
  learn(now);
  if (period().count() == 0) return std::nullopt;
  const std::uint64_t alone = now.alone.total();
  const std::uint64_t beside = now.beside.total();
  const std::uint64_t count = beside - judged_beside_;
  const bool is_much = count >= few && count + (alone - judged_alone_) >= 2 * least;
  if (count < least && !is_much) return std::nullopt;
  const auto late = static_cast<double>(now.late_beside - judged_late_);
  judged_alone_ = alone;
  judged_beside_ = beside;
  judged_late_ = now.late_beside;
  const double rate = (late_alone_ + 1) / (count_alone_ + static_cast<double>(2 * least));
  const double expected = rate * static_cast<double>(count);
  return late > 1 + expected + 2 * std::sqrt(expected);
}

// ---- heartbeat_list

struct heartbeat_list::shared_state {
  std::mutex mutex;
  std::vector<heartbeat*> living;
  heartbeat_intervals ended;
};

heartbeat_list::shared_state& heartbeat_list::shared() {
  static never_destroyed<shared_state> list;
  return *list;
}

void heartbeat_list::add(heartbeat& one) {
  const std::lock_guard lock(shared().mutex);
  shared().living.push_back(&one);
}

void heartbeat_list::remove(const heartbeat& one) noexcept {
  if (is_forked()) return;
  const std::lock_guard lock(shared().mutex);
  std::erase(shared().living, &one);
  try {
    const heartbeat_intervals last = one.intervals();
    shared().ended.alone.add(last.alone);
    shared().ended.beside.add(last.beside);
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
    const heartbeat_intervals each = one->intervals();
    all.alone.add(each.alone);
    all.beside.add(each.beside);
    all.late_alone += each.late_alone;
    all.late_beside += each.late_beside;
  }
  return all;
}

bool heartbeat_list::are_known() {
  const std::lock_guard lock(shared().mutex);
  return std::ranges::all_of(shared().living, [](const heartbeat* one) {
    return one->intervals().alone.total() >= late_watch::least;
  });
}

std::optional<bool> heartbeat_list::look(double slack) {
  const std::lock_guard lock(shared().mutex);
  std::optional<bool> any;
  for (heartbeat* one : shared().living) {
    if (const auto late = one->look(slack)) any = *late || any.value_or(false);
  }
  return any;
}

std::chrono::nanoseconds heartbeat_list::shortest_period() noexcept {
  const std::lock_guard lock(shared().mutex);
  std::chrono::nanoseconds shortest{0};
  for (const heartbeat* one : shared().living) {
    const std::chrono::nanoseconds period = one->watch_.declared();
    if (period.count() > 0 && (shortest.count() == 0 || period < shortest)) shortest = period;
  }
  return shortest;
}

}  // namespace detail

heartbeat::heartbeat(std::chrono::nanoseconds period)
    : counted_(std::make_unique<tallies>()), page_(detail::own_gate_page()), watch_(period) {
  detail::heartbeat_list::add(*this);
}

// An operating system delays a frame, too.
std::optional<bool> heartbeat::look(double slack) {
  constexpr double noise = 50'000;
  const auto found = watch_.look(intervals());
  const auto period = static_cast<double>(watch_.period().count());
  allowed_.store(static_cast<std::int64_t>(slack * period + noise), std::memory_order_relaxed);
  period_.store(watch_.period().count(), std::memory_order_relaxed);
  return found;
}

heartbeat::~heartbeat() {
  detail::heartbeat_list::remove(*this);
  while (under_way_.load() > 0 && !detail::is_forked()) end();
}

// A forked process has its parent's page.
void heartbeat::begin() noexcept {
  if (detail::is_forked()) return;
  under_way_.fetch_add(1);
  page_.quiet.begin(std::chrono::steady_clock::now().time_since_epoch());
}

void heartbeat::end() noexcept {
  if (detail::is_forked()) return;
  std::uint32_t before = under_way_.load();
  do {
    if (before == 0) return;  // an unmatched call
  } while (!under_way_.compare_exchange_weak(before, before - 1));
  page_.quiet.end(std::chrono::steady_clock::now().time_since_epoch());
}

}  // namespace tune
