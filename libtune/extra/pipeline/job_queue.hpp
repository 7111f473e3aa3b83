// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <vector>

#include "libtune/extra/pipeline/future.hpp"
#include "libtune/extra/pipeline/task.hpp"

namespace tune {

/// The jobs of a pipeline under way, in the order of their addition: it limits the number of frames
/// in flight, and reports every error. Used by one thread, or the tasks of one loop, several of
/// which may call clean() and finish(). Allocates only when it holds more jobs than ever before.
class job_queue {
 public:
  /// Adds a job at the end.
  template <class T>
  void add(const future<T>& job) {
    push(job.state());
  }

  /// Removes completed jobs from the front, up to the first unfinished one.
  /// @throws the error of a job, which is then removed; later ones stay
  void clean();
  /// Waits until at most this many jobs are left, and removes completed ones, in order.
  /// @throws the error of a job, which is then removed; later ones stay
  task<> finish(std::size_t max_remaining = 0);
  /// Like finish(), for a thread that may block.
  void finish_blocking(std::size_t max_remaining = 0);

  /// The number of jobs in the queue.
  std::size_t size() const noexcept { return count_; }
  /// True without jobs.
  bool empty() const noexcept { return count_ == 0; }
  /// True if a job is in the queue.
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
