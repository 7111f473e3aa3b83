// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <utility>

#include "libtune/device/command_queue.hpp"
#include "libtune/device/context.hpp"
#include "libtune/device/kernel.hpp"
#include "libtune/device/queue_interface.hpp"

namespace tune::testing {

/// A queue without a device, just enough to be timed: every launch takes the device time that
/// next_duration says when it is enqueued.
struct queue_script {
  std::chrono::nanoseconds next_duration{0};
  int launches = 0;
  int finishes = 0;
};

class scripted_event final : public detail::event_interface {
 public:
  explicit scripted_event(std::chrono::nanoseconds duration) : duration_(duration) {}

 private:
  void do_wait() const override {}
  bool do_is_complete() const override { return true; }
  std::chrono::nanoseconds do_duration() const override { return duration_; }
  std::chrono::nanoseconds do_time_since(const event_interface&) const override { return {}; }

  std::chrono::nanoseconds duration_;
};

class scripted_queue final : public detail::queue_interface {
 public:
  scripted_queue(std::shared_ptr<detail::context_interface> context,
                 detail::queue_settings settings, queue_script& script)
      : queue_interface(std::move(context), settings), script_(script) {}

 private:
  using event_pointer = std::shared_ptr<detail::event_interface>;

  void do_launch(detail::kernel_interface&, const nd_range&, event_pointer* event) override {
    ++script_.launches;
    if (event != nullptr) *event = std::make_shared<scripted_event>(script_.next_duration);
  }
  void do_copy(const detail::copy_request&) override {}
  void do_fill(const detail::buffer_interface&, const fill_region&, std::span<const std::byte>,
               event_pointer*) override {}
  event_pointer do_mark() override {
    return std::make_shared<scripted_event>(std::chrono::nanoseconds::zero());
  }
  void do_wait_for(std::span<const event_pointer>) override {}
  void do_flush() override {}
  void do_finish() override { ++script_.finishes; }

  queue_script& script_;
};

class scripted_kernel final : public detail::kernel_interface {
 public:
  using kernel_interface::kernel_interface;

 private:
  void do_set_argument(std::size_t, const void*, std::size_t) override {}
  void do_set_buffer(std::size_t, const std::shared_ptr<detail::buffer_interface>&) override {}
};

class scripted_context final : public detail::context_interface {
 public:
  scripted_context(std::shared_ptr<const detail::device_interface> device, queue_script& script)
      : context_interface(std::move(device)), script_(script) {}

 private:
  std::shared_ptr<detail::buffer_interface> do_create_buffer(std::size_t bytes) override {
    return std::make_shared<detail::buffer_interface>(shared_from_this(), bytes);
  }
  std::shared_ptr<detail::buffer_interface> do_create_managed_buffer(std::size_t) override {
    return nullptr;
  }
  std::shared_ptr<detail::buffer_interface> do_create_sub_buffer(
      const std::shared_ptr<detail::buffer_interface>&, std::size_t, std::size_t) override {
    return nullptr;
  }
  std::shared_ptr<detail::pinned_memory_interface> do_create_pinned_memory(std::size_t) override {
    return nullptr;
  }
  std::shared_ptr<detail::queue_interface> do_create_queue(
      detail::queue_settings settings) override {
    return std::make_shared<scripted_queue>(shared_from_this(), settings, script_);
  }
  std::shared_ptr<detail::program_interface> do_create_program(const program_source&) override {
    return nullptr;
  }
  std::shared_ptr<detail::program_interface> do_create_program_from_binary(
      const std::string&, std::span<const std::byte>) override {
    return nullptr;
  }
  std::string do_compiler_identity() const override { return "none"; }

  queue_script& script_;
};

class scripted_device final : public detail::device_interface {
 public:
  explicit scripted_device(queue_script& script)
      : device_interface({.identity = {"scripted device", "none", "1"},
                          .backend = "scripted",
                          .kind = device_kind::other,
                          .language = kernel_language::opencl_c,
                          .limits = {}}),
        script_(script) {}

 private:
  std::shared_ptr<detail::context_interface> do_create_context(context_options) const override {
    return std::make_shared<scripted_context>(shared_from_this(), script_);
  }

  queue_script& script_;
};

/// A queue, a kernel for it, and what they do.
class recorded_queue {
 public:
  queue_script script;

 private:
  context context_{std::make_shared<scripted_device>(script)->create_context({})};

 public:
  tuning_command_queue queue = context_.create_tuning_command_queue();
  kernel stub{std::make_unique<scripted_kernel>(context_.impl(), kernel_info{.name = "stub"})};

  /// Enqueues the kernel with this device time.
  void launch(std::chrono::nanoseconds duration) {
    script.next_duration = duration;
    queue.enqueue(stub, {});
  }
};

}  // namespace tune::testing
