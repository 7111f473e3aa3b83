// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/device/opencl/event.hpp"

#include <utility>

#include "libtune/device/opencl/error.hpp"

namespace tune::opencl {
namespace {

// The difference of two unsigned device times, which may be negative between queues.
std::chrono::nanoseconds difference(cl_ulong later, cl_ulong earlier) {
  return std::chrono::nanoseconds(static_cast<std::int64_t>(later - earlier));
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

}  // namespace tune::opencl
