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

std::uint64_t interval_tally::snapshot::longer_than(
    std::chrono::nanoseconds length) const noexcept {
  const std::size_t of = class_of(length.count());
  return std::accumulate(counts.begin() + static_cast<std::ptrdiff_t>(of) + 1, counts.end(),
                         std::uint64_t{0});
}

// ---- late_watch

std::chrono::nanoseconds late_watch::longest_on_time(double slack) const noexcept {
  const std::chrono::nanoseconds period = declared_.count() > 0 ? declared_ : usual_;
  const double with_slack = static_cast<double>(period.count()) * (1 + slack);
  return std::chrono::nanoseconds(static_cast<std::int64_t>(with_slack)) + noise;
}

// What an application does by itself is learned anew all the time, for it may change its pace.
void late_watch::learn(const interval_tally::snapshot& all, double slack) {
  constexpr double remembered = 1000;
  const interval_tally::snapshot lately = all.since(alone_);
  if (lately.total() < least) return;
  alone_ = all;
  const std::chrono::nanoseconds before = longest_on_time(slack);
  usual_ = lately.quantile(0.5);
  const std::chrono::nanoseconds longest = longest_on_time(slack);
  // Of another pace nothing is known yet.
  const double part = longest > before + before / 10 || count_alone_ > remembered ? 0.5 : 1;
  late_alone_ = part * late_alone_ + static_cast<double>(lately.longer_than(longest));
  count_alone_ = part * count_alone_ + static_cast<double>(lately.total());
}

// One late interval is no sign, whoever has made it; where none has been seen, there may be one.
std::optional<bool> late_watch::look(const heartbeat_intervals& now, double slack) {
  learn(now.alone, slack);
  if (usual_.count() == 0 && declared_.count() == 0) return std::nullopt;
  const interval_tally::snapshot beside = now.beside.since(beside_);
  const std::uint64_t alone = now.alone.total();
  const std::uint64_t count = beside.total();
  const bool is_much = count >= few && count + (alone - judged_alone_) >= 2 * least;
  if (count < least && !is_much) return std::nullopt;
  beside_ = now.beside;
  judged_alone_ = alone;
  const double rate = (late_alone_ + 1) / (count_alone_ + static_cast<double>(least));
  const double expected = rate * static_cast<double>(count);
  const auto late = static_cast<double>(beside.longer_than(longest_on_time(slack)));
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
    if (const auto late = one->watch_.look(one->intervals(), slack)) {
      any = *late || any.value_or(false);
    }
  }
  return any;
}

}  // namespace detail

heartbeat::heartbeat(std::chrono::nanoseconds period)
    : counted_(std::make_unique<tallies>()), page_(detail::own_gate_page()), watch_(period) {
  detail::heartbeat_list::add(*this);
}

heartbeat::~heartbeat() { detail::heartbeat_list::remove(*this); }

}  // namespace tune
