// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <variant>
#include <vector>

#include "libtune/device/device.hpp"

namespace tune {

class work_board;

/// A job that a device does for a work_board, which outlives it. It has been done when this object
/// ends. One thread uses it.
class led_job {
 public:
  /// A part of a job, which another device does. Does not throw.
  using part = std::function<void(const device&)>;

  led_job(work_board& board, std::size_t number) noexcept : board_(&board), number_(number) {}
  ~led_job();
  led_job(led_job&& other) noexcept;
  led_job& operator=(led_job&&) = delete;

  std::size_t number() const noexcept { return number_; }

  /// Keeps devices that have nothing to do for this job: its share of those that there are, so many
  /// at most. If there are any, help has to be called.
  std::size_t reserve(std::size_t most);
  /// Gives parts to devices that were reserved.
  /// @param reserved  their number; those for which there is no part are free again
  void help(std::vector<part> parts, std::size_t reserved);
  /// No help will be asked for any more, so that other jobs may have more of it.
  void settle() noexcept;

 private:
  work_board* board_;
  std::size_t number_;
  bool settled_ = false;
};

/// Who of several equal devices does what: each takes a job after the other, and those for which
/// there is none left help with jobs of others. Thread-safe; each device has a thread of its own.
class work_board {
 public:
  /// What a device is to do: a job, or a part of another's.
  using task = std::variant<led_job, led_job::part>;

  /// @param jobs  numbers, in the order in which they are dealt out
  explicit work_board(const std::vector<std::size_t>& jobs) : jobs_(jobs.begin(), jobs.end()) {}

  /// For a device that has nothing to do. Waits while it may be asked for help.
  /// @returns nothing if there never will be anything
  std::optional<task> next();

 private:
  friend class led_job;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::size_t> jobs_;
  std::deque<led_job::part> parts_;  // that no device has taken yet
  std::size_t idle_ = 0;             // devices that wait in next
  std::size_t promised_ = 0;         // of them, reserved or about to take a part
  std::size_t under_way_ = 0;        // jobs
  std::size_t may_ask_ = 0;          // of them, those that have not settled
};

}  // namespace tune
