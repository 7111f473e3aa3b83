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
#include "libtune/search/strategy/strategy.hpp"
#include "libtune/store/database/match.hpp"
#include "libtune/tune/goal.hpp"
#include "libtune/tune/metric_sources.hpp"
#include "libtune/tune/search_defaults.hpp"
#include "libtune/tune/tuning_budget.hpp"

namespace tune {

class observer;

/// The action of an autotuner when the database has no result.
enum class tuning_mode : std::uint8_t {
  tune,      ///< tune now, and store the result
  resume,    ///< like tune, and continue a search that its budget ended
  cached,    ///< never tune: not_tuned_error; nothing is written
  defaults,  ///< never tune: use the declared test default
  force,     ///< always tune, without a lookup, and store the result
  /// Return the nearest result or the default at once, and tune while the application runs.
  behind,
};

/// The process in which a search runs.
enum class isolation_mode : std::uint8_t {
  automatic,  ///< runs searches in a child process if possible (child.hpp)
  on,         ///< runs searches in a child process; an error if that is not possible
  off,        ///< runs searches in this process
};

/// The longest time of one step of a configuration in a child process; after it the child is killed
/// and replaced. A step is a generation, a first run or a batch of samples. Its limit is the larger
/// of the floor and the multiple of the expected time of its runs. That expectation follows from
/// the fastest configuration so far, and from the configuration's own time if known. A generation
/// may take tuning_options::compile_time more; if the floor is given, only while it compiles.
struct watchdog_settings {
  /// LIBTUNE_TRIAL_TIME overrides it; default_trial_time by default.
  std::optional<std::chrono::milliseconds> floor{};
  double multiple = 20;  ///< one at least
};

/// The default of watchdog_settings::floor.
inline constexpr std::chrono::seconds default_trial_time{10};

/// The default of tuning_options::wait.
inline constexpr std::chrono::minutes default_wait{10};

/// The pace of searches behind a running application (tuning_mode::behind).
struct behind_settings {
  /// The part of the device's time for them, above 0, at most 1. LIBTUNE_SHARE overrides it;
  /// default_share by default.
  std::optional<double> share{};
  /// The longest time for which they use the device at once. A run is never divided: configurations
  /// with longer runs run in idle windows only. LIBTUNE_SLICE overrides it; default_slice by
  /// default.
  std::optional<std::chrono::microseconds> slice{};
  /// The tolerated excess of the interval between two heartbeats, as a part of the usual interval
  /// or of the declared period; above it the tuner slows down. LIBTUNE_SLACK overrides it;
  /// default_slack by default.
  std::optional<double> slack{};
};

/// The default of behind_settings::share.
inline constexpr double default_share = 0.05;
/// The default of behind_settings::slice, and that on a CPU, whose time the operating system
/// divides among processes.
inline constexpr std::chrono::milliseconds default_slice{1};
inline constexpr std::chrono::milliseconds default_slice_on_cpu{50};
/// The default of behind_settings::slack.
inline constexpr double default_slack = 0.2;

/// The value of tuning_options::ready without a limit.
inline constexpr std::chrono::nanoseconds no_ready_limit = std::chrono::nanoseconds::max();

/// The options of an application for its autotuners. The environment overrides them (LIBTUNE_DB,
/// LIBTUNE_SYSTEM_DB, LIBTUNE_SHARED_DB, LIBTUNE_SHARED_DB_ACCESS, LIBTUNE_REPORT, LIBTUNE_LOCK,
/// LIBTUNE_MATCH, LIBTUNE_MODE, LIBTUNE_STRATEGY, LIBTUNE_BUDGET, LIBTUNE_GOOD_ENOUGH,
/// LIBTUNE_READY, LIBTUNE_EARLY_END, LIBTUNE_TUNING_MEMORY, LIBTUNE_WAIT, LIBTUNE_ISOLATION,
/// LIBTUNE_TRIAL_TIME, LIBTUNE_SHARE, LIBTUNE_SLICE, LIBTUNE_SLACK) and is read at each call. An
/// empty member stands for the value from the author of the operation (search_defaults), else the
/// default.
struct tuning_options {
  std::optional<std::string> database{};  ///< the path of the tuning database
  /// The paths of databases to search after that one, in this order. They are read without locks,
  /// so they must not change meanwhile.
  std::optional<std::vector<std::string>> system_databases{};
  /// The URL of a database that machines share: "postgresql://user@host/database"
  /// (docs/database.md). Results missing in the databases above are looked up there. Empty: no such
  /// database.
  std::optional<std::string> shared_store{};
  std::optional<bool> push_results{};  ///< pushes new results to it; false by default
  /// The path of an HTML page about the searches of this process, written while they run
  /// (docs/report.md). Empty: no page.
  std::optional<std::string> report{};
  /// The path of a lock file (tunedb lock). Only its results are used: nothing else is looked up
  /// and nothing is tuned, in any mode. A key without an entry throws not_locked_error. Empty: no
  /// lock file.
  std::optional<std::string> lock{};
  std::optional<match_mode> match{};  ///< the devices whose results count; exact by default
  std::optional<tuning_mode> mode{};  ///< the action without a result; tune by default
  /// The longest wait for a thread or process that tunes the same key, after which the nearest
  /// result or the test default is used; also the longest wait for one that measures on the same
  /// device.
  std::optional<std::chrono::milliseconds> wait{};
  /// The limits of each search. They and the limits in `search` are one option: a budget of the
  /// environment replaces both.
  std::optional<tuning_budget> budget{};
  /// The longest time of each search, beside the limits of the budget or of the author.
  std::optional<std::chrono::nanoseconds> longest_search{};
  /// The time for which all searches of the process together may hold up its threads
  /// (docs/ready.md). A search may take a quarter of the rest, and at least a twentieth of the
  /// whole. When the time is used up, a key without a result uses the nearest result that works or
  /// the test default, and is tuned behind the program if it links libtune::behind. LIBTUNE_READY
  /// overrides it; no_ready_limit by default.
  std::optional<std::chrono::nanoseconds> ready{};
  /// The device memory that a tuning may hold; by default the memory free at its start, less a
  /// reserve for the application (a quarter of that, and at least 256 MiB).
  std::optional<memory_budget> memory{};
  /// The compiler's longest time for one program in a helper process.
  std::chrono::milliseconds compile_time = std::chrono::minutes(1);
  std::optional<isolation_mode> isolation{};  ///< where searches run; automatic by default
  watchdog_settings watchdog{};               ///< used only if a child process tunes
  /// The results to check; every by default, and always if the goal judges them: by their bits or
  /// their accuracy.
  std::optional<result_check> verify{};
  /// The runs and the time of one configuration. They bound the race's.
  std::optional<measure_settings> measure{};
  race_settings race{};       ///< the race that finds the best configuration
  std::string strategy{};     ///< see strategy_names; empty: by the space's size, see choose_search
  strategy_options search{};  ///< seed, limits and first proposals of the strategy
  std::vector<std::shared_ptr<observer>> observers{};  ///< called in this order; none is null
  /// Objectives and constraints. LIBTUNE_OBJECTIVE overrides them, and they override the goal that
  /// the author declares with the autotuner. The default is the least time.
  std::optional<tuning_goal> goal{};
  metric_sources metrics{};  ///< the computed metrics and probes of each search
  behind_settings behind{};  ///< used only in the mode behind
  /// The source of these options: application or command. With command the environment overrides no
  /// member that is set.
  option_source given_by = option_source::application;
  /// Set by the library: the environment variables used in place of members.
  std::vector<std::string> from_environment{};
};

/// Sets the options of every later autotuner call for this context, or for any copy of the handle.
/// Thread-safe.
void set_tuning_options(const context& context, tuning_options options);

/// Returns the options of a context; empty options if none were set.
std::shared_ptr<const tuning_options> tuning_options_of(const context& context);

}  // namespace tune
