// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/measure/drift_monitor.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <fmt/format.h>
#include <numbers>

#include "libtune/base/error.hpp"
#include "libtune/measure/confidence_interval.hpp"

namespace tune {
namespace {

constexpr double usual_spread = 0.01;
constexpr int most_times = 3;
// Of two visits; as many standard errors are seen by chance once in 22 blocks, and cost a visit.
constexpr double deviate = 2;

}  // namespace

std::string drift_text(const drift_report& report) {
  if (report.moved == 0) return {};
  std::string text = fmt::format(
      "the device became faster or slower, by up to {:.1f} % at once, in {} of {} blocks of "
      "measurements, which were measured again",
      100 * report.largest, report.moved, report.blocks);
  if (report.settled()) return text;
  return text + fmt::format(
                    "; {} of them could not be settled, so the scores are less certain: measure "
                    "when nobody else uses the device, or with its clocks fixed",
                    report.unsettled);
}

drift_monitor::drift_monitor(const drift_settings& settings) : settings_(settings) {
  if (settings.threshold > 0 && settings.runs > 0 && settings.repeats >= 0) return;
  throw argument_error(fmt::format(
      "drift cannot be noticed with a threshold of {}, {} runs and {} repeats; the first two are "
      "positive, the last is not negative",
      settings.threshold, settings.runs, settings.repeats));
}

int drift_monitor::runs(double spread) const noexcept {
  const double factor = std::clamp(spread / usual_spread, 1.0, double{most_times});
  return static_cast<int>(std::ceil(settings_.runs * factor));
}

double drift_monitor::tolerance(double spread) const noexcept {
  const double error = spread * median_error(static_cast<std::size_t>(runs(spread)));
  return settings_.threshold + deviate * std::numbers::sqrt2 * error;
}

void drift_monitor::open(const samples& sentinel) {
  assert(sentinel.valid());
  const run_time now = sentinel.median();
  // Another sentinel tells nothing new about the level, only its own time.
  if (opened_ > run_time::zero()) offset_ += std::log(before_ / opened_);
  opened_ = before_ = level_ = now;
}

drift_verdict drift_monitor::close(const samples& sentinel, double spread) {
  assert(sentinel.valid() && before_ > run_time::zero());
  const run_time after = sentinel.median();
  ++report_.blocks;
  movement_ = std::abs(std::log(after / before_));
  level_ = run_time(std::sqrt(before_.count() * after.count()));
  before_ = after;
  note(after);
  if (movement_ <= tolerance(spread)) {
    moved_in_a_row_ = 0;
    return drift_verdict::steady;
  }
  ++report_.moved;
  report_.largest = std::max(report_.largest, movement_);
  if (++moved_in_a_row_ <= settings_.repeats) return drift_verdict::moved;
  ++report_.unsettled;
  return drift_verdict::unsettled;
}

void drift_monitor::note(run_time visit) {
  const double now = offset_ + std::log(visit / opened_);
  fastest_ = std::min(fastest_, now);
  slowest_ = std::max(slowest_, now);
  report_.range = std::expm1(slowest_ - fastest_);
}

}  // namespace tune
