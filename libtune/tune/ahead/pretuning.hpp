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
#include "libtune/device/device.hpp"
#include "libtune/store/database/function_identity.hpp"
#include "libtune/tune/observer.hpp"
#include "libtune/tune/options.hpp"
#include "libtune/tune/remote/serve_if_worker.hpp"

namespace tune {

/// A key that is to be tuned.
struct pretuning_item {
  function_identity function{};             ///< the autotuner
  std::vector<named_value> key{};           ///< in the order of function.key_fields
  std::optional<device_identity> device{};  ///< for devices of this identity; empty: for all
};

/// What became of a key on one kind of device.
enum class pretuning_state : std::uint8_t {
  tuned,    ///< searched for, and stored
  present,  ///< the database had a result
  failed,   ///< pretuning_result::reason says why
  stopped   ///< before it was done; what was measured is kept, and used by the next search for it
};

/// "tuned", "present", "failed" or "stopped".
std::string_view pretuning_state_name(pretuning_state state) noexcept;

/// What pretune did for one key on one kind of device.
struct pretuning_result {
  tuning_subject subject{};  ///< the device is one of those that share the result
  pretuning_state state = pretuning_state::stopped;  ///< what became of it
  std::string reason{};                              ///< why it failed or was stopped
  std::vector<named_value> values{};                 ///< the tuning, if there is one
  std::optional<run_time> score{};                   ///< what it measured, where that is known
  std::size_t trials = 0;                            ///< configurations that were tried now
  std::size_t devices = 0;                           ///< that took part
  std::chrono::nanoseconds elapsed{0};               ///< from its turn to its end
};

/// Hears how it goes. The calls come from several threads, one at a time. Does not throw.
class pretuning_listener {
 public:
  pretuning_listener() = default;
  virtual ~pretuning_listener() = default;
  pretuning_listener(const pretuning_listener&) = delete;
  pretuning_listener& operator=(const pretuning_listener&) = delete;

  /// Its turn has come. In all calls the number is the place of the result among those of pretune.
  virtual void began(std::size_t /*number*/, const tuning_subject&) {}
  /// Its search is divided among so many devices from now on.
  virtual void divided(std::size_t /*number*/, std::size_t /*devices*/) {}
  /// Its search has got so far.
  virtual void progressed(std::size_t /*number*/, const search_progress&) {}
  /// It has ended, in whatever state.
  virtual void ended(std::size_t /*number*/, const pretuning_result&) {}
};

/// How pretune goes about it.
struct pretuning_options {
  /// Of all searches. The database has to be named, or to follow from the environment; observers
  /// are called from several threads.
  tuning_options tuning{};
  bool force = false;            ///< also keys that have a result, and without earlier trials
  std::function<bool()> stop{};  ///< asked often, by several threads; true ends all
  pretuning_listener* listener = nullptr;  ///< not owned, outlives the call; null: none
  /// A search is divided only as far as each device's part is expected to take so long, and some
  /// times as long as the search took to its first trial, which children do again. Zero: as far as
  /// there are devices.
  std::chrono::nanoseconds smallest_shard = std::chrono::seconds(3);
};

/// How many results pretune will have: one for each item and kind of device that it fits.
std::size_t count_pretunings(std::span<const pretuning_item> items,
                             std::span<const device> devices);

/// Tunes keys of a program for devices, all at the same time, each in a child process of its own,
/// and stores the results as if the program had tuned where it needs them.
///
/// A key is tuned once for all devices that are alike (their identities are equal): such devices
/// share out the keys, and where there are fewer keys than devices they divide the search for one;
/// then the best of each is measured again by one of them, whose word counts. What has been
/// measured is kept at any moment. A key that cannot be tuned does not keep others from it.
///
/// Called on a thread that has nothing else to do.
/// @param program  one whose main begins with serve_if_worker
/// @param items    the keys, each for all devices or for those of one identity
/// @param devices  to tune on, of any kinds
/// @param options  for all searches
/// @returns for each item, in order, what became of it on each kind of device
/// @throws argument_error if there is nowhere to keep results; environment_error
std::vector<pretuning_result> pretune(const tuner_program& program,
                                      std::span<const pretuning_item> items,
                                      std::span<const device> devices,
                                      const pretuning_options& options);

}  // namespace tune
