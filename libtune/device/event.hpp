// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <memory>
#include <utility>

#include "libtune/base/cxx20.hpp"

namespace tune {

namespace detail {
class event_interface;
}

/// A command in a queue, or a marker between commands. A handle: copies mean the same event.
/// Thread-safe. Times need a queue made with profiling.
class event {
 public:
  /// For libtune's backends; users call command_queue::enqueue_marker.
  explicit event(std::shared_ptr<detail::event_interface> impl) noexcept : impl_(std::move(impl)) {}

  /// Blocks until the command has ended.
  void wait() const;
  /// Whether the command has ended.
  bool is_complete() const;
  /// Device time from the command's start to its end; zero for a marker. Waits for the command.
  std::chrono::nanoseconds duration() const;
  /// Device time from the end of prior to the start of this. Waits for both.
  std::chrono::nanoseconds time_since(const event& prior) const;

  /// For libtune's own code; null in a handle that was moved from.
  const std::shared_ptr<detail::event_interface>& impl() const noexcept { return impl_; }

 private:
  std::shared_ptr<detail::event_interface> impl_;
};

}  // namespace tune
