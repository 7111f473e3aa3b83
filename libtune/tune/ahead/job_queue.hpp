// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <variant>
#include <vector>

#include "libtune/device/device.hpp"
#include "libtune/tune/engine/prior_knowledge.hpp"
#include "libtune/tune/observer.hpp"
#include "libtune/tune/options.hpp"

namespace tune {

class job_queue;

/// A job that one device leads. It is done when this object ends; the queue outlives it. One thread
/// uses it.
class led_job {
 public:
  /// A share of a job for another device. Does not throw.
  using shard = std::function<void(const device&)>;

  led_job(job_queue& queue, std::size_t number) noexcept : queue_(&queue), number_(number) {}
  ~led_job();
  led_job(led_job&& other) noexcept;
  led_job& operator=(led_job&&) = delete;

  std::size_t number() const noexcept { return number_; }

  /// Reserves idle devices for this job: its share of them, and no more than the given number. If
  /// any are reserved, help has to be called.
  std::size_t reserve(std::size_t most);
  /// Gives shards to the reserved devices.
  /// @param reserved  their number; those without a shard are idle again
  void help(std::vector<shard> shards, std::size_t reserved);
  /// Puts the job back, as the next one, for another device.
  void give_back();
  /// Reserves nothing any more, so that other jobs may reserve more.
  void settle() noexcept;

 private:
  job_queue* queue_;
  std::size_t number_;
  bool settled_ = false;
};

/// The jobs of several equal devices: each takes job after job, and when none are left helps with
/// those of others. Thread-safe; each device has a thread of its own.
class job_queue {
 public:
  /// A job, or a shard of another device's.
  using task = std::variant<led_job, led_job::shard>;

  /// @param jobs  numbers, in the order in which they are started
  explicit job_queue(const std::vector<std::size_t>& jobs) : jobs_(jobs.begin(), jobs.end()) {}

  /// Returns the next task for a device that is idle. Waits while help may be needed.
  /// @returns empty if there will never be another
  std::optional<task> next();

 private:
  friend class led_job;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::size_t> jobs_;
  std::deque<led_job::shard> shards_;  // not taken yet
  std::size_t idle_ = 0;               // devices that wait in next
  std::size_t promised_ = 0;           // of them, reserved or about to take a shard
  std::size_t under_way_ = 0;          // jobs
  std::size_t may_ask_ = 0;            // of them, those that have not settled
};

//
// The decision whether to divide a search among several devices, and into which shards.

/// The expected times of a search.
struct search_forecast {
  std::chrono::nanoseconds start{0};  ///< up to the first trial: a process, data, programs
  std::chrono::nanoseconds rest{0};   ///< for all that is left
};

/// Forecasts the time of a search from its pace since the first trial. One thread uses it.
class search_pace {
 public:
  using clock = std::chrono::steady_clock;

  /// @param start  when the child that searches was started
  explicit search_pace(clock::time_point start) : start_(start) {}

  /// To be called often. @param left  configurations that are still to be tried now
  /// @returns empty until enough of them have been tried
  std::optional<search_forecast> look(std::size_t left, clock::time_point now);

 private:
  struct moment {
    std::size_t left;
    clock::time_point time;
  };

  clock::time_point start_;
  std::optional<std::size_t> first_left_;
  std::optional<moment> first_trial_;
};

/// The share of one device in a search.
struct search_shard {
  trial_choice choice{};
  tuning_options options{};
};

/// Divides the rest of a search. Of a space that is searched exhaustively each shard gets every
/// n-th configuration. Otherwise each searches the whole space by the same strategy with a seed of
/// its own, and tries its share of the planned number.
/// @param whole    as it began
/// @param tried    configurations that have been tried, here or in the search that it resumes
/// @param options  of the whole search
/// @param shards   at least two
std::vector<search_shard> divide(const search_started_event& whole, std::size_t tried,
                                 const tuning_options& options, std::size_t shards);

/// Returns the greatest number of shards that saves time: each starts as the whole has started, and
/// so does the child that measures the best of them.
/// @param left      configurations
/// @param forecast  empty: not known yet
/// @param smallest  the least time that each shard has to take; zero: any
/// @returns from 1 to left; empty where that cannot be known yet
std::optional<std::size_t> worthwhile_shards(std::size_t left,
                                             const std::optional<search_forecast>& forecast,
                                             std::chrono::nanoseconds smallest);

}  // namespace tune
