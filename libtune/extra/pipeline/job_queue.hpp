// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <vector>

#include "libtune/extra/pipeline/future.hpp"
#include "libtune/extra/pipeline/task.hpp"

namespace tune {

/// The jobs of a pipeline that are under way, in the order in which they were added: it bounds how
/// many frames are in flight, and nobody misses the error of one. Used by one thread, or the tasks
/// of one loop, several of which may clean() and finish(). Allocates nothing while it holds no more
/// jobs than ever before.
class job_queue {
 public:
  /// Adds a job at the end.
  template <class T>
  void add(const future<T>& job) {
    push(job.state());
  }

  /// Removes jobs that have ended from the front, up to the first that has not.
  /// @throws the error of a job, which is then removed; those behind it stay
  void clean();
  /// Waits until no more than so many jobs are left, and removes those that end, in order.
  /// @throws the error of a job, which is then removed; those behind it stay
  task<> finish(std::size_t max_remaining = 0);
  /// The same for a thread that may block.
  void finish_blocking(std::size_t max_remaining = 0);

  /// The number of jobs that were not removed.
  std::size_t size() const noexcept { return count_; }
  /// True if there are none.
  bool empty() const noexcept { return count_ == 0; }
  /// True if a job was added and not removed.
  template <class T>
  bool contains(const future<T>& job) const noexcept {
    return holds(job.state().get());
  }

 private:
  using state = detail::state_pointer<detail::future_state>;

  void push(state job);
  state pop() noexcept;
  bool holds(const detail::future_state* job) const noexcept;
  const state& at(std::size_t place) const noexcept {
    return ring_[(first_ + place) % ring_.size()];
  }

  std::vector<state> ring_;
  std::size_t first_ = 0;
  std::size_t count_ = 0;
};

}  // namespace tune
