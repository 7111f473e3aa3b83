// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/testing/fake_queue.hpp"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <utility>
#include <vector>

#include "libtune/testing/fake_context.hpp"

namespace tune::testing {
namespace {

constexpr std::size_t largest_scalar_bytes = 16;

// Interfaces pass buffers as const because enqueueing does not change the handle; the memory itself
// is not const.
std::span<std::byte> contents(const detail::buffer_interface& buffer) {
  return const_cast<fake_buffer&>(static_cast<const fake_buffer&>(buffer)).contents();  // NOLINT
}

std::byte* start_of(const detail::copy_side& side) {
  auto* base =
      side.buffer != nullptr ? contents(*side.buffer).data() : static_cast<std::byte*>(side.host);
  return base + side.offset_bytes;
}

bool fits(const work_size& group, const device_limits& limits) {
  return group.x <= limits.max_work_group_extent[0] && group.y <= limits.max_work_group_extent[1] &&
         group.z <= limits.max_work_group_extent[2];
}

// Each does its work and returns its duration.

std::chrono::nanoseconds run_launch(fake_state& state,
                                    const std::shared_ptr<const fake_kernel_instance>& instance,
                                    const nd_range& range,
                                    std::span<const fake_argument> arguments) {
  fake_launch launch(instance->name, range, *instance->macros, arguments);
  if (instance->kernel->run) instance->kernel->run(launch);
  const std::chrono::nanoseconds time = state.time_of(launch);
  state.record(instance, range);
  return time;
}

std::chrono::nanoseconds run_copy(const fake_state& state, const detail::copy_request& request) {
  const std::byte* source = start_of(request.source);
  std::byte* destination = start_of(request.destination);
  for (std::size_t slice = 0; slice < request.slices; ++slice) {
    for (std::size_t row = 0; row < request.rows; ++row) {
      std::memmove(
          destination + slice * request.destination.slice_pitch_bytes +
              row * request.destination.row_pitch_bytes,
          source + slice * request.source.slice_pitch_bytes + row * request.source.row_pitch_bytes,
          request.row_bytes);
    }
  }
  return state.times().copy;
}

std::chrono::nanoseconds run_fill(const fake_state& state, std::span<std::byte> memory,
                                  const fill_region& region, std::span<const std::byte> pattern) {
  std::byte* const first = memory.data() + region.offset_bytes;
  for (std::size_t slice = 0; slice < region.slices; ++slice) {
    for (std::size_t row = 0; row < region.rows; ++row) {
      std::byte* at = first + slice * region.slice_pitch_bytes + row * region.row_pitch_bytes;
      for (std::size_t i = 0; i < region.row_bytes; ++i) at[i] = pattern[i % pattern.size()];
    }
  }
  return state.times().fill;
}

std::vector<fake_argument> copies(std::span<const fake_argument> arguments) {
  return {arguments.begin(), arguments.end()};
}

}  // namespace

void fake_graph::do_launch(detail::queue_interface& queue,
                           std::shared_ptr<detail::event_interface>* event) {
  static_cast<fake_queue&>(queue).launch_graph(commands_, event);
}

void fake_event::do_wait() const { state_->begin(fake_call::finish, {}); }

bool fake_event::do_is_complete() const {
  state_->check_alive();
  return !state_->holds_events();
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

fake_kernel_object::fake_kernel_object(std::shared_ptr<detail::context_interface> context,
                                       kernel_info info,
                                       std::shared_ptr<const fake_kernel_instance> instance)
    : kernel_interface(std::move(context), std::move(info)),
      instance_(std::move(instance)),
      arguments_(instance_->kernel->parameters.size()) {
  // Reserves memory, so that setting an argument allocates nothing.
  for (fake_argument& item : arguments_) item.bytes.reserve(largest_scalar_bytes);
}

void fake_kernel_object::check_arguments() const {
  const auto unset = std::ranges::find_if_not(arguments_, &fake_argument::is_set);
  if (unset == arguments_.end()) return;
  throw_unset_argument(static_cast<std::size_t>(unset - arguments_.begin()), arguments_.size());
}

void fake_kernel_object::do_set_argument(std::size_t index, const void* bytes, std::size_t size) {
  if (!parameter(index).takes_scalar(size)) {
    refuse(index, fmt::format("{} bytes", size));
  }
  const auto* first = static_cast<const std::byte*>(bytes);
  arguments_[index].bytes.assign(first, first + size);
  arguments_[index].memory.reset();
}

void fake_kernel_object::do_set_buffer(std::size_t index,
                                       const std::shared_ptr<detail::buffer_interface>& buffer) {
  if (!parameter(index).takes_buffer()) refuse(index, "a buffer");
  arguments_[index].bytes.clear();
  arguments_[index].memory = std::static_pointer_cast<fake_buffer>(buffer);
}

std::optional<std::size_t> fake_kernel_object::do_resident_work_groups(std::size_t work_group_size,
                                                                       std::size_t) const {
  const std::size_t needed = info().registers * work_group_size;
  if (needed == 0) return std::nullopt;
  return context()->info().limits.registers_per_work_group / needed;
}

const fake_parameter& fake_kernel_object::parameter(std::size_t index) const {
  if (index < arguments_.size()) return instance_->kernel->parameters[index];
  throw_no_argument(index, arguments_.size());
}

void fake_kernel_object::refuse(std::size_t index, const std::string& given) const {
  const auto scalar = parameter(index).scalar_bytes();
  throw_wrong_argument(index, given, scalar ? fmt::format("{} bytes", *scalar) : "a buffer");
}

void fake_queue::do_launch(detail::kernel_interface& kernel, const nd_range& range,
                           event_pointer* event) {
  const auto& launched = static_cast<const fake_kernel_object&>(kernel);
  const fake_kernel_instance& instance = *launched.instance();
  const std::lock_guard lock(mutex_);
  state_->begin(fake_call::launch, instance.name, instance.macros.get());
  check_launch(launched, range);
  if (!is_capturing()) {
    spend(run_launch(*state_, launched.instance(), range, launched.arguments()), event);
    return;
  }
  capture_.push_back([&state = *state_, instance = launched.instance(), range,
                      arguments = copies(launched.arguments())] {
    return run_launch(state, instance, range, arguments);
  });
}

void fake_queue::check_launch(const fake_kernel_object& kernel, const nd_range& range) const {
  const kernel_info& info = kernel.info();
  const device_limits& limits = state_->limits();
  const auto refuse = [&](const std::string& reason, device_failure failure) {
    state_->fail(fmt::format("launch of kernel '{}'", info.name), reason, failure);
  };
  kernel.check_arguments();
  const work_size& group = range.local;
  if (group.total() > info.max_work_group_size || !fits(group, limits)) {
    refuse(
        fmt::format("a work group of {} x {} x {} is over the limit of {} ({} x {} x {})", group.x,
                    group.y, group.z, info.max_work_group_size, limits.max_work_group_extent[0],
                    limits.max_work_group_extent[1], limits.max_work_group_extent[2]),
        device_failure::over_limit);
  }
  const std::size_t local_bytes = info.local_memory_bytes + range.local_memory_bytes;
  const std::size_t local_limit = range.local_memory_bytes > 0
                                      ? limits.max_dynamic_local_memory_bytes
                                      : limits.local_memory_bytes;
  if (local_bytes > local_limit) {
    refuse(
        fmt::format("{} bytes of local memory are over the limit of {}", local_bytes, local_limit),
        device_failure::over_limit);
  }
}

void fake_queue::do_copy(const detail::copy_request& request, std::vector<event_pointer>* events) {
  const std::lock_guard lock(mutex_);
  state_->begin(fake_call::copy, {});
  if (!is_capturing()) {
    event_pointer event;
    spend(run_copy(*state_, request), events != nullptr ? &event : nullptr);
    if (events != nullptr) events->push_back(std::move(event));
    return;
  }
  capture_.push_back([&state = *state_, request] { return run_copy(state, request); });
}

void fake_queue::do_fill(const detail::buffer_interface& buffer, const fill_region& region,
                         std::span<const std::byte> pattern, event_pointer* event) {
  const std::lock_guard lock(mutex_);
  state_->begin(fake_call::fill, {});
  const std::span<std::byte> range = contents(buffer);
  if (!is_capturing()) {
    spend(run_fill(*state_, range, region, pattern), event);
    return;
  }
  capture_.push_back([&state = *state_, range, region,
                      copy = std::vector<std::byte>(pattern.begin(), pattern.end())] {
    return run_fill(state, range, region, copy);
  });
}

fake_queue::event_pointer fake_queue::do_mark() {
  state_->check_alive();
  const fake_clock::time_point now = state_->clock().now();
  return detail::make_event<fake_event>(events_, state_, profiling(), now, now);
}

// Commands have ended before enqueue returns, so this never waits.
void fake_queue::do_wait_for(std::span<const event_pointer>) { state_->check_alive(); }

void fake_queue::do_flush() { state_->check_alive(); }

void fake_queue::do_finish() { state_->begin(fake_call::finish, {}); }

bool fake_queue::do_capture(std::shared_ptr<detail::graph_interface>& graph,
                            const std::function<void()>& enqueue) {
  if (!context()->info().command_graphs) return false;
  if (graph == nullptr) check_new_graph();
  state_->begin(fake_call::capture, {});
  capture_.clear();
  enqueue();
  if (graph == nullptr) graph = std::make_shared<fake_graph>(context());
  static_cast<fake_graph&>(*graph).replace(std::exchange(capture_, {}));
  return true;
}

void fake_queue::launch_graph(const fake_commands& commands, event_pointer* event) {
  const std::lock_guard lock(mutex_);
  state_->begin(fake_call::launch_graph, {});
  std::chrono::nanoseconds span{0};
  for (const auto& command : commands) span += command();
  spend(span, event);
}

void fake_queue::spend(std::chrono::nanoseconds span, event_pointer* event) {
  const fake_clock::time_point start = state_->clock().advance(span);
  if (event != nullptr) {
    *event = std::make_shared<fake_event>(state_, profiling(), start, start + span);
  }
}

}  // namespace tune::testing
