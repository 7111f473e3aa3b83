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
  std::optional<device_identity> device{};  ///< only devices of this identity; empty: all
  bool again = false;  ///< also with a result, which stays until the new one is stored
};

/// The outcome for a key on one kind of device.
enum class pretuning_state : std::uint8_t {
  tuned,    ///< searched, and stored
  present,  ///< the database had a result
  failed,   ///< pretuning_result::reason says why
  stopped   ///< ended early; the next search for it continues with its trials
};

/// "tuned", "present", "failed" or "stopped".
std::string_view pretuning_state_name(pretuning_state state) noexcept;

/// The result of pretune for one key on one kind of device.
struct pretuning_result {
  tuning_subject subject{};                          ///< its device shares the result
  pretuning_state state = pretuning_state::stopped;  ///< its outcome
  std::string reason{};                              ///< the reason of a failure or stop
  std::vector<named_value> values{};                 ///< the tuning, if there is one
  std::optional<run_time> score{};                   ///< the time of the winner, if known
  std::size_t trials = 0;                            ///< the new trials
  std::chrono::nanoseconds elapsed{0};               ///< the time from its start to its end
};

/// Receives the progress of pretune. The calls come from several threads, one at a time. Does not
/// throw.
class pretuning_listener {
 public:
  pretuning_listener() = default;
  virtual ~pretuning_listener() = default;
  pretuning_listener(const pretuning_listener&) = delete;
  pretuning_listener& operator=(const pretuning_listener&) = delete;

  /// Called first, with the number of results.
  virtual void planned(std::size_t /*count*/) {}
  /// A key is started. In all calls the number is the index of its result in the list of pretune.
  virtual void began(std::size_t /*number*/, const tuning_subject&) {}
  /// The device that led the search for a key has been lost, with its rank. Another device starts
  /// the search again, and continues with the trials so far.
  virtual void lost(std::size_t /*number*/, const std::string& /*reason*/) {}
  /// The state of the search for a key has changed.
  virtual void progressed(std::size_t /*number*/, const search_progress&) {}
  /// The work for a key has ended, in any state.
  virtual void ended(std::size_t /*number*/, const pretuning_result&) {}
};

/// The options of pretune.
struct pretuning_options {
  /// The options of all searches. The database must be given, here or by the environment; observers
  /// are called from several threads.
  tuning_options tuning{};
  bool force = false;            ///< tunes keys that have a result too, and ignores earlier trials
  std::function<bool()> stop{};  ///< called often, by several threads; true stops all work
  pretuning_listener* listener = nullptr;  ///< not owned, must outlive the call; null: no listener
  /// The ranks that share the keys; not owned; null: this process alone. Each rank calls pretune,
  /// with the same items and its own devices and database. One rank leads: the first, and after its
  /// loss the next. Only the leading rank's items and options are used, and only its listener is
  /// called.
  communicator* ranks = nullptr;
  /// The time without an answer after which the others treat a rank as lost, even if its process
  /// lives: it may be stopped, or its machine may hang. Time in which this rank itself does not run
  /// does not count. The default is three times the limit of one step of a configuration
  /// (tuning_options::watchdog), and at least three seconds; the same for all ranks.
  std::optional<std::chrono::milliseconds> longest_silence{};
};

/// Returns the number of results of pretune: one for each item and matching kind of device.
std::size_t count_pretunings(std::span<const pretuning_item> items,
                             std::span<const device> devices);

/// Tunes keys of a program for devices, all at the same time, in child processes, and stores the
/// results as if the program had tuned them on first use. A device keeps its child for the next
/// key.
///
/// A key is tuned once for all devices with equal identities. Such devices share the keys; with
/// fewer keys than devices they divide the search for one, and then one device measures the best of
/// each again and decides. Trials are stored at once. A failed key does not affect others.
///
/// Keys missing in the database are looked up in a shared store (tuning_options::shared_store). A
/// result for a device of this kind is copied to the database, and its key is then present.
///
/// With ranks (pretuning_options::ranks) all this holds for the devices of all ranks. First the
/// databases of all ranks are read, so a key is present if one of them has it. In the end each
/// database has the same results and searches for these keys, and each call returns the same
/// results. A lost rank costs only the trials that it was measuring: others continue with its keys.
/// The loss of the leading rank costs ranks with other databases all trials of unfinished searches.
/// A rank that does not answer (longest_silence) is lost too; when it runs again its call returns
/// its unfinished keys as stopped, and communicator::is_left_out is true. A rank whose stop returns
/// true leaves; the others continue, unless it leads.
///
/// Blocks the calling thread.
/// @param program  a program whose main begins with serve_if_worker
/// @param items    the keys, each for all devices or for devices of one identity
/// @param devices  the devices to tune on, of any kinds
/// @param options  the options of all searches
/// @returns for each item, in order, its result on each matching kind of device
/// @throws argument_error if no database is set; environment_error; no_device_error if no rank has
///         a device; database_error before the first search if nothing can be stored in the
///         database, or later if the results of other ranks cannot be stored
std::vector<pretuning_result> pretune(const tuner_program& program,
                                      std::span<const pretuning_item> items,
                                      std::span<const device> devices,
                                      const pretuning_options& options);

}  // namespace tune
