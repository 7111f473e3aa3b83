// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "libtune/base/value.hpp"
#include "libtune/child/serve_if_worker.hpp"
#include "libtune/device/device.hpp"
#include "libtune/extra/ahead/communicator.hpp"
#include "libtune/store/database/function_identity.hpp"
#include "libtune/tune/observer.hpp"
#include "libtune/tune/options.hpp"

namespace tune {

/// A key to be tuned.
struct pretuning_item {
  function_identity function{};             ///< the autotuner
  std::vector<named_value> key{};           ///< in the order of function.key_fields
  std::optional<device_identity> device{};  ///< for devices of this identity; empty: for all
  bool again = false;  ///< also if it has a result, which stays until the new one is there
};

/// The outcome for a key on one kind of device.
enum class pretuning_state : std::uint8_t {
  tuned,    ///< searched, and stored
  present,  ///< the database had a result
  failed,   ///< pretuning_result::reason says why
  stopped   ///< before its end; the next search for it continues with its trials
};

/// "tuned", "present", "failed" or "stopped".
std::string_view pretuning_state_name(pretuning_state state) noexcept;

/// The result of pretune for one key on one kind of device.
struct pretuning_result {
  tuning_subject subject{};  ///< the device is one of those that share the result
  pretuning_state state = pretuning_state::stopped;  ///< its outcome
  std::string reason{};                              ///< why it failed or was stopped
  std::vector<named_value> values{};                 ///< the tuning, if there is one
  std::optional<run_time> score{};                   ///< the time of the winner, where known
  std::size_t trials = 0;                            ///< configurations that were tried now
  std::chrono::nanoseconds elapsed{0};               ///< from its start to its end
};

/// Receives the progress of pretune. The calls come from several threads, one at a time. Does not
/// throw.
class pretuning_listener {
 public:
  pretuning_listener() = default;
  virtual ~pretuning_listener() = default;
  pretuning_listener(const pretuning_listener&) = delete;
  pretuning_listener& operator=(const pretuning_listener&) = delete;

  /// Called before all else, with the number of results that there will be.
  virtual void planned(std::size_t /*count*/) {}
  /// A key is started. In all calls the number is the place of its result among those of pretune.
  virtual void began(std::size_t /*number*/, const tuning_subject&) {}
  /// The device that led its search has been lost, with its rank: another one starts it again, and
  /// goes on with what has been measured.
  virtual void lost(std::size_t /*number*/, const std::string& /*reason*/) {}
  /// The state of its search has changed.
  virtual void progressed(std::size_t /*number*/, const search_progress&) {}
  /// It has ended, in whatever state.
  virtual void ended(std::size_t /*number*/, const pretuning_result&) {}
};

/// The options of pretune.
struct pretuning_options {
  /// Of all searches. The database has to be named, or to follow from the environment; observers
  /// are called from several threads.
  tuning_options tuning{};
  bool force = false;            ///< tunes keys that have a result too, and ignores earlier trials
  std::function<bool()> stop{};  ///< called often, by several threads; true ends all
  pretuning_listener* listener = nullptr;  ///< not owned, outlives the call; null: none
  /// The ranks that share the keys; not owned; null: this process alone. Each calls pretune, with
  /// the same items and its own devices and database. One rank leads: the first, and where that is
  /// lost the next. Its items and options are those that count, and its listener alone is called.
  communicator* ranks = nullptr;
  /// A rank that has not answered for so long is lost to the others, though its process lives: it
  /// is stopped, or its machine is at a standstill. The time in which this rank itself does not run
  /// does not count. By default three times what one step of a configuration may take
  /// (tuning_options::watchdog), and three seconds at least; the same for all ranks.
  std::optional<std::chrono::milliseconds> longest_silence{};
};

/// Returns the number of results of pretune: one for each item and kind of device that it fits.
std::size_t count_pretunings(std::span<const pretuning_item> items,
                             std::span<const device> devices);

/// Tunes keys of a program for devices, all at the same time, in child processes, and stores the
/// results as if the program had tuned when it needs them. A device keeps its child for the next
/// key.
///
/// A key is tuned once for all devices that are alike (their identities are equal): such devices
/// share the keys, and where there are fewer keys than devices they divide the search for one;
/// then one of them measures the best of each again, and decides. Trials are stored at once. A key
/// that cannot be tuned does not affect others.
///
/// A shared store (tuning_options::shared_store) is asked for each key that is not in the database.
/// A result for a device of this kind is copied to the database, and is present then.
///
/// With ranks (pretuning_options::ranks) this is so for the devices of all of them. The databases
/// of all ranks are asked first, so that a key is present if one of them has it. In the end each
/// has the same results and searches for these keys, and each call returns the same results. A rank
/// that is lost costs the trials that it was measuring: others go on with its keys. Only with the
/// rank that leads are all trials of unfinished searches lost for ranks with other databases. A
/// rank that does not answer (longest_silence) is lost too; when it runs again its call returns,
/// with what it had not finished as stopped, and communicator::is_left_out is true. A rank whose
/// stop returns true leaves; the others go on, unless it leads.
///
/// Blocks the calling thread.
/// @param program  one whose main begins with serve_if_worker
/// @param items    the keys, each for all devices or for those of one identity
/// @param devices  to tune on, of any kinds
/// @param options  for all searches
/// @returns for each item, in order, its result on each kind of device
/// @throws argument_error if no database is set; environment_error; no_device_error if no rank has
///         a device; database_error before the first search if nothing can be stored in the
///         database, or later if the results of other ranks cannot be stored
std::vector<pretuning_result> pretune(const tuner_program& program,
                                      std::span<const pretuning_item> items,
                                      std::span<const device> devices,
                                      const pretuning_options& options);

}  // namespace tune
