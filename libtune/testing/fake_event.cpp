// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/testing/fake_event.hpp"

namespace tune::testing {

void fake_event::do_wait() const { state_->begin(fake_call::finish, {}); }

bool fake_event::do_is_complete() const {
  state_->check_alive();
  return true;
}

std::chrono::nanoseconds fake_event::do_duration() const {
  check_profiling();
  return end_ - start_;
}

std::chrono::nanoseconds fake_event::do_time_since(const event_interface& prior) const {
  const auto& earlier = static_cast<const fake_event&>(prior);
  earlier.check_profiling();
  check_profiling();
  return start_ - earlier.end_;
}

void fake_event::check_profiling() const {
  state_->check_alive();
  if (profiling_) return;
  state_->fail("reading the time of a command", "create the command queue with profiling",
               device_failure::other);
}

}  // namespace tune::testing
