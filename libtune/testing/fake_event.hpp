// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <utility>

#include "libtune/device/interface.hpp"
#include "libtune/testing/fake_state.hpp"

namespace tune::testing {

/// A command of a fake queue, or a marker, with its virtual times. Immutable.
class fake_event final : public detail::event_interface {
 public:
  fake_event(std::shared_ptr<fake_state> state, bool profiling, fake_clock::time_point start,
             fake_clock::time_point end)
      : state_(std::move(state)), profiling_(profiling), start_(start), end_(end) {}

 private:
  void do_wait() const override;
  bool do_is_complete() const override;
  std::chrono::nanoseconds do_duration() const override;
  std::chrono::nanoseconds do_time_since(const event_interface& prior) const override;

  void check_profiling() const;

  std::shared_ptr<fake_state> state_;
  bool profiling_;
  fake_clock::time_point start_;
  fake_clock::time_point end_;
};

}  // namespace tune::testing
