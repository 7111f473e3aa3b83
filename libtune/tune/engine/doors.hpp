// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "libtune/base/value.hpp"
#include "libtune/device/context.hpp"
#include "libtune/measure/measure.hpp"
#include "libtune/store/database/function_identity.hpp"
#include "libtune/store/database/record.hpp"
#include "libtune/store/files/file_lock.hpp"
#include "libtune/tune/goal.hpp"
#include "libtune/tune/metric_sources.hpp"
#include "libtune/tune/observer.hpp"
#include "libtune/tune/settings.hpp"

namespace tune {
struct tuned_key;
}  // namespace tune

namespace tune::detail {

/// A place beside the databases that has results of others and takes those that are found here,
/// such as a server. Thread-safe. Failures are logged.
class result_source {
 public:
  struct pulled {
    bool any = false;  ///< results were added to a database of the lookup
    /// The tuning for this very device, where that database could not be written.
    std::optional<std::vector<named_value>> unstored{};
  };
  /// The right to search for a key, until its destruction. Does not outlive the source.
  class search_right {
   public:
    virtual ~search_right() = default;
  };
  struct claimed {
    std::unique_ptr<search_right> right{};  ///< null: the source cannot be asked, or
    bool is_late = false;                   ///< another machine had the right for too long
  };

  virtual ~result_source() = default;

  /// Asks for the results of a key that no database has.
  virtual pulled pull(const function_identity& function, const record_key& key) noexcept = 0;
  /// Waits until no other machine searches for a key, and takes the right to; pull then asks once
  /// more. A thread calls it only while no other waits for that thread, so that no two machines
  /// wait for each other.
  /// @param patience  the longest wait
  /// @param look      called now and then while another machine has the right; its exceptions end
  ///                  the wait
  virtual claimed claim(const function_identity& function, const record_key& key,
                        std::chrono::milliseconds patience, const wait_look& look) = 0;
  /// Hands over the result that the database has for a key. @param only_queue  with a later one
  virtual void push(const function_identity& function, const record_key& key,
                    bool only_queue) noexcept = 0;
};

/// Sets the hardware of devices for configurations (measure::at). For the thread that has the
/// device lease. Thread-safe.
class device_setter {
 public:
  virtual ~device_setter() = default;

  /// Sets these; those that are zero are as they were before the first call. Costs nothing as long
  /// as nothing is ever set.
  /// @throws error if the device or the system refuses, with the reason; then nothing is set
  virtual void set(const device_info& device, const device_settings& wanted) = 0;
  /// Restores what this process has set on the device; logs a failure.
  virtual void restore(const device_info& device) noexcept = 0;
  /// Restores what processes of this user have set that have ended since, on every device; logs
  /// what it does.
  virtual void restore_left_behind() noexcept = 0;
};

/// The origin of the tuning that a call of an autotuner returns.
enum class tuning_origin : std::uint8_t {
  exact,         ///< a stored result of this device
  nearest,       ///< a stored result of another device
  locked,        ///< the result of a lock file
  searched,      ///< there was no result; a search has found it since the call
  test_default,  ///< there is no result
  failed,        ///< the call has thrown an exception
};

/// Contents with which a search checks and times its configurations besides the inputs of their
/// author, such as captured frames. Used by the thread of the search.
class search_inputs {
 public:
  virtual ~search_inputs() = default;

  /// In words, with a digest (search_identity::inputs).
  virtual const std::string& text() const noexcept = 0;
  /// Makes a measure that is checked with these contents and by the author, and timed with these
  /// contents alone.
  /// @param made  by the author, for the configuration; not skipped
  /// @throws as the author's function may, also if a program is not compiled yet
  virtual measure extend(measure made, const std::vector<named_value>& configuration) = 0;
};

/// The doors of the core: functions by which its neighbours take part in every tuning, without
/// being named. A neighbour replaces its own while the program, or a library with it, is loaded
/// (tune/opened_door.hpp). The default of each is described here. Neighbours that take part only in
/// some tunings have other doors: executor, search_course, observer, probe.
struct doors {
  /// Returns the source of results that settings name, or null. By default null, with a warning if
  /// the settings name one.
  std::shared_ptr<result_source> (*find_source)(const tuning_settings& settings);
  /// Has the key tuned for later calls, while the application continues. Returns false if the key
  /// will not be tuned; so does the default, with a warning in the mode behind.
  /// @param has_nearest  true if the application uses a result of another device
  bool (*tunes_later)(const tuned_key& key, bool has_nearest);
  /// Adds the observers that every tuning has whose results are stored. By default none, with a
  /// warning if the settings name a page.
  /// @param is_outermost  false for a tuning inside another
  void (*add_observers)(std::vector<std::shared_ptr<observer>>& to, const tuning_settings& settings,
                        const function_identity& function, bool is_outermost);
  /// Adds the probes that every search has, and those for its goal and LIBTUNE_METRICS. By default
  /// none, with a warning if LIBTUNE_METRICS is set, and an error for a goal that needs them.
  /// @param given  the probes of the author
  /// @throws error if the goal cannot be measured
  void (*add_probes)(metric_sources& to, const metric_sources& given, const tuning_goal& goal,
                     const context& of);
  /// Returns the contents that LIBTUNE_INPUTS has for a key of a function, or null. By default
  /// null, with a warning if that variable is set.
  /// @param function  its name, without a goal
  /// @param example   any configuration of the search
  std::shared_ptr<search_inputs> (*find_inputs)(const context& of, const std::string& function,
                                                const std::vector<named_value>& key,
                                                const std::vector<named_value>& example);
  /// Returns the setter of clocks and power limits. The default one refuses any but zero.
  device_setter& (*setter)();
  /// Receives the origin of each tuning that an autotuner returns to the application, on the thread
  /// of the call. Does nothing by default.
  void (*answered)(const tuning_subject& subject, tuning_origin origin) noexcept;
  /// Receives each change of a live pipeline, on a thread of libtune. Does nothing by default.
  void (*live_changed)(const live_event& event) noexcept;
};

/// The doors of the program.
doors& open_doors() noexcept;

/// True if a neighbour can tune keys for later calls (doors::tunes_later).
bool can_tune_later() noexcept;

/// The end of a message: "this program has no part of libtune that writes pages; link
/// libtune::console and include libtune/console.hpp".
/// @param neighbour  its folder, such as "extra/shared"
std::string lacks(std::string_view neighbour, std::string_view does);

/// The metrics that add_probes adds if a goal names them: of the device's energy sensor, and of its
/// performance counters.
inline constexpr std::array sensor_metrics{"energy",
                                           "power",
                                           "energy_uncertainty",
                                           "core_clock",
                                           "temperature",
                                           "power_capped",
                                           "throttled",
                                           "memory_throughput",
                                           "memory_rate",
                                           "compute_throughput",
                                           "achieved_occupancy"};
inline constexpr std::span energy_metrics = std::span(sensor_metrics).first<7>();
inline constexpr std::span counter_metrics = std::span(sensor_metrics).last<4>();
/// True if a goal names one of these metrics.
bool names(const tuning_goal& goal, std::span<const char* const> metrics);

/// Begins without settings that were left behind, and restores those of a device at the end.
class restored_device {
 public:
  /// @param device  outlives this
  explicit restored_device(const device_info& device) : device_(device) {
    open_doors().setter().restore_left_behind();
  }
  ~restored_device() { open_doors().setter().restore(device_); }
  restored_device(const restored_device&) = delete;
  restored_device& operator=(const restored_device&) = delete;

 private:
  const device_info& device_;
};

}  // namespace tune::detail
