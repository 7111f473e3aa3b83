// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/exchange/duration.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <fmt/format.h>

namespace tune {

std::string format_run_time(run_time time) {
  double value = time.count();
  if (!std::isfinite(value)) return fmt::format("{}", value);
  const char* unit = "ns";
  for (const char* larger : {"us", "ms", "s"}) {
    if (std::abs(value) < 999.5) break;
    value /= 1000;
    unit = larger;
  }
  const int decimals = std::abs(value) < 9.995 ? 2 : std::abs(value) < 99.95 ? 1 : 0;
  return fmt::format("{:.{}f} {}", value, decimals, unit);
}

std::string format_clock(std::chrono::nanoseconds time) {
  const auto total =
      std::max(std::chrono::duration_cast<std::chrono::seconds>(time).count(), std::int64_t{0});
  const auto seconds = total % 60;
  const auto minutes = total / 60 % 60;
  if (total < 3600) return fmt::format("{}:{:02}", minutes, seconds);
  return fmt::format("{}:{:02}:{:02}", total / 3600, minutes, seconds);
}

}  // namespace tune
