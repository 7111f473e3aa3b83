// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <mutex>
#include <span>

#include "libtune/device/interface.hpp"
#include "libtune/testing/fake_state.hpp"

namespace tune::testing {

class fake_kernel_object;

/// A queue whose commands run while they are enqueued. Thread-safe, but for what
/// detail::queue_interface says of recording.
class fake_queue final : public detail::queue_interface {
 public:
  fake_queue(std::shared_ptr<detail::context_interface> context, detail::queue_settings settings,
             std::shared_ptr<fake_state> state)
      : queue_interface(std::move(context), settings), state_(std::move(state)) {}

 private:
  using event_pointer = std::shared_ptr<detail::event_interface>;

  void do_launch(detail::kernel_interface& kernel, const nd_range& range,
                 event_pointer* event) override;
  void do_copy(const detail::copy_request& request) override;
  void do_fill(const detail::buffer_interface& buffer, const fill_region& region,
               std::span<const std::byte> pattern, event_pointer* event) override;
  event_pointer do_mark() override;
  void do_wait_for(std::span<const event_pointer> events) override;
  void do_flush() override;
  void do_finish() override;

  void check_launch(const fake_kernel_object& kernel, const nd_range& range) const;
  /// Moves the clock on by a command that took this long.
  void spend(std::chrono::nanoseconds span, event_pointer* event);

  std::shared_ptr<fake_state> state_;
  std::mutex mutex_;  // commands of one queue run one at a time
};

}  // namespace tune::testing
