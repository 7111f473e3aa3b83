// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/behind/application_pace.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

#include "libtune/base/log.hpp"
#include "libtune/extra/behind/heartbeat.hpp"

namespace tune::detail {
namespace {

// The samples of a step take this part of the longest allowed run, because a frame is delayed by as
// much.
constexpr std::int64_t visits_of_slice = 4;

}  // namespace

void application_pace::set(const behind_settings& given, bool is_cpu) {
  has_told_ = false;
  slice_ = given.slice.value_or(is_cpu ? default_slice_on_cpu : default_slice);
  slack_ = given.slack.value_or(default_slack);
  const double share = std::clamp(given.share.value_or(default_share), 1e-4, 1.0);
  page_.share_ppm.store(static_cast<std::uint32_t>(std::lround(1e6 * share)));
  page_.slice_ns.store(slice_.count());
  page_.least_ns.store(is_cpu ? 0 : slice_.count() / visits_of_slice);
  set_visit();
  wake(page_);
}

void application_pace::look() {
  constexpr std::chrono::milliseconds between_looks{100};
  const auto now = clock::now();
  if (now - looked_ < between_looks || heartbeat_list::count() == 0) return;
  looked_ = now;
  set_visit();
  const auto suffers = heartbeat_list::look(slack_);
  if (!suffers) return;
  const double before = slowdown_.factor();
  slowdown_.look(*suffers);
  if (slowdown_.factor() == before) return;
  page_.slowdown_percent.store(static_cast<std::uint32_t>(std::lround(100 * slowdown_.factor())));
  if (before == 1 && !std::exchange(has_told_, true)) {
    log(log_level::info,
        "frames of the application are late while keys are tuned behind it; the tuner slows down");
  }
}

// A frame is delayed by the work in between, and by up to half a millisecond more. A run is never
// divided, so only the number of its repeats is reduced.
void application_pace::set_visit() noexcept {
  constexpr std::chrono::nanoseconds least = std::chrono::microseconds(50);
  std::chrono::nanoseconds visit = slice_ / visits_of_slice;
  const std::chrono::nanoseconds period = heartbeat_list::shortest_period();
  if (period.count() > 0) {
    const double half = 0.5 * slack_ * static_cast<double>(period.count());
    const std::chrono::nanoseconds fits(static_cast<std::int64_t>(half));
    visit = std::clamp(fits, std::min(least, visit), visit);
  }
  page_.visit_ns.store(std::max<std::int64_t>(1, visit.count()));
}

}  // namespace tune::detail
