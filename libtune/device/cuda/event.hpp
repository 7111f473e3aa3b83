// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>

#include "libtune/device/cuda/context.hpp"
#include "libtune/device/queue_interface.hpp"

namespace tune::cuda {

/// One event of the driver, owned.
class event_handle {
 public:
  /// No event.
  event_handle() = default;
  /// @param timed  true if it records the time
  event_handle(std::shared_ptr<cuda_context> context, bool timed);
  event_handle(event_handle&& other) noexcept;
  event_handle& operator=(event_handle&& other) noexcept;
  ~event_handle();

  CUevent get() const noexcept { return handle_; }

 private:
  std::shared_ptr<cuda_context> context_;
  CUevent handle_ = nullptr;
};

/// A command between two events of the driver, or a marker, which is one event. Without times there
/// is no event before the command. Immutable once recorded.
class cuda_event final : public detail::event_interface {
 public:
  /// Creates the events; nothing is recorded yet. @throws device_error
  cuda_event(std::shared_ptr<cuda_context> context, bool timed, bool is_marker);

  /// Records the event before the command, if any. The context is current.
  void record_start(CUstream stream);
  /// Records the event after the command, or the marker. The context is current.
  void record_end(CUstream stream);

  CUevent end() const noexcept { return end_.get(); }

 private:
  void do_wait() const override;
  bool do_is_complete() const override;
  std::chrono::nanoseconds do_duration() const override;
  std::chrono::nanoseconds do_time_since(const event_interface& prior) const override;

  CUevent start() const noexcept { return is_marker_ ? end_.get() : start_.get(); }
  void check_timed() const;
  std::chrono::nanoseconds elapsed(CUevent from, CUevent to) const;

  std::shared_ptr<cuda_context> context_;
  bool timed_;
  bool is_marker_;
  std::uint64_t number_ = 0;  // in the order of recording, over all queues
  event_handle start_;
  event_handle end_;
};

}  // namespace tune::cuda
