// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/measure/timing/drift_monitor.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstddef>
#include <fmt/format.h>
#include <numbers>
#include <utility>
#include <vector>

#include "libtune/base/error.hpp"

namespace tune {
namespace {

constexpr double usual_spread = 0.01;
constexpr int most_times = 3;
constexpr run_time longest_visit = std::chrono::milliseconds(100);
// For two visits; differences of this many standard errors occur by chance once in 22 blocks, and
// cost a visit.
constexpr double deviation = 2;
// A run of the sentinel that is slower than the faster ones by more than this lost a time slice.
constexpr double slice = 0.25;
constexpr double slice_spreads = 6;
// The part of a change that the reference follows in each visit, upwards and downwards.
constexpr double follow_slower = 0.05;
constexpr double follow_faster = 0.5;
// The uncertainty of a sentinel's score, relative to that of the difference of two visits.
constexpr double score_error = 2;
// If a smaller part of a visit's difference is trusted, all visits are assumed to have the same
// level.
constexpr double one_level = 0.2;
// After this many tolerated disturbances, nothing counts as disturbed any more.
constexpr int most_given_up = 3;
// The most runs of the sentinel that wait for a calm device: per other run, and besides.
constexpr double waiting_part = 3;
constexpr double most_waiting = 500;

run_time total(const samples& visit) { return visit.mean() * static_cast<double>(visit.size()); }

}  // namespace

std::string drift_text(const drift_report& report) {
  constexpr const char* advice =
      "so the scores are less certain: measure when no other program uses the device, or with its "
      "clocks fixed";
  if (report.jumping) {
    std::string text = fmt::format(
        "the device became faster or slower, by up to {:.1f} % at once, again and again, so the "
        "best configurations were compared in turns of a random order",
        100 * report.largest);
    if (!report.resolved()) text += fmt::format("; some may be faster than the winner, {}", advice);
    return text;
  }
  if (report.moved == 0) return {};
  std::string text = fmt::format(
      "the device became faster or slower, by up to {:.1f} % at "
      "once, in {} of {} blocks of "
      "measurements, which were measured again",
      100 * report.largest, report.moved, report.blocks);
  if (report.resolved()) return text;
  return text + fmt::format("; {} of them remained unresolved, {}", report.unresolved, advice);
}

run_time visit_time(const samples& visit, double spread) {
  std::vector<run_time> times(visit.times().begin(), visit.times().end());
  // Not the smallest, which may also be an outlier.
  const auto low = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 4);
  std::ranges::nth_element(times, low);
  const run_time most = *low * (1 + std::max(slice, slice_spreads * spread));
  std::erase_if(times, [&](run_time time) { return time > most; });
  return samples(std::move(times)).median();
}

drift_monitor::drift_monitor(const drift_settings& settings) : settings_(settings) {
  if (settings.threshold > 0 && settings.runs > 0 && settings.repeats >= 0 &&
      settings.largest > 0 && settings.patience.count() >= 0) {
    return;
  }
  throw argument_error(
      fmt::format("drift cannot be noticed with a threshold of {}, {} runs, {} "
                  "repeats, {} for the largest and "
                  "{} ns of patience; repeats and patience are not negative, "
                  "the others positive",
                  settings.threshold, settings.runs, settings.repeats, settings.largest,
                  settings.patience.count()));
}

int drift_monitor::runs(double spread) const noexcept {
  const double factor = std::clamp(spread / usual_spread, 1.0, double{most_times});
  const double wanted = std::ceil(settings_.runs * factor);
  if (!(score_ > run_time::zero())) return static_cast<int>(wanted);
  const double affordable = std::floor(longest_visit / score_);
  return static_cast<int>(std::clamp(affordable, double(settings_.runs), wanted));
}

double drift_monitor::tolerance(double spread) const noexcept {
  const double error = spread * median_error(static_cast<std::size_t>(runs(spread)));
  return settings_.threshold + deviation * std::numbers::sqrt2 * error;
}

bool drift_monitor::is_disturbed(double level, double spread) const noexcept {
  const double chance = tolerance(spread) - settings_.threshold;
  return given_up_ <= most_given_up &&
         std::log(level) > reference_ + std::log1p(settings_.largest) + chance;
}

drift_verdict drift_monitor::open(const samples& sentinel, double spread, run_time score) {
  assert(sentinel.valid() && score > run_time::zero());
  now_ = visit_time(sentinel, spread) / score;
  // The score came from few runs, and was selected for being good: only a much slower visit counts
  // as disturbed.
  const double chance = score_error * (tolerance(spread) - settings_.threshold);
  const double change = std::log(now_ / before_);
  if (change > std::log1p(settings_.largest) + chance && may_wait(sentinel)) {
    return drift_verdict::disturbed;
  }
  waited_ = run_time::zero();
  // The difference from the previous sentinel is a property of the new one.
  reference_ += change;
  fastest_ += change;
  slowest_ += change;
  score_ = score;
  before_ = now_;
  smooth_ = std::log(now_);
  alike_ = 1;
  return drift_verdict::steady;
}

drift_verdict drift_monitor::close(const samples& sentinel, double spread) {
  assert(sentinel.valid() && score_ > run_time::zero());
  const bool waited = waited_ > run_time::zero();
  now_ = visit_time(sentinel, spread) / score_;
  movement_ = std::abs(std::log(now_ / before_));
  report_.blocks += waited ? 0 : 1;
  if (has_to_wait(sentinel, spread)) {
    if (waited) return drift_verdict::disturbed;
    ++report_.moved;
    ++report_.disturbed;
    report_.largest = std::max(report_.largest, movement_);
    return drift_verdict::disturbed;
  }
  const bool is_steady = movement_ <= tolerance(spread);
  level_ = std::exp(is_steady ? smoothed_level(spread) : std::log(before_ * now_) / 2);
  before_ = now_;
  if (waited || is_steady) {
    moved_in_a_row_ = 0;
    return drift_verdict::steady;
  }
  ++report_.moved;
  report_.largest = std::max(report_.largest, movement_);
  if (++moved_in_a_row_ <= settings_.repeats) return drift_verdict::moved;
  ++report_.unresolved;
  return drift_verdict::unresolved;
}

// Judges the latest visit. Waiting takes no longer than all other measurements; after the patience,
// the device is assumed to have become slower. Short runs are limited by their number.
bool drift_monitor::has_to_wait(const samples& visit, double spread) {
  note();
  has_calmed_ = false;
  const bool disturbed = is_disturbed(now_, spread);
  if (disturbed && may_wait(visit)) return true;
  waited_ = run_time::zero();
  if (disturbed) {
    reference_ = std::log(now_);
    ++given_up_;
    ++report_.unresolved;
  } else {
    spend(total(visit), static_cast<int>(visit.size()));
    follow(spread);
  }
  return false;
}

bool drift_monitor::may_wait(const samples& visit) {
  waited_ += total(visit);
  waited_in_all_ += total(visit);
  waited_runs_ += static_cast<double>(visit.size());
  return waited_ <= settings_.patience && waited_in_all_ <= spent_ + settings_.patience &&
         waited_runs_ <= waiting_part * spent_runs_ + most_waiting;
}

void drift_monitor::spend(run_time time, int runs) noexcept {
  spent_ += time;
  spent_runs_ += runs;
}

void drift_monitor::settle(double jump, bool decided) noexcept {
  report_.jumping = true;
  report_.largest = std::max(report_.largest, jump);
  report_.unresolved = decided ? 0 : 1;
}

// The logarithm of the level of a steady block. Two agreeing visits replace the earlier ones if
// they differ from them by more than chance.
double drift_monitor::smoothed_level(double spread) {
  const double pair = std::log(before_ * now_) / 2;
  const double before = smooth_;
  const double part = follow_part(spread);
  has_jumped_ = std::abs(pair - smooth_) > tolerance(spread);
  is_one_level_ = part < one_level;
  if (has_jumped_) {
    alike_ = 2;
    return smooth_ = pair;
  }
  smooth_ += std::max(part, 1.0 / ++alike_) * (std::log(now_) - smooth_);
  return is_one_level_ ? smooth_ : (before + smooth_) / 2;
}

// The part of a visit's difference from earlier ones that is not chance, given the device's typical
// movement between two visits, half the threshold, and the error of a visit.
double drift_monitor::follow_part(double spread) const {
  const double drift = settings_.threshold / 2;
  const double error = spread * median_error(static_cast<std::size_t>(runs(spread)));
  return drift * drift / (drift * drift + error * error);
}

void drift_monitor::follow(double spread) {
  const double level = std::log(now_);
  const double far = std::log1p(settings_.largest) + tolerance(spread) - settings_.threshold;
  has_calmed_ = level < reference_ - far && given_up_ <= most_given_up;
  const double part = has_calmed_ ? 1 : level < reference_ ? follow_faster : follow_slower;
  reference_ += part * (level - reference_);
}

void drift_monitor::note() {
  fastest_ = std::min(fastest_, std::log(now_));
  slowest_ = std::max(slowest_, std::log(now_));
  report_.range = std::expm1(slowest_ - fastest_);
}

}  // namespace tune
