// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <span>

#include "libtune/device/event_memory.hpp"
#include "libtune/device/opencl/context.hpp"
#include "libtune/device/queue_interface.hpp"

namespace tune::opencl {

class opencl_event final : public detail::event_interface {
 public:
  opencl_event(std::shared_ptr<detail::context_interface> context, cl::Event handle,
               bool is_marker);

  const cl::Event& handle() const noexcept { return handle_; }

 private:
  void do_wait() const override;
  bool do_is_complete() const override;
  std::chrono::nanoseconds do_duration() const override;
  std::chrono::nanoseconds do_time_since(const event_interface& prior) const override;

  cl_ulong time(cl_profiling_info which) const;

  std::shared_ptr<detail::context_interface> context_;
  cl::Event handle_;
  bool is_marker_;
};

class opencl_queue final : public detail::queue_interface {
 public:
  /// Makes a new queue. @throws device_error
  opencl_queue(const std::shared_ptr<opencl_context>& context, detail::queue_settings settings);
  /// Wraps an existing queue, whose end is not waited for.
  opencl_queue(const std::shared_ptr<opencl_context>& context, cl::CommandQueue handle,
               detail::queue_settings settings);
  ~opencl_queue() override;

  const cl::CommandQueue& handle() const noexcept { return handle_; }

 private:
  using event_pointer = std::shared_ptr<detail::event_interface>;

  void do_launch(detail::kernel_interface& kernel, const nd_range& range,
                 event_pointer* event) override;
  void do_copy(const detail::copy_request& request, std::vector<event_pointer>* events) override;
  void do_fill(const detail::buffer_interface& buffer, const fill_region& region,
               std::span<const std::byte> pattern, event_pointer* event) override;
  event_pointer do_mark() override;
  void do_wait_for(std::span<const event_pointer> events) override;
  void do_flush() override;
  void do_finish() override;

  event_pointer wrap(const cl::Event& handle, bool is_marker = false) const;

  cl::CommandQueue handle_;
  bool is_own_;
  std::shared_ptr<detail::event_memory> events_ = std::make_shared<detail::event_memory>();
};

}  // namespace tune::opencl
