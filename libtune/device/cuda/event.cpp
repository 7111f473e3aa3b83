// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/device/cuda/event.hpp"

#include <atomic>
#include <cmath>
#include <utility>

namespace tune::cuda {
namespace {

std::uint64_t next_number() noexcept {
  static std::atomic<std::uint64_t> last{0};
  return ++last;
}

}  // namespace

event_handle::event_handle(std::shared_ptr<cuda_context> context, bool timed)
    : context_(std::move(context)) {
  // Waiting threads sleep instead of spinning, because pipelines need the cores.
  const unsigned flags = CU_EVENT_BLOCKING_SYNC | (timed ? 0U : unsigned{CU_EVENT_DISABLE_TIMING});
  const auto entered = context_->enter();
  context_->check(context_->api().event_create(&handle_, flags), "cuEventCreate");
}

event_handle::event_handle(event_handle&& other) noexcept
    : context_(std::move(other.context_)), handle_(std::exchange(other.handle_, nullptr)) {}

event_handle& event_handle::operator=(event_handle&& other) noexcept {
  std::swap(context_, other.context_);
  std::swap(handle_, other.handle_);
  return *this;
}

event_handle::~event_handle() {
  if (handle_ == nullptr) return;
  context_->release("cuEventDestroy", [&] { return context_->api().event_destroy(handle_); });
}

cuda_event::cuda_event(std::shared_ptr<cuda_context> context, bool timed, bool is_marker)
    : context_(std::move(context)), timed_(timed), is_marker_(is_marker), end_(context_, timed) {
  if (timed && !is_marker) start_ = event_handle(context_, true);
}

void cuda_event::record_start(CUstream stream) {
  if (start_.get() == nullptr) return;
  context_->check(context_->api().event_record(start_.get(), stream), "cuEventRecord");
}

void cuda_event::record_end(CUstream stream) {
  number_ = next_number();
  context_->check(context_->api().event_record(end_.get(), stream), "cuEventRecord");
}

void cuda_event::do_wait() const {
  const auto entered = context_->enter();
  context_->check(context_->api().event_synchronize(end_.get()), "cuEventSynchronize");
}

bool cuda_event::do_is_complete() const {
  const auto entered = context_->enter();
  const CUresult status = context_->api().event_query(end_.get());
  if (status == CUDA_ERROR_NOT_READY) return false;
  context_->check(status, "cuEventQuery");
  return true;
}

std::chrono::nanoseconds cuda_event::do_duration() const {
  check_timed();
  do_wait();
  return is_marker_ ? std::chrono::nanoseconds{0} : elapsed(start_.get(), end_.get());
}

std::chrono::nanoseconds cuda_event::do_time_since(const event_interface& prior) const {
  const auto& earlier = static_cast<const cuda_event&>(prior);
  earlier.check_timed();
  check_timed();
  earlier.do_wait();
  do_wait();
  // The driver only computes the time from an earlier event to a later one.
  return earlier.number_ <= number_ ? elapsed(earlier.end_.get(), start())
                                    : -elapsed(start(), earlier.end_.get());
}

void cuda_event::check_timed() const {
  if (timed_) return;
  throw device_error("reading the time of a command", context_->info().identity.name,
                     "create the command queue with profiling");
}

std::chrono::nanoseconds cuda_event::elapsed(CUevent from, CUevent to) const {
  const auto entered = context_->enter();
  float milliseconds = 0;
  context_->check(context_->api().event_elapsed_time(&milliseconds, from, to),
                  "cuEventElapsedTime");
  return std::chrono::nanoseconds(std::llround(double{milliseconds} * 1e6));
}

}  // namespace tune::cuda
