// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "libtune/base/cxx20.hpp"
#include "libtune/base/value.hpp"
#include "libtune/device/device.hpp"
#include "libtune/search/space/search_space.hpp"
#include "libtune/store/database/match.hpp"
#include "libtune/store/files/lock_holder.hpp"
#include "libtune/tune/goal.hpp"
#include "libtune/tune/trial.hpp"
#include "libtune/tune/tuning_budget.hpp"

namespace tune {

class coverage;

/// The wall-clock time of a search, divided by its use, as seen by its thread. The parts do not
/// overlap.
struct search_times {
  std::chrono::nanoseconds measuring{0};    ///< the device was busy with this search
  std::chrono::nanoseconds device_wait{0};  ///< another search measured on the device
  /// All configurations left to measure were being compiled.
  std::chrono::nanoseconds waiting{0};
  std::chrono::nanoseconds idle{0};          ///< the rest
  std::chrono::nanoseconds idle_overlap{0};  ///< the part of idle without compilations
};

/// The function, key and device of a tuning.
struct tuning_subject {
  std::string function;                ///< the autotuner's name
  int version = 0;                     ///< and version
  std::vector<named_value> arguments;  ///< the key
  device_info device;                  ///< the device of the tuning
  /// The declared test default; empty for a session made by hand.
  std::vector<named_value> test_default{};
};

/// The origin of the answer to a lookup.
enum class lookup_grade : std::uint8_t {
  miss,    ///< there is no result
  exact,   ///< a result from a device of the same identity
  nearest  ///< a result from another device, for the same arguments
};

/// A lookup in the tuning database.
struct lookup_event {
  tuning_subject subject{};                 ///< the function, key and device
  lookup_grade grade = lookup_grade::miss;  ///< the origin of the answer
  std::vector<std::string> relaxed;  ///< properties that differ for nearest: "device_version"
  std::vector<named_value> values;   ///< the tuning that was found
  std::string database;  ///< the path of the database that has it; on a miss, of the user's one
  std::chrono::nanoseconds elapsed{0};  ///< wall-clock time of the lookup
  /// On a miss: the time at which the last search for this key ended without a result; else empty.
  std::optional<std::string> failed_at{};
  match_step step = match_step::exact;  ///< the difference between the devices
  device_identity device{};             ///< the device that the result was tuned for, if any
};

/// The start of a search. No trial of it has been reported yet.
struct search_started_event {
  tuning_subject subject;           ///< the tuning's subject
  std::string strategy;             ///< its name (strategy_names), or "shortlist"
  std::size_t combinations = 0;     ///< combinations before any restriction
  std::size_t configurations = 0;   ///< configurations in the space
  std::size_t planned = 0;          ///< the most that will be tried, resumed ones included
  std::vector<removal> removals{};  ///< the combinations that each restriction removed
  std::size_t taken_over = 0;       ///< resumed trials of an unfinished search
  std::optional<std::chrono::nanoseconds> budget_left{};  ///< empty without a limit of time
  tuning_goal goal{};                                     ///< the objectives and constraints
  bool covers = true;  ///< its strategy goes over the whole space (strategy::covers)
};

/// The seeds of a search and the loss expected from an end after them. Seeds are configurations
/// that did well for similar keys and devices, and are tried first.
struct search_seeds {
  std::size_t tried = 0;   ///< their number; if the search stopped early, the number of those tried
  std::size_t judges = 0;  ///< similar complete searches that give the losses
  /// The average slowdown of the best seed against the best of all: 0.05 is 5 %; empty if unknown.
  std::optional<double> expected_loss{};
  std::optional<double> loss_bound{};  ///< nine of ten searches lose less; empty if unknown
  /// The search ended after the seeds, because they are good enough.
  bool stopped = false;
};

/// The end of a search, even without a winner; an error that ends a search has no event.
struct search_finished_event {
  tuning_subject subject;               ///< the tuning's subject
  std::vector<trial> trials;            ///< trials in the order of measurement, resumed ones first
  std::optional<std::size_t> best;      ///< the winner's index in trials; empty if all failed
  std::chrono::nanoseconds elapsed{0};  ///< wall-clock time of the search
  search_end end = search_end::complete;  ///< the reason for its end
  /// The uncertainties that remain, for users: "the device was 6 % slower at the end"; empty
  /// without any.
  std::vector<std::string> doubts{};
  search_times times{};   ///< the parts of elapsed
  tuning_goal goal{};     ///< the objectives and constraints
  space_outline space{};  ///< the space; an empty outline in an event made by hand
  /// The limit of device memory for the search, and the most that its tuning held at once; of the
  /// last process, if there were several. 0 in an event made by hand.
  std::size_t memory_budget_bytes = 0;
  std::size_t memory_held_bytes = 0;  ///< see memory_budget_bytes
  search_seeds seeds{};               ///< the seeds it began with
};

/// Returns the part of the space that a search has tried, and the effects of its parameters on the
/// first objective of its goal.
coverage coverage_of(const search_finished_event& search);

/// The progress of a search.
struct search_progress {
  std::size_t planned = 0;     ///< configurations that will be tried at most
  std::size_t taken_over = 0;  ///< trials resumed from an unfinished search
  std::size_t compiling = 0;   ///< being compiled now
  std::size_t compiled = 0;    ///< programs made so far, by helpers
  std::size_t measured = 0;    ///< configurations with a time, including dropped ones
  std::size_t dropped = 0;     ///< eliminated: not measured further, because they cannot win
  std::size_t failed = 0;      ///< trials without a time, for any reason
  std::chrono::nanoseconds elapsed{0};                    ///< wall-clock time since it began
  std::optional<std::chrono::nanoseconds> budget_left{};  ///< empty without a limit of time
  std::optional<run_time> best{};                         ///< the least time so far
};

/// The state of a search has changed. Sent after each trial, and often while nothing can be
/// measured yet.
struct progress_event {
  tuning_subject subject{};    ///< the tuning's subject
  search_progress progress{};  ///< the whole state, not only the change
};

/// The reason of a trial_event.
enum class trial_stage : std::uint8_t {
  taken_over,  ///< a trial of an unfinished search is resumed: it counts in this one
  finished,    ///< a trial was made, or is known not to compile
  refined      ///< a trial of this search has more samples, because it may be the best
};

/// A trial of a search.
struct trial_event {
  tuning_subject subject{};                   ///< the tuning's subject
  tune::trial trial{};                        ///< the trial in its present state
  trial_stage stage = trial_stage::finished;  ///< the reason for the event
};

/// The reason of a wait while tuning.
enum class wait_cause : std::uint8_t {
  search,    ///< another thread or process tunes the same key
  device,    ///< another thread or process measures on the device
  database,  ///< another process locks the database
};

/// A call of an autotuner, or its search, waits for another thread or process: reported within a
/// second, then at growing intervals, and once more at the end of a wait that was reported.
struct waiting_event {
  tuning_subject subject{};               ///< the function, key and device
  wait_cause cause = wait_cause::search;  ///< the reason for the wait
  /// The process that it waits for; this process for another thread; empty if unknown.
  std::optional<lock_holder> holder{};
  std::chrono::nanoseconds idle{0};    ///< the time for which the holder has used no processor time
  std::chrono::nanoseconds waited{0};  ///< so far
  std::chrono::milliseconds limit{0};  ///< the longest wait allowed
  bool over = false;                   ///< true if the wait has ended
};

/// A change of a tuning in service (extra/live.hpp).
enum class live_change : std::uint8_t {
  trying,      ///< a candidate serves in turn with the tuning before, and is compared with it
  kept,        ///< a candidate has replaced the tuning before
  taken_back,  ///< a candidate was no better in service, and the tuning before serves again
  refused,     ///< a candidate could not be put into service; nothing has changed
  drifted,     ///< the times of an operation have left their distribution
};

/// Returns the words of a change, such as "taken back".
std::string_view live_change_name(live_change change) noexcept;

/// A tuning in service was swapped, or its times have changed.
struct live_event {
  tuning_subject subject{};                  ///< the function, key and device
  live_change change = live_change::trying;  ///< the kind of change
  std::vector<named_value> before{};         ///< the tuning in service until then
  std::vector<named_value> after{};          ///< the candidate; empty for drifted
  /// The time after, divided by that before: with and without the candidate, or now and before the
  /// drift; empty without a measurement.
  std::optional<double> ratio{};
  std::string reason{};  ///< the reason in words, for users
};

/// Any event of tuning.
using tuning_event = std::variant<lookup_event, search_started_event, trial_event, progress_event,
                                  search_finished_event, waiting_event, live_event>;

/// Receives the events of tuning. Override the functions of the events of interest, or on() for
/// all of them:
///
///   class counter final : public tune::observer {
///    public:
///     void trial_finished(const tune::tuning_subject&, const tune::trial&) override { ++count; }
///     int count = 0;
///   };
///
/// The calls come from the thread that requested the tuning, one after the other for one search;
/// searches on several threads call at the same time. An exception that leaves an observer is
/// logged and has no other effect.
class observer {
 public:
  observer() = default;
  virtual ~observer() = default;
  observer(const observer&) = delete;
  observer& operator=(const observer&) = delete;

  /// Receives every event. This default calls the function below that is named for the event.
  virtual void on(const tuning_event& event);

  /// The databases have been searched, with or without a result.
  virtual void looked_up(const lookup_event&) {}
  /// A search begins.
  virtual void search_started(const search_started_event&) {}
  /// A trial of an unfinished search is resumed, and counts as one of this search.
  virtual void trial_taken_over(const tuning_subject&, const trial&) {}
  /// A trial was made, or is known not to compile (trial_stage::finished).
  virtual void trial_finished(const tuning_subject&, const trial&) {}
  /// A trial of this search has more samples (trial_stage::refined).
  virtual void trial_refined(const tuning_subject&, const trial&) {}
  /// The state of a search has changed.
  virtual void progressed(const tuning_subject&, const search_progress&) {}
  /// A search has ended.
  virtual void search_finished(const search_finished_event&) {}
  /// A call of an autotuner, or its search, waits for another thread or process.
  virtual void waiting(const waiting_event&) {}
  /// A tuning in service was swapped, or its times have changed. Called by a thread of libtune.
  virtual void live_changed(const live_event&) {}
};

namespace detail {

/// Passes an event to each observer, and logs exceptions.
void notify(std::span<const std::shared_ptr<observer>> observers,
            const tuning_event& event) noexcept;

}  // namespace detail
}  // namespace tune
