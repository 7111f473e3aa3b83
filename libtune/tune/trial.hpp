// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "libtune/base/metric.hpp"
#include "libtune/base/value.hpp"
#include "libtune/measure/timing/samples.hpp"

namespace tune {

/// The outcome of a configuration.
enum class outcome : std::uint8_t {
  measured,        ///< it ran, its result was right or not looked at, and it has a time
  skipped,         ///< the author's function returned no measure for it
  over_limit,      ///< it asks for more than the device has
  compile_failed,  ///< its kernel does not compile
  launch_failed,   ///< the device refused to run it
  wrong_result,    ///< its result differs from the answer
  invalid_time,    ///< its time is NaN, infinite, zero or negative
  failed,          ///< something else was thrown
  timed_out,       ///< it, or the compiler for it, took so long that it was stopped
  crashed,         ///< it, or the compiler for it, took down the process that it ran in
  device_fault,    ///< it left the device's context beyond repair
  out_of_memory,   ///< the process that it ran in found no memory, or was ended for want of it
  unfit,           ///< it breaks a constraint of the goal, or has no value by which it could win
};

/// Returns the words of an outcome ("compile failed"). They are stored: never change one.
std::string_view outcome_name(outcome result) noexcept;

/// The origin of the outcome of a trial.
enum class trial_origin : std::uint8_t {
  made,     ///< it was tried in this search
  resumed,  ///< it was tried in an unfinished search, which this one continues
  cached,   ///< it was not tried: it is known not to compile with this compiler, or is denied
};

/// Returns the outcome of these words; empty if no outcome has them.
std::optional<outcome> outcome_from_name(std::string_view name) noexcept;

/// The metric of a trial that was measured beside a running application (tuning_mode::behind): its
/// times are not those of an undisturbed device.
inline constexpr const char* measured_behind = "measured_behind";
/// The metric of one that was left out there, because a run of it takes too long. A search of an
/// undisturbed device tries it.
inline constexpr const char* deferred_behind = "deferred_behind";

/// One configuration that was tried.
struct trial {
  std::size_t index = 0;                     ///< its number in the space
  std::vector<named_value> configuration;    ///< every field of the tuning struct
  tune::outcome outcome = outcome::skipped;  ///< its outcome
  std::string reason;     ///< why it has no time; if it has one, metrics that could not be computed
  tune::samples samples;  ///< the times, empty unless it was measured
  std::optional<run_time> score;     ///< the median of the samples; set if it was measured
  std::optional<interval> bounds{};  ///< the score's confidence interval, if it is known
  bool dropped = false;  ///< eliminated: measured only until it was clear that it cannot win
  std::chrono::nanoseconds preparation{0};   ///< from its start until it could be run
  std::chrono::nanoseconds elapsed{0};       ///< from its start to its end
  trial_origin origin = trial_origin::made;  ///< the origin of the outcome
  std::vector<std::string> programs{};       ///< digests of what was compiled for it, in order
  /// The ratio of times on the device now to those when the search began, as far as an interruption
  /// has shown it. Times from before and after an interruption compare once divided by it.
  double level = 1;
  /// The figures of it beside its time, each name once.
  std::vector<metric> metrics{};
};

}  // namespace tune
