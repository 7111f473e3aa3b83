// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/measure/race/jump_watch.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace tune::detail {
namespace {

constexpr double least_jump = 0.025;
constexpr double most_jump = 1;
// Movements of a block below this are slow drift, which the visits to the sentinel correct.
constexpr double least_movement = 0.04;
constexpr double jump_spreads = 8;
// Runs of one kind differ by a smaller part of the gap between two kinds.
constexpr double most_within = 0.2;
// One of many configurations reveals a jump less often than a block does.
constexpr double weight_of_runs = 0.25;
constexpr double weight_at_end = 0.5;
// The parts with a jump of all that was seen, and of the blocks alone.
constexpr double part = 0.25;
constexpr double part_of_blocks = 0.33;
// Another program slows the device down in many blocks; but hardly in most.
constexpr double many_blocks = 8;
constexpr double most_of_blocks = 0.6;

struct kind {
  double first;  // logarithms of times
  double last;
  std::size_t runs = 1;
};

// Without the slowest ones, which are no states of a clock.
std::vector<double> sorted_logs(std::span<const run_time> times) {
  std::vector<double> logs;
  for (const run_time time : times) logs.push_back(std::log(time.count()));
  std::ranges::sort(logs);
  const double most = logs.empty() ? 0 : logs.front() + std::log1p(most_jump);
  std::erase_if(logs, [most](double log) { return log > most; });
  return logs;
}

// Empty if the runs of a kind differ by too large a part of the gaps between kinds.
std::vector<kind> kinds_of(const std::vector<double>& logs) {
  std::vector<kind> kinds;
  double gap = most_jump;
  for (const double log : logs) {
    if (!kinds.empty() && log - kinds.back().last < least_jump) {
      kinds.back().last = log;
      ++kinds.back().runs;
      continue;
    }
    if (!kinds.empty()) gap = std::min(gap, log - kinds.back().last);
    kinds.push_back({.first = log, .last = log});
  }
  const bool are_tight = std::ranges::all_of(
      kinds, [gap](const kind& of) { return of.last - of.first <= most_within * gap; });
  return are_tight ? kinds : std::vector<kind>{};
}

double ratio(const kind& slow, const kind& fast) {
  return std::expm1((slow.first + slow.last - fast.first - fast.last) / 2);
}

}  // namespace

double jump_within(std::span<const run_time> times) {
  std::vector<kind> kinds = kinds_of(sorted_logs(times));
  std::erase_if(kinds, [](const kind& of) { return of.runs < 2; });
  return kinds.size() < 2 ? 0 : ratio(kinds.back(), kinds.front());
}

double jump_at_end(std::span<const run_time> times, double spread) {
  if (times.size() < 2) return 0;
  const std::vector<kind> kinds = kinds_of(sorted_logs(times));
  const double last = std::log(times.back().count());
  if (kinds.size() != 2 || kinds.back().runs > 1 || last < kinds.back().first) return 0;
  const double jump = ratio(kinds.back(), kinds.front());
  return jump > jump_spreads * spread ? jump : 0;
}

void jump_watch::add_block(double movement) noexcept {
  blocks_ += 1;
  if (movement <= least_movement) return;
  const bool is_far = movement > std::log1p(most_jump);
  (is_far ? far_ : moved_) += 1;
  note(std::expm1(movement));
}

void jump_watch::add_runs(std::span<const run_time> times, double spread) {
  if (times.size() < 2) return;
  looks_ += weight_of_runs;
  const double jump = jump_within(times);
  const double at_end = jump_at_end(times, spread);
  if (jump > 0) {
    kinds_ += 1;
  } else if (at_end > 0) {
    kinds_ += weight_at_end;
  }
  note(std::max(jump, at_end));
}

bool jump_watch::is_jumping() const noexcept {
  const double seen = moved_ + kinds_;
  return (seen > 0 && seen >= part * (blocks_ + looks_)) ||
         (moved_ > 0 && moved_ >= part_of_blocks * blocks_) ||
         (blocks_ >= many_blocks && moved_ + far_ >= most_of_blocks * blocks_);
}

void jump_watch::note(double jump) noexcept {
  largest_ = std::max(largest_, std::min(jump, most_jump));
}

}  // namespace tune::detail
