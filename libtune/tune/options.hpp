// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "libtune/device/context.hpp"
#include "libtune/measure/timing/settings.hpp"
#include "libtune/search/strategy/strategy.hpp"
#include "libtune/store/database/match.hpp"
#include "libtune/tune/tuning_budget.hpp"

namespace tune {

class observer;

/// What happens when the database has no result.
enum class tuning_mode : std::uint8_t {
  tune,      ///< tune now, and store the result
  resume,    ///< the same, and go on with a search that its budget ended
  cached,    ///< never tune: not_tuned_error; nothing is written
  defaults,  ///< never tune: use the declared test default
  force,     ///< do not look, always tune, and store the result
};

/// Where a search runs.
enum class isolation_mode : std::uint8_t {
  automatic,  ///< in a child process where that is possible (tune/remote/serve_if_worker.hpp)
  on,         ///< the same, and an error where it is not
  off,        ///< in this process
};

/// How long a configuration may keep a child process busy before that is ended and replaced. For
/// what it does at once, generating it, its first run or a batch of samples: the longer of the
/// floor and the multiple of what so many runs should take, of the fastest so far or of itself if
/// its time is known. Where it is generated, what the compiler may take comes on top.
struct watchdog_settings {
  /// Empty: what LIBTUNE_TRIAL_TIME says, else default_trial_time.
  std::optional<std::chrono::milliseconds> floor{};
  double multiple = 20;  ///< one at least
};

/// What watchdog_settings::floor is by default.
inline constexpr std::chrono::seconds default_trial_time{10};

/// Whose results are checked, where the author's function says how.
enum class result_check : std::uint8_t {
  every,      ///< of each configuration, before it is measured
  finalists,  ///< of each that would take the lead or reaches the final round: a wrong one is
              ///< dropped before it can beat a right one
  none,  ///< of none: the winner may be wrong
};

/// What tuning_options::wait is by default.
inline constexpr std::chrono::minutes default_wait{10};

/// How an application wants autotuners to behave. What is left empty is taken from the
/// environment (LIBTUNE_DB, LIBTUNE_SYSTEM_DB, LIBTUNE_MATCH, LIBTUNE_MODE, LIBTUNE_BUDGET,
/// LIBTUNE_WAIT, LIBTUNE_ISOLATION, LIBTUNE_TRIAL_TIME), read anew each time, else the default.
struct tuning_options {
  std::optional<std::string> database{};  ///< the path of the tuning database
  /// The paths of databases to look in after that one, in this order. They are only read, without
  /// locks, so nothing may change them meanwhile.
  std::optional<std::vector<std::string>> system_databases{};
  std::optional<match_mode> match{};  ///< whose results count; exact by default
  std::optional<tuning_mode> mode{};  ///< what happens without a result; tune by default
  /// How long to wait for a thread or process that tunes the same key, before the nearest result or
  /// the test default is used, and for one that measures on the same device.
  std::optional<std::chrono::milliseconds> wait{};
  std::optional<tuning_budget> budget{};  ///< what each search may cost
  /// How long the compiler may take for one program, where it is a helper process that compiles.
  std::chrono::milliseconds compile_time = std::chrono::minutes(1);
  std::optional<isolation_mode> isolation{};  ///< empty: what LIBTUNE_ISOLATION says
  watchdog_settings watchdog{};               ///< counts where a child process tunes
  result_check verify = result_check::every;  ///< whose results are checked
  measure_settings measure{};  ///< how often one configuration is run; bounds what race says
  race_settings race{};        ///< how the best is told from the others
  std::string strategy{};     ///< see strategy_names; empty: by the space's size, see choose_search
  strategy_options search{};  ///< seed, limits and first proposals of the strategy
  std::vector<std::shared_ptr<observer>> observers{};  ///< called in this order; none is null
};

/// Makes these the options of every autotuner that is called for this context, or for any copy of
/// the handle, from now on. They win over the environment. Thread-safe.
void set_tuning_options(const context& context, tuning_options options);

/// The options of a context; those that say nothing, if none have been set.
std::shared_ptr<const tuning_options> tuning_options_of(const context& context);

}  // namespace tune
