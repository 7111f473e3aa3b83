// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/metrics/frame_histogram.hpp"

#include <algorithm>
#include <cmath>

namespace tune {
namespace {

using classes = detail::frame_classes;
using std::chrono::nanoseconds;

/// The end of the class with the frame of a rank. @param count_of  the frames of a class
template <class CountOf>
std::uint64_t find_quantile(double part, std::uint64_t total, const CountOf& count_of) noexcept {
  if (total == 0) return 0;
  const double wanted = std::ceil(std::clamp(part, 0.0, 1.0) * static_cast<double>(total));
  const auto rank = std::clamp(static_cast<std::uint64_t>(wanted), std::uint64_t{1}, total);
  std::uint64_t passed = 0;
  for (std::size_t i = 0; i < classes::count; ++i) {
    passed += count_of(i);
    if (passed >= rank) return classes::end(i);
  }
  return classes::end(classes::count - 1);
}

/// Times beyond the last class are known by the longest only.
nanoseconds within(std::uint64_t end, nanoseconds longest) noexcept {
  const bool is_last = end == classes::end(classes::count - 1);
  return is_last ? longest : std::min(nanoseconds(end), longest);
}

}  // namespace

nanoseconds frame_distribution::quantile(double part) const noexcept {
  if (counts_.empty()) return nanoseconds(0);
  return within(find_quantile(part, count_, [&](std::size_t i) { return counts_[i]; }), longest_);
}

frame_distribution frame_distribution::since(const frame_distribution& earlier) const {
  if (counts_.empty() || earlier.counts_.empty()) return *this;
  frame_distribution made;
  made.counts_.resize(classes::count);
  std::size_t last = 0;
  for (std::size_t i = 0; i < counts_.size(); ++i) {
    made.counts_[i] = counts_[i] - earlier.counts_[i];
    made.count_ += made.counts_[i];
    if (made.counts_[i] > 0) last = i;
  }
  made.sum_ = sum_ - earlier.sum_;
  if (made.count_ > 0) made.longest_ = within(classes::end(last), longest_);
  return made;
}

void frame_distribution::merge(const frame_distribution& other) {
  if (other.counts_.empty()) return;
  counts_.resize(classes::count);
  for (std::size_t i = 0; i < classes::count; ++i) counts_[i] += other.counts_[i];
  count_ += other.count_;
  sum_ += other.sum_;
  longest_ = std::max(longest_, other.longest_);
}

std::uint64_t frame_histogram::count() const noexcept {
  std::uint64_t total = 0;
  for (const auto& each : counts_) total += each.load(std::memory_order_relaxed);
  return total;
}

nanoseconds frame_histogram::quantile(double part) const noexcept {
  const std::uint64_t end = find_quantile(
      part, count(), [&](std::size_t i) { return counts_[i].load(std::memory_order_relaxed); });
  return within(end, longest());
}

frame_distribution frame_histogram::read() const {
  frame_distribution made;
  made.counts_.resize(classes::count);
  for (std::size_t i = 0; i < classes::count; ++i) {
    made.counts_[i] = counts_[i].load(std::memory_order_relaxed);
    made.count_ += made.counts_[i];
  }
  made.sum_ = nanoseconds(sum_.load(std::memory_order_relaxed));
  made.longest_ = longest();
  return made;
}

void frame_histogram::merge(const frame_histogram& other) noexcept {
  for (std::size_t i = 0; i < classes::count; ++i) {
    const std::uint64_t more = other.counts_[i].load(std::memory_order_relaxed);
    if (more > 0) counts_[i].fetch_add(more, std::memory_order_relaxed);
  }
  sum_.fetch_add(other.sum_.load(std::memory_order_relaxed), std::memory_order_relaxed);
  note_longest(other.longest_.load(std::memory_order_relaxed));
}

void frame_histogram::reset() noexcept {
  for (auto& each : counts_) each.store(0, std::memory_order_relaxed);
  sum_.store(0, std::memory_order_relaxed);
  longest_.store(0, std::memory_order_relaxed);
}

}  // namespace tune
