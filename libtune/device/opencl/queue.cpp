// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/device/opencl/queue.hpp"

#include <algorithm>
#include <array>
#include <exception>
#include <fmt/format.h>
#include <utility>

#include "libtune/base/log.hpp"
#include "libtune/device/opencl/device.hpp"
#include "libtune/device/opencl/fill.hpp"
#include "libtune/device/opencl/memory.hpp"
#include "libtune/device/opencl/program.hpp"

namespace tune::opencl {
namespace {

// The difference of two unsigned device times, which may be negative between queues.
std::chrono::nanoseconds difference(cl_ulong later, cl_ulong earlier) {
  return std::chrono::nanoseconds(static_cast<std::int64_t>(later - earlier));
}

[[noreturn]] void throw_launch_error(cl_int code, const opencl_kernel& kernel,
                                     const nd_range& range) {
  if (code == CL_INVALID_KERNEL_ARGS) kernel.check_arguments();
  const std::string call =
      fmt::format("launch of kernel '{}' with {} x {} x {} work items in groups of {} x {} x {}",
                  kernel.info().name, range.global.x, range.global.y, range.global.z, range.local.x,
                  range.local.y, range.local.z);
  throw_error(code, call, kernel.context()->info());
}

}  // namespace

opencl_event::opencl_event(std::shared_ptr<detail::context_interface> context, cl::Event handle,
                           bool is_marker)
    : context_(std::move(context)), handle_(std::move(handle)), is_marker_(is_marker) {}

void opencl_event::do_wait() const {
  guarded(context_->info(), [&] { handle_.wait(); });
}

bool opencl_event::do_is_complete() const {
  const auto status = guarded(context_->info(),
                              [&] { return handle_.getInfo<CL_EVENT_COMMAND_EXECUTION_STATUS>(); });
  if (status < 0) throw_error(status, "a command in the queue", context_->info());
  return status == CL_COMPLETE;
}

std::chrono::nanoseconds opencl_event::do_duration() const {
  do_wait();
  if (is_marker_) return std::chrono::nanoseconds{0};
  return difference(time(CL_PROFILING_COMMAND_END), time(CL_PROFILING_COMMAND_START));
}

std::chrono::nanoseconds opencl_event::do_time_since(const event_interface& prior) const {
  const auto& earlier = static_cast<const opencl_event&>(prior);
  earlier.do_wait();
  do_wait();
  return difference(time(CL_PROFILING_COMMAND_START), earlier.time(CL_PROFILING_COMMAND_END));
}

cl_ulong opencl_event::time(cl_profiling_info which) const {
  cl_ulong result = 0;
  check(clGetEventProfilingInfo(handle_(), which, sizeof result, &result, nullptr),
        "reading the time of a command", context_->info());
  return result;
}

opencl_queue::opencl_queue(const std::shared_ptr<opencl_context>& context,
                           detail::queue_settings settings)
    : queue_interface(context, settings),
      handle_(guarded(context->info(),
                      [&] {
                        return cl::CommandQueue(context->handle(), context->device_handle(),
                                                settings.profiling ? cl::QueueProperties::Profiling
                                                                   : cl::QueueProperties::None);
                      })),
      is_own_(true) {}

opencl_queue::opencl_queue(const std::shared_ptr<opencl_context>& context, cl::CommandQueue handle,
                           detail::queue_settings settings)
    : queue_interface(context, settings), handle_(std::move(handle)), is_own_(false) {}

// Commands under way may use buffers that are released next.
opencl_queue::~opencl_queue() {
  leave_if_forked(handle_);
  if (!is_own_ || handle_() == nullptr) return;
  const cl_int status = clFinish(handle_());
  if (status != CL_SUCCESS) {
    log(log_level::error, "a command queue ended with " + error_name(status));
  }
}

void opencl_queue::do_launch(detail::kernel_interface& kernel, const nd_range& range,
                             event_pointer* event) {
  auto& launched = static_cast<opencl_kernel&>(kernel);
  if (range.local_memory_bytes > 0) launched.set_dynamic_local_memory(range.local_memory_bytes);
  const std::size_t global[] = {range.global.x, range.global.y, range.global.z};
  const std::size_t local[] = {range.local.x, range.local.y, range.local.z};
  const cl_uint rank = range.global.z > 1 ? 3 : range.global.y > 1 ? 2 : 1;
  cl_event created = nullptr;
  const cl_int status =
      clEnqueueNDRangeKernel(handle_(), launched.handle()(), rank, nullptr, global, local, 0,
                             nullptr, event != nullptr ? &created : nullptr);
  if (status != CL_SUCCESS) throw_launch_error(status, launched, range);
  if (event != nullptr) *event = wrap(cl::Event(created));
}

void opencl_queue::do_copy(const detail::copy_request& request,
                           std::vector<event_pointer>* events) {
  std::vector<cl::Event> created;
  enqueue_copy(handle_, request, context()->info(), events != nullptr ? &created : nullptr);
  for (const cl::Event& event : created) events->push_back(wrap(event));
}

void opencl_queue::do_fill(const detail::buffer_interface& buffer, const fill_region& region,
                           std::span<const std::byte> pattern, event_pointer* event) {
  cl_event created = nullptr;
  enqueue_fill(handle_(), static_cast<const opencl_buffer&>(buffer), region, pattern,
               event != nullptr ? &created : nullptr);
  if (event != nullptr) *event = wrap(cl::Event(created));
}

opencl_queue::event_pointer opencl_queue::do_mark() {
  cl::Event created;
  guarded(context()->info(), [&] { handle_.enqueueMarkerWithWaitList(nullptr, &created); });
  return wrap(created, true);
}

void opencl_queue::do_wait_for(std::span<const event_pointer> events) {
  // A few at a time, which is equivalent and allocates nothing.
  while (!events.empty()) {
    std::array<cl_event, 8> some{};
    const std::size_t count = std::min(some.size(), events.size());
    for (std::size_t i = 0; i < count; ++i) {
      some[i] = static_cast<const opencl_event&>(*events[i]).handle()();
    }
    check(
        clEnqueueBarrierWithWaitList(handle_(), static_cast<cl_uint>(count), some.data(), nullptr),
        "clEnqueueBarrierWithWaitList", context()->info());
    events = events.subspan(count);
  }
}

void opencl_queue::do_flush() {
  guarded(context()->info(), [&] { handle_.flush(); });
}

void opencl_queue::do_finish() {
  guarded(context()->info(), [&] { handle_.finish(); });
}

opencl_queue::event_pointer opencl_queue::wrap(const cl::Event& handle, bool is_marker) const {
  return detail::make_event<opencl_event>(events_, context(), handle, is_marker);
}

}  // namespace tune::opencl
