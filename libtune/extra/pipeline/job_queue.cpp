// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/pipeline/job_queue.hpp"

#include <algorithm>
#include <utility>

namespace tune {
void job_queue::clean() {
  while (count_ != 0 && at(0)->is_ready()) pop()->rethrow_failure();
}

// During its wait another task may remove the job, and later ones.
task<> job_queue::finish(std::size_t max_remaining) {
  while (count_ > max_remaining) {
    if (at(0)->is_ready()) {
      pop()->rethrow_failure();
    } else {
      co_await detail::end_wait(at(0));
    }
  }
}

void job_queue::finish_blocking(std::size_t max_remaining) {
  while (count_ > max_remaining) {
    at(0)->wait();
    pop()->rethrow_failure();
  }
}

void job_queue::push(state job) {
  if (count_ == ring_.size()) {
    std::vector<state> larger(std::max<std::size_t>(8, 2 * ring_.size()));
    for (std::size_t i = 0; i < count_; ++i) larger[i] = at(i);
    ring_ = std::move(larger);
    first_ = 0;
  }
  ring_[(first_ + count_) % ring_.size()] = std::move(job);
  ++count_;
}

job_queue::state job_queue::pop() noexcept {
  state job = std::exchange(ring_[first_], {});
  first_ = (first_ + 1) % ring_.size();
  --count_;
  return job;
}

bool job_queue::holds(const detail::future_state* job) const noexcept {
  for (std::size_t i = 0; i < count_; ++i) {
    if (at(i).get() == job) return true;
  }
  return false;
}

}  // namespace tune
