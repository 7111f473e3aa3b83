// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/child/watchdog.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <fmt/format.h>
#include <fstream>
#include <utility>

#include "libtune/base/plain_text.hpp"
#include "libtune/child/tuner_message.hpp"

namespace tune::detail {
namespace {

// Above it a sum with a point in time does not fit in 64 bits.
constexpr double longest_ns = 365.0 * 24 * 3600e9;

}  // namespace

watchdog_limits limits_of(const tuning_options& options) {
  return {.floor = options.watchdog.floor.value_or(default_trial_time),
          .multiple = options.watchdog.multiple,
          .compile_time = options.compile_time,
          .floor_is_given = options.watchdog.floor.has_value()};
}

std::chrono::nanoseconds watchdog_limits::limit_of(const search_step& step,
                                                   std::optional<run_time> best) const {
  const double known = best ? best->count() * static_cast<double>(step.launches) : 0.0;
  const double expected = std::max(known, step.expected.count());
  double limit = std::max(static_cast<double>(floor.count()), std::max(multiple, 1.0) * expected);
  if (step.kind == step_kind::generate && !floor_is_given)
    limit += static_cast<double>(compile_time.count());
  if (!std::isfinite(limit)) limit = longest_ns;
  return std::chrono::nanoseconds(std::llround(std::min(limit, longest_ns)));
}

// The compiler may first be busy with another program, and programs are awaited outside of steps.
std::chrono::nanoseconds watchdog_limits::limit_between_steps() const {
  return floor + 2 * std::chrono::nanoseconds(compile_time);
}

void watchdog::start(std::chrono::nanoseconds limit, time_point now) {
  levels_.back().limit = limit;
  levels_.back().spent = {};
  levels_.back().since = now;
  levels_.back().compiling_since.reset();
}

void watchdog::begin(search_step step, std::optional<run_time> best, time_point now) {
  const auto limit = limits_.limit_of(step, best);
  levels_.back().step = std::move(step);
  start(limit, now);
}

void watchdog::begin_anew(time_point now) noexcept {
  level& current = levels_.back();
  current.spent = {};
  current.since = now;
  if (current.compiling_since) current.compiling_since = now;
}

void watchdog::compiling_ends(time_point now) noexcept {
  level& current = levels_.back();
  if (current.compiling_since) {
    current.since += now - *std::exchange(current.compiling_since, std::nullopt);
  }
}

void watchdog::end(time_point now) {
  levels_.back().step.reset();
  start(limits_.limit_between_steps(), now);
}

void watchdog::begin_inside(time_point now) {
  levels_.back().spent = elapsed(now);
  levels_.emplace_back();
  start(limits_.limit_between_steps(), now);
}

void watchdog::end_inside(time_point now) {
  if (levels_.size() == 1) return;
  levels_.pop_back();
  levels_.back().since = now;
}

// Treated as a nested tuning, until it ends.
void watchdog::begin_wait(std::chrono::milliseconds limit, time_point now) {
  begin_inside(now);
  levels_.back().is_wait = true;
  levels_.back().limit = limit + limits_.limit_between_steps();
}

void watchdog::end_wait(time_point now) { end_inside(now); }

void watchdog::forget() {
  levels_.clear();
  levels_.emplace_back();
}

const watchdog::level* watchdog::level_of_step() const noexcept {
  for (auto one = levels_.rbegin(); one != levels_.rend(); ++one) {
    if (one->step) return &*one;
  }
  return nullptr;
}

const search_step* watchdog::step() const noexcept {
  const level* const found = level_of_step();
  return found == nullptr ? nullptr : &*found->step;
}

std::size_t watchdog::depth_of_step() const noexcept {
  std::size_t depth = 0;
  for (const level* one = level_of_step(); one != nullptr && one != levels_.data(); --one) {
    if (!one->is_wait) ++depth;
  }
  return depth;
}

std::chrono::nanoseconds watchdog::limit() const noexcept {
  const auto longest = std::chrono::nanoseconds(static_cast<std::int64_t>(longest_ns));
  const level& current = levels_.back();
  if (!current.compiling_since || !limits_.floor_is_given || current.limit >= longest) {
    return current.limit;
  }
  return current.limit + std::min(limits_.compile_time, longest);
}

std::chrono::nanoseconds watchdog::elapsed(time_point now) const noexcept {
  return levels_.back().spent + (now - levels_.back().since);
}

bool watchdog::is_over(time_point now) const noexcept {
  return is_watched() && elapsed(now) >= limit();
}

std::optional<watchdog::time_point> watchdog::deadline() const {
  if (!is_watched()) return std::nullopt;
  return levels_.back().since + (limit() - levels_.back().spent);
}

namespace {

std::string seconds(std::chrono::nanoseconds time) {
  return rounded_text(std::chrono::duration<double>(time).count());
}

}  // namespace

std::optional<std::uint64_t> count_memory_kills() {
  std::ifstream counters("/proc/vmstat");
  std::string name;
  for (std::uint64_t count = 0; counters >> name >> count;) {
    if (name == "oom_kill") return count;
  }
  return std::nullopt;
}

classification classify_overtime(const watchdog& watched, std::chrono::nanoseconds elapsed) {
  const search_step& step = *watched.step();
  return {outcome::timed_out,
          fmt::format("its process was stopped after {} s during {}; the limit was {} s "
                      "(LIBTUNE_TRIAL_TIME, tuning_options::watchdog)",
                      seconds(elapsed), step_name(step.kind), seconds(watched.limit()))};
}

bool may_be_from_outside(const child_process::end& end) noexcept {
  return !end.still_ran && (end.from_outside || !end.is_known);
}

std::optional<classification> classify_exit(const search_step& step, const child_process::end& end,
                                            bool memory_ran_out, bool ended_before) {
  const auto during = step_name(step.kind);
  if (end.still_ran || end.exit_status == lost_link_status) {
    return classification{
        outcome::crashed,
        fmt::format("it closed or replaced the descriptors of its process during {}, "
                    "that of libtune among them",
                    during)};
  }
  if (!may_be_from_outside(end)) {
    return classification{outcome::crashed,
                          fmt::format("its process ended during {}: {}", during, end.text)};
  }
  if (memory_ran_out && (end.by_kill || !end.is_known)) {
    return classification{
        outcome::out_of_memory,
        fmt::format("the system killed its process during {}, because memory ran out", during)};
  }
  if (!ended_before) return std::nullopt;
  if (end.by_kill) {
    return classification{
        outcome::out_of_memory,
        fmt::format("its process was killed twice during {}, as the system does when memory "
                    "runs out",
                    during)};
  }
  return classification{outcome::crashed,
                        fmt::format("its process ended twice during {}: {}", during, end.text)};
}

classification classify_invalid_message(const search_step& step, const std::string& what) {
  return {outcome::crashed,
          fmt::format("it wrote to the descriptors of its process during {}, that of libtune "
                      "among them ({})",
                      step_name(step.kind), what)};
}

classification classify_stopped(const search_step& step) {
  return {outcome::timed_out,
          fmt::format("its process was stopped by a signal during {}, twice, and did not go on",
                      step_name(step.kind))};
}

trial lost_trial(const search_step& step, classification found, std::chrono::nanoseconds elapsed) {
  trial lost;
  lost.index = step.index;
  lost.configuration = step.configuration;
  lost.outcome = found.outcome;
  lost.reason = std::move(found.reason);
  lost.elapsed = elapsed;
  return lost;
}

}  // namespace tune::detail
