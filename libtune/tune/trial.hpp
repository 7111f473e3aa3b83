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
#include "libtune/measure/work.hpp"

namespace tune {

/// The outcome of a configuration.
enum class outcome : std::uint8_t {
  measured,        ///< it ran, its result was right or not checked, and it has a time
  skipped,         ///< the author's function returned no measure for it
  over_limit,      ///< it asks for more than the device has
  compile_failed,  ///< its kernel does not compile
  launch_failed,   ///< the device refused to run it
  wrong_result,    ///< its result differs from the answer
  invalid_time,    ///< its time is NaN, infinite, zero or negative
  failed,          ///< something else was thrown
  timed_out,       ///< it, or its compilation, took so long that it was stopped
  crashed,         ///< it, or its compilation, crashed the process that it ran in
  device_fault,    ///< it damaged the device's context beyond repair
  out_of_memory,   ///< its process ran out of memory, or was killed for lack of memory
  unfit,           ///< it breaks a constraint of the goal, or has no value of the objective
};

/// Returns the words of an outcome ("compile failed"). They are stored: never change one.
std::string_view outcome_name(outcome result) noexcept;

/// The origin of the outcome of a trial.
enum class trial_origin : std::uint8_t {
  made,     ///< it was tried in this search
  resumed,  ///< it was tried in an unfinished search, which this one continues
  cached,   ///< it was not tried: a known compile failure of this compiler, or denied
};

/// Returns the outcome with these words; empty for other words.
std::optional<outcome> outcome_from_name(std::string_view name) noexcept;

/// The metric of a trial that was measured while an application ran (tuning_mode::behind): its
/// times are not comparable with an undisturbed device's.
inline constexpr const char* measured_behind = "measured_behind";
/// The metric of a trial that was skipped there, because one run of it takes too long. A search of
/// an undisturbed device tries it.
inline constexpr const char* deferred_behind = "deferred_behind";

/// One configuration that was tried.
struct trial {
  std::size_t index = 0;                     ///< its number in the space
  std::vector<named_value> configuration;    ///< every field of the tuning struct
  tune::outcome outcome = outcome::skipped;  ///< its outcome
  /// The reason for a missing time; with a time, metrics that could not be computed.
  std::string reason;
  tune::samples samples;             ///< the times; empty unless it was measured
  std::optional<run_time> score;     ///< the median of the samples; set if it was measured
  std::optional<interval> bounds{};  ///< the score's confidence interval, if known
  bool dropped = false;              ///< eliminated: measured only until it could no longer win
  std::chrono::nanoseconds preparation{0};   ///< the time from its start until it could run
  std::chrono::nanoseconds elapsed{0};       ///< the time from its start to its end
  trial_origin origin = trial_origin::made;  ///< the origin of the outcome
  std::vector<std::string> programs{};       ///< digests of the programs compiled for it, in order
  /// The time on the device now divided by the time at the start of the search, if an interruption
  /// has shown a change. Divide times from before and after an interruption by it to compare them.
  double level = 1;
  /// The trial's figures other than the time, each name once.
  std::vector<metric> metrics{};
  /// The declared work of a run, in the process that measures it; nothing elsewhere.
  declared_work work{};
};

}  // namespace tune
