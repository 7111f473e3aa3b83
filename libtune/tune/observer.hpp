// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "libtune/base/cxx20.hpp"
#include "libtune/base/value.hpp"
#include "libtune/device/device.hpp"
#include "libtune/search/space/search_space.hpp"
#include "libtune/store/database/match.hpp"
#include "libtune/store/files/lock_holder.hpp"
#include "libtune/tune/trial.hpp"
#include "libtune/tune/tuning_budget.hpp"

namespace tune {

/// Where the time of a search went, seen from its thread. The parts do not overlap.
struct search_times {
  std::chrono::nanoseconds measuring{0};    ///< the device had something to do
  std::chrono::nanoseconds device_wait{0};  ///< others measured on the device
  std::chrono::nanoseconds waiting{0};  ///< there was nothing to measure, but programs were made
  std::chrono::nanoseconds idle{0};     ///< neither: the rest
  std::chrono::nanoseconds idle_overlap{0};  ///< of idle, while no program was being made either
};

/// What is being tuned, for whom.
struct tuning_subject {
  std::string function;                     ///< the autotuner's name
  int version = 0;                          ///< and version
  std::vector<named_value> arguments;       ///< the key
  device_info device;                       ///< for which it is tuned
  std::vector<named_value> test_default{};  ///< as declared; empty for a session made by hand
};

/// Where an answer to a lookup came from.
enum class lookup_grade : std::uint8_t {
  miss,    ///< from nowhere: there is no result
  exact,   ///< from a device of the same identity
  nearest  ///< from another device, for the same arguments
};

/// A lookup in the tuning database.
struct lookup_event {
  tuning_subject subject;                   ///< what was asked for
  lookup_grade grade = lookup_grade::miss;  ///< what came of it
  std::vector<std::string> relaxed;         ///< for nearest: what does not match, "device_version"
  std::vector<named_value> values;          ///< what was found
  std::string database;  ///< the path of the database that has it; on a miss, of the user's one
  std::chrono::nanoseconds elapsed{0};  ///< wall-clock time of the lookup
  /// On a miss: when the last search for this key ended without a result, if it did.
  std::optional<std::string> failed_at{};
  match_step step = match_step::exact;  ///< how the device differs
  device_identity device{};             ///< whose result it is, if one was found
};

/// A search that starts.
struct search_started_event {
  tuning_subject subject;           ///< what is tuned
  std::string strategy;             ///< its name (strategy_names), or "shortlist"
  std::size_t combinations = 0;     ///< before any restriction
  std::size_t configurations = 0;   ///< in the space
  std::size_t planned = 0;          ///< that will be tried at most, taken over or here
  std::vector<removal> removals{};  ///< what each restriction removed
  std::size_t taken_over = 0;       ///< trials of an unfinished search that it continues
  std::optional<std::chrono::nanoseconds> budget_left{};  ///< where there is a limit of time
};

/// A search that has ended.
struct search_finished_event {
  tuning_subject subject;               ///< what was tuned
  std::vector<trial> trials;            ///< in the order in which they were made, taken over first
  std::optional<std::size_t> best;      ///< the winner's place in trials; none if all failed
  std::chrono::nanoseconds elapsed{0};  ///< wall-clock time of the search
  search_end end = search_end::complete;  ///< why it ended
  /// The uncertainties that remain, for users: "the device was 6 % slower at the end"; empty if all
  /// is well.
  std::vector<std::string> doubts{};
  search_times times{};  ///< what that time was spent on
};

/// How far a search is.
struct search_progress {
  std::size_t planned = 0;     ///< configurations that will be tried at most
  std::size_t taken_over = 0;  ///< of them, from an unfinished search
  std::size_t compiling = 0;   ///< being compiled now
  std::size_t compiled = 0;    ///< programs made so far, by helpers
  std::size_t measured = 0;  ///< configurations with a time; those that were dropped are among them
  std::size_t dropped = 0;   ///< no longer measured, because they cannot win
  std::size_t failed = 0;    ///< without a time, for whatever reason
  std::chrono::nanoseconds elapsed{0};                    ///< wall-clock time since it began
  std::optional<std::chrono::nanoseconds> budget_left{};  ///< where there is a limit of time
  std::optional<run_time> best{};                         ///< the least time so far
};

/// What somebody waits for while tuning.
enum class wait_cause : std::uint8_t {
  search,    ///< another thread or process tunes the same
  device,    ///< another thread or process measures on the device
  database,  ///< another process keeps the database
};

/// Somebody waits, or has waited.
struct waiting_event {
  tuning_subject subject;                 ///< what is wanted
  wait_cause cause = wait_cause::search;  ///< what it waits for
  /// The process that is waited for; this process if it is another thread; none if it is not known.
  std::optional<lock_holder> holder{};
  std::chrono::nanoseconds idle{0};    ///< for how long that one has used no processor time
  std::chrono::nanoseconds waited{0};  ///< so far
  std::chrono::milliseconds limit{0};  ///< for how long it is waited at most
  bool over = false;                   ///< whether the wait has ended
};

/// Hears what happens while tuning. Override what is of interest. The calls come from the thread
/// that asked for the tuning, one after the other for one search; searches on several threads call
/// at the same time. What an observer throws is logged and goes no further.
class observer {
 public:
  observer() = default;
  virtual ~observer() = default;
  observer(const observer&) = delete;
  observer& operator=(const observer&) = delete;

  /// An autotuner has looked in the databases, whether or not it found a result.
  virtual void looked_up(const lookup_event&) {}
  /// A search begins; no trial of it has been told yet.
  virtual void search_started(const search_started_event&) {}
  /// A trial of an unfinished search counts as one of this search.
  virtual void trial_taken_over(const tuning_subject&, const trial&) {}
  /// A trial was made, or found to be known not to compile.
  virtual void trial_finished(const tuning_subject&, const trial&) {}
  /// A trial of this search has more samples than it had, because it may be the best.
  virtual void trial_refined(const tuning_subject&, const trial&) {}
  /// Something has changed that the other calls do not tell. It comes after each trial, and often
  /// while there is nothing to measure yet.
  virtual void progressed(const tuning_subject&, const search_progress&) {}
  /// A search has ended, also one that found nothing; not called for one that an error ended.
  virtual void search_finished(const search_finished_event&) {}
  /// A call of an autotuner or its search waits for others: within a second, then less and less
  /// often, and once more when such a wait is over.
  virtual void waiting(const waiting_event&) {}
};

}  // namespace tune
