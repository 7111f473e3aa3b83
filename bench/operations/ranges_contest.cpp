// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "bench/operations/ranges_contest.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <span>
#include <string>

namespace bench {
namespace {

constexpr std::size_t finalists = 8;
constexpr int runs_at_once = 4;

/// The mean of the middle half: finer than the ticks of a timer, and insensitive to single runs.
struct middle_mean {
  explicit middle_mean(std::vector<double> values) {
    std::ranges::sort(values);
    const std::size_t cut = values.size() / 4;
    const std::span half = std::span(values).subspan(cut, values.size() - 2 * cut);
    const auto count = static_cast<double>(half.size());
    value = std::accumulate(half.begin(), half.end(), 0.0) / count;
    double squares = 0;
    for (const double each : half) squares += (each - value) * (each - value);
    // The error with half of the values cut off is about twice that of the half.
    error = 2 * std::sqrt(squares / count / std::max(count - 1, 1.0)) / value;
  }

  double value = 0;
  double error = 0;  // relative
};

double least_of(const std::vector<double>& seconds) { return *std::ranges::min_element(seconds); }

}  // namespace

tune::buffer scratch_allocator::do_allocate(std::size_t bytes) {
  if (!memory_ || memory_->size_bytes() < bytes) memory_ = context().create_buffer(bytes);
  return *memory_;
}

contest::contest(device_timer& timer, std::shared_ptr<tune::allocator> scratch,
                 const std::vector<maker>& makers, const tune::size_list& at,
                 const std::function<void(tune::operation&, const tune::size_list&)>& fill)
    : timer_(timer), scratch_(std::move(scratch)) {
  for (std::size_t i = 0; i < makers.size(); ++i) {
    if (!makers[i]) continue;
    try {
      auto op = makers[i](at);
      share_arrays(*op, at, fill);
      entry one{.number = i, .op = std::move(op)};
      time(one, 1);
      entries_.push_back(std::move(one));
    } catch (const tune::error&) {  // it cannot run at this size, or on this device
    }
  }
}

std::vector<double> contest::times(std::size_t count) {
  constexpr double long_run = 1e-3;
  std::vector<double> all(count);
  for (entry& each : entries_) {
    const bool is_long = !each.seconds.empty() && each.seconds.front() > long_run;
    each.seconds.clear();
    time(each, is_long ? 1 : runs_at_once);
    all[each.number] = 1e6 * middle_mean(each.seconds).value;
  }
  return all;
}

double contest::ratio(std::size_t chosen, int rounds, int pairs) {
  const auto own = std::ranges::find(entries_, chosen, &entry::number);
  if (own == entries_.end()) return 0;  // it failed
  const std::vector<entry*> last = finalists_with(*own);
  entry* const mine = *std::ranges::find(last, chosen, &entry::number);
  for (entry* each : last) each->seconds.clear();
  for (int round = 0; round < rounds; ++round) {
    for (entry* each : last) time(*each, runs_at_once);
  }
  entry* const best = *std::ranges::min_element(
      last, {}, [](const entry* each) { return middle_mean(each->seconds).value; });
  if (best == mine) return 1;
  best->seconds.clear();
  mine->seconds.clear();
  constexpr int least_pairs = 6;
  constexpr double certain = 0.005;
  for (int pair = 0; pair < pairs; ++pair) {
    for (entry* each : pair % 2 == 0 ? std::array{best, mine} : std::array{mine, best}) {
      time(*each, runs_at_once);
    }
    if (pair < least_pairs || pair % 4 != 0) continue;
    if (std::hypot(middle_mean(best->seconds).error, middle_mean(mine->seconds).error) < certain) {
      break;
    }
  }
  return middle_mean(best->seconds).value / middle_mean(mine->seconds).value;
}

/// Times all twice, then the nearly fastest ones repeatedly, until few are left.
std::vector<contest::entry*> contest::finalists_with(entry& own) {
  std::vector<entry*> left;
  for (entry& each : entries_) {
    each.seconds.clear();
    left.push_back(&each);
  }
  for (int runs = 2; left.size() > finalists; runs = std::min(2 * runs, 8)) {
    for (entry* each : left) time(*each, runs);
    std::ranges::stable_sort(left, {}, [](const entry* each) { return least_of(each->seconds); });
    left.resize(std::max(left.size() / 4, finalists));
  }
  if (std::ranges::find(left, &own) == left.end()) left.push_back(&own);
  return left;
}

/// Binds the arrays of the first operation, except arrays that depend on the tuning.
void contest::share_arrays(
    tune::operation& op, const tune::size_list& at,
    const std::function<void(tune::operation&, const tune::size_list&)>& fill) {
  if (entries_.empty()) {
    op.ensure_all_bound();
    fill(op, at);
    return;
  }
  op.set_allocator(scratch_);
  tune::operation& first = *entries_.front().op;
  const auto names = first.slot_names();
  for (const std::string& name : op.slot_names()) {
    const bool is_scratch = name.starts_with("partial") || name == "work_area";
    if (!is_scratch && std::ranges::find(names, name) != names.end()) {
      op.bind(name, first.buffer(name));
    }
  }
  op.ensure_all_bound();
}

void contest::time(entry& of, int runs) {
  for (const double each : timer_.times([&] { of.op->run(); }, runs, of.host)) {
    of.seconds.push_back(each);
  }
}

}  // namespace bench
