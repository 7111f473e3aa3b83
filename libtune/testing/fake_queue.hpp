// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "libtune/device/event_memory.hpp"
#include "libtune/device/queue_interface.hpp"
#include "libtune/testing/fake_state.hpp"

namespace tune::testing {

/// Captured commands: each does its work, and returns its duration.
using fake_commands = std::vector<std::function<std::chrono::nanoseconds()>>;

/// A graph of a fake device: a list of commands that a fake queue runs.
class fake_graph final : public detail::graph_interface {
 public:
  using graph_interface::graph_interface;

  void replace(fake_commands commands) noexcept { commands_ = std::move(commands); }

 private:
  void do_launch(detail::queue_interface& queue,
                 std::shared_ptr<detail::event_interface>* event) override;

  fake_commands commands_;
};

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

/// A kernel object over a host function: the arguments of its next launch.
class fake_kernel_object final : public detail::kernel_interface {
 public:
  fake_kernel_object(std::shared_ptr<detail::context_interface> context, kernel_info info,
                     std::shared_ptr<const fake_kernel_instance> instance);

  const std::shared_ptr<const fake_kernel_instance>& instance() const noexcept { return instance_; }
  std::span<const fake_argument> arguments() const noexcept { return arguments_; }
  /// @throws device_error (invalid_launch) if an argument is not set
  void check_arguments() const;

 private:
  void do_set_argument(std::size_t index, const void* bytes, std::size_t size) override;
  void do_set_buffer(std::size_t index,
                     const std::shared_ptr<detail::buffer_interface>& buffer) override;
  /// Known if the kernel gives its registers: as many groups as the device has registers for.
  std::optional<std::size_t> do_resident_work_groups(std::size_t work_group_size,
                                                     std::size_t dynamic_bytes) const override;
  const fake_parameter& parameter(std::size_t index) const;
  [[noreturn]] void refuse(std::size_t index, const std::string& given) const;

  std::shared_ptr<const fake_kernel_instance> instance_;
  std::vector<fake_argument> arguments_;
};

class fake_kernel_object;

/// A queue whose commands run when they are enqueued. Thread-safe, except for recording, as in
/// detail::queue_interface.
class fake_queue final : public detail::queue_interface {
 public:
  fake_queue(std::shared_ptr<detail::context_interface> context, detail::queue_settings settings,
             std::shared_ptr<fake_state> state)
      : queue_interface(std::move(context), settings), state_(std::move(state)) {}

  /// For fake_graph: runs its commands, with an event unless event is null.
  void launch_graph(const fake_commands& commands, std::shared_ptr<detail::event_interface>* event);

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
  bool do_capture(std::shared_ptr<detail::graph_interface>& graph,
                  const std::function<void()>& enqueue) override;

  void check_launch(const fake_kernel_object& kernel, const nd_range& range) const;
  /// Advances the clock by the duration of a command.
  void spend(std::chrono::nanoseconds span, event_pointer* event);

  std::shared_ptr<fake_state> state_;
  std::shared_ptr<detail::event_memory> events_ = std::make_shared<detail::event_memory>();
  std::mutex mutex_;  // commands of one queue run one at a time
  fake_commands capture_;
};

}  // namespace tune::testing
