// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "libtune/base/value.hpp"
#include "libtune/child/serve_if_worker.hpp"
#include "libtune/device/device.hpp"
#include "libtune/store/database/function_identity.hpp"
#include "libtune/tune/observer.hpp"
#include "libtune/tune/options.hpp"

namespace tune {

/// A result of a database that is to be compared again on a device of this machine.
struct stored_winner {
  function_identity function{};    ///< the autotuner; its name includes the goal
  std::vector<named_value> key{};  ///< in the order of function.key_fields
  device_identity device{};        ///< the device of this machine
  device_identity stored_for{};    ///< the device of the result: the same, or with other software
  std::vector<named_value> values{};  ///< the tuning
  std::optional<double> score_ns{};   ///< its stored time in nanoseconds, if it was measured
};

/// A selection of the results of a database.
struct winner_choice {
  /// Returns true for the key of a result to compare; empty: all.
  std::function<bool(const function_identity&, const std::vector<named_value>& key)> takes{};
  std::string driver{};  ///< only results of this driver; empty: of any
};

/// The selected results.
struct found_winners {
  std::vector<stored_winner> winners{};
  std::size_t of_other_devices = 0;  ///< results of devices that are not here
};

/// Reads the selected results for devices from a database, by function and key. Results of the same
/// device with another driver, compiler or clocks count; of several for one key the nearest is
/// read, the one that a lookup would find. Changes nothing.
/// @throws database_error; argument_error for an invalid path
found_winners find_winners(const std::string& database, const winner_choice& choice,
                           std::span<const device> devices);

/// The verdict of a comparison, the worst first.
enum class recheck_verdict : std::uint8_t {
  wrong,    ///< the result does not work: recheck_result::fault has the outcome
  lost,     ///< another configuration is faster, by more than the tolerance
  unknown,  ///< the comparison failed, was ended, or is too inaccurate
  skipped,  ///< no comparison: the program has no use for the result
  holds     ///< it is the best, or within the tolerance of the best
};

/// "wrong", "lost", "unknown", "skipped" or "holds".
std::string_view recheck_verdict_name(recheck_verdict verdict) noexcept;

/// The slowdown against the best: 0.05 is 5 %.
struct recheck_loss {
  double estimate = 0;
  double lower = 0;               ///< a bound, with a confidence of 99 % or more
  std::optional<double> upper{};  ///< the other bound; empty: unknown
  friend bool operator==(const recheck_loss&, const recheck_loss&) = default;
};

/// The decision about a result that is new on this machine (canary.hpp).
enum class canary_decision : std::uint8_t {
  none,       ///< none was made
  promoted,   ///< it becomes the result of the shared store
  withdrawn,  ///< it does not
  kept,       ///< the shared result is as good and stays
  undecided
};

/// "none", "promoted", "withdrawn", "kept" or "undecided".
std::string_view canary_decision_name(canary_decision decision) noexcept;

/// A configuration that a stored result was compared with.
struct recheck_rival {
  std::vector<named_value> configuration{};
  tune::outcome outcome = tune::outcome::skipped;
  std::string reason{};             ///< the reason for a missing time
  bool is_at_fault = false;         ///< it does not work here, also with more memory
  std::optional<run_time> score{};  ///< its time, if measured
  /// Its slowdown against the stored result; empty unless both were measured.
  std::optional<recheck_loss> loss{};
};

/// The result of recheck for one stored result.
struct recheck_result {
  stored_winner winner{};
  tuning_subject subject{};  ///< the function, key and device of this machine
  recheck_verdict verdict = recheck_verdict::unknown;
  std::optional<outcome> fault{};  ///< of a wrong result
  canary_decision decision = canary_decision::none;
  bool is_stopped = false;  ///< recheck_options::stop has ended it before it had a verdict
  bool is_stored = false;   ///< the best has been stored as the result (recheck_options::repair)
  std::string reason{};     ///< in words; empty if the verdict says all
  std::optional<run_time> score{};  ///< the present time of the result, if measured
  /// The best configuration of the comparison, which may be the result; empty if none works.
  std::vector<named_value> best{};
  std::optional<run_time> best_score{};  ///< its time
  std::optional<recheck_loss> loss{};    ///< empty unless both were measured
  /// The others of the first comparison, in the order of their trials.
  std::vector<recheck_rival> rivals{};
  std::size_t compared = 0;             ///< configurations with a time, the result included
  std::vector<std::string> doubts{};    ///< uncertainties, for users: an unsteady device
  std::string store_failure{};          ///< the reason why it could not be stored
  std::string decision_reason{};        ///< in words
  std::string decision_failure{};       ///< the reason why the decision is not in the shared store
  std::chrono::nanoseconds elapsed{0};  ///< the time from its start to its end
};

/// Receives the progress of recheck. The calls come from several threads, one at a time. Does not
/// throw.
class recheck_listener {
 public:
  recheck_listener() = default;
  virtual ~recheck_listener() = default;
  recheck_listener(const recheck_listener&) = delete;
  recheck_listener& operator=(const recheck_listener&) = delete;

  /// Called first, with the number of results.
  virtual void planned(std::size_t /*count*/) {}
  /// A comparison is started. The number is the index of its result in the list of recheck.
  virtual void began(std::size_t /*number*/, const tuning_subject&) {}
  /// A comparison has ended, with any verdict.
  virtual void ended(std::size_t /*number*/, const recheck_result&) {}
};

/// The options of recheck.
struct recheck_options {
  /// The options of the comparisons. The database must be given, here or by the environment.
  tuning_options tuning{};
  std::size_t runners_up = 4;  ///< the most stored trials that a result is compared with
  /// Returns further configurations to compare a result with, before all others. May be empty.
  /// Called by several threads at the same time.
  std::function<std::vector<std::vector<named_value>>(const stored_winner&)> rivals{};
  double within = 0.02;  ///< a smaller slowdown counts as a tie: 0.02 is 2 %
  /// The device time to compare one key. Compilations and the first runs, which check the results,
  /// are not included.
  std::chrono::nanoseconds time = std::chrono::seconds(1);
  /// Stores the best configuration as the result for the present device where the result is wrong
  /// or lost, or is a result of other software (driver, compiler) that holds.
  bool repair = false;
  std::function<bool()> stop{};  ///< called often, by several threads; true ends all comparisons
  recheck_listener* listener = nullptr;  ///< not owned, must outlive the call; null: no listener
};

/// Compares stored results again with their runners-up and the test default, in child processes of
/// a program: each configuration is checked and measured as in a search, and nothing else is tried.
/// A loss is confirmed by a second comparison of the two configurations alone. Equal devices share
/// the keys, and a device keeps its child for the next key. A failure for one key does not affect
/// others.
///
/// Stores nothing except with recheck_options::repair. Calls of other autotuners within the
/// functions use the nearest stored result, and are never tuned.
///
/// Blocks the calling thread.
/// @param program  a program whose main begins with serve_if_worker
/// @param winners  the stored results (find_winners)
/// @param devices  the devices to compare on
/// @returns for each stored result, in order, its verdict
/// @throws argument_error if no database is set; environment_error; tuner_unavailable_error if the
///         program serves no requests; with repair database_error if nothing can be stored
std::vector<recheck_result> recheck(const tuner_program& program,
                                    std::span<const stored_winner> winners,
                                    std::span<const device> devices,
                                    const recheck_options& options);

}  // namespace tune
