// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <mutex>
#include <optional>
#include <vector>

namespace tune {

class job_queue;

/// A job that one device does. The end of this object marks it as done; the queue must outlive it.
/// One thread uses it.
class led_job {
 public:
  led_job(job_queue& queue, std::size_t number) noexcept : queue_(&queue), number_(number) {}
  ~led_job();
  led_job(led_job&& other) noexcept;
  led_job& operator=(led_job&&) = delete;

  std::size_t number() const noexcept { return number_; }

  /// Puts the job back at the front, for another device.
  void give_back();

 private:
  job_queue* queue_;
  std::size_t number_;
};

/// The jobs of several equal devices; each device executes one job at a time, in a thread of its
/// own. Thread-safe.
class job_queue {
 public:
  /// @param jobs  job numbers, in the order of their start
  explicit job_queue(const std::vector<std::size_t>& jobs) : jobs_(jobs.begin(), jobs.end()) {}

  /// Returns the next job for an idle device. Waits while a device may still give one back.
  /// @returns empty if no job will ever come
  std::optional<led_job> next();

 private:
  friend class led_job;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::size_t> jobs_;
  std::size_t under_way_ = 0;
};

}  // namespace tune
