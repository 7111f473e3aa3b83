// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/device/command_queue.hpp"

#include <algorithm>
#include <array>

#include "libtune/base/error.hpp"
#include "libtune/base/forked_process.hpp"
#include "libtune/device/context.hpp"
#include "libtune/device/copy.hpp"
#include "libtune/device/kernel.hpp"
#include "libtune/device/queue_interface.hpp"
#include "libtune/device/recorded_time.hpp"

namespace tune {

namespace {

// Each of the callers waits; see queue_interface.
const detail::event_interface& waited(const std::shared_ptr<detail::event_interface>& event) {
  if (detail::is_forked()) [[unlikely]]
    detail::throw_forked("wait for a command of a device");
  return *event;
}

}  // namespace

void event::wait() const { waited(impl_).wait(); }

bool event::is_complete() const { return impl_->is_complete(); }

std::chrono::nanoseconds event::duration() const { return waited(impl_).duration(); }

std::chrono::nanoseconds event::time_since(const event& prior) const {
  return waited(impl_).time_since(*prior.impl_);
}

namespace {

thread_local std::chrono::nanoseconds recorded_by_thread{0};

detail::copy_side linear(const buffer& buffer, std::size_t offset_bytes, std::size_t bytes) {
  return {.buffer = buffer.impl().get(),
          .offset_bytes = offset_bytes,
          .row_pitch_bytes = bytes,
          .slice_pitch_bytes = bytes};
}

detail::copy_side linear(void* host, std::size_t bytes) {
  return {.host = host, .row_pitch_bytes = bytes, .slice_pitch_bytes = bytes};
}

constexpr std::array<std::byte, 1> zeros{};

}  // namespace

context command_queue::context() const { return tune::context(impl_->context()); }

device command_queue::device() const { return context().device(); }

void command_queue::enqueue(kernel& kernel, const nd_range& range) {
  impl_->launch(kernel.impl(), range);
}

event command_queue::enqueue_with_event(kernel& kernel, const nd_range& range) {
  return event(impl_->launch_with_event(kernel.impl(), range));
}

void command_queue::write(const buffer& destination, const void* source, std::size_t bytes,
                          std::size_t offset_bytes, bool blocking) {
  // Never written as a source. A request has the same type of side for both directions.
  impl_->copy({.source = linear(const_cast<void*>(source), bytes),  // NOLINT
               .destination = linear(destination, offset_bytes, bytes),
               .row_bytes = bytes,
               .blocking = blocking});
}

void command_queue::read(const buffer& source, void* destination, std::size_t bytes,
                         std::size_t offset_bytes, bool blocking) {
  impl_->copy({.source = linear(source, offset_bytes, bytes),
               .destination = linear(destination, bytes),
               .row_bytes = bytes,
               .blocking = blocking});
}

void command_queue::write(const buffer& destination, std::span<const std::byte> source,
                          const copy_region& region, bool blocking) {
  detail::copy_request request = detail::make_copy_request(region, {"host memory", source.size()},
                                                           {"buffer", destination.size_bytes()});
  request.source.host = const_cast<std::byte*>(source.data());  // NOLINT: never written
  request.destination.buffer = destination.impl().get();
  request.blocking = blocking;
  impl_->copy(request);
}

void command_queue::read(const buffer& source, std::span<std::byte> destination,
                         const copy_region& region, bool blocking) {
  detail::copy_request request = detail::make_copy_request(region, {"buffer", source.size_bytes()},
                                                           {"host memory", destination.size()});
  request.source.buffer = source.impl().get();
  request.destination.host = destination.data();
  request.blocking = blocking;
  impl_->copy(request);
}

void command_queue::copy(const buffer& destination, const buffer& source, std::size_t bytes,
                         std::size_t destination_offset_bytes, std::size_t source_offset_bytes) {
  copy(destination, source,
       {.row_bytes = bytes,
        .source = {.offset_bytes = source_offset_bytes},
        .destination = {.offset_bytes = destination_offset_bytes}});
}

void command_queue::copy(const buffer& destination, const buffer& source,
                         const copy_region& region) {
  detail::copy_request request = detail::make_copy_request(region, {"buffer", source.size_bytes()},
                                                           {"buffer", destination.size_bytes()});
  request.source.buffer = source.impl().get();
  request.destination.buffer = destination.impl().get();
  const bool within_one = source == destination;
  if (within_one && detail::overlaps(request)) {
    throw argument_error(
        "the source and the destination of a copy within one buffer overlap; "
        "copy to another buffer first");
  }
  if (!within_one || detail::is_empty(request) || detail::has_equal_pitches(request)) {
    impl_->copy(request);
  } else {
    detail::for_each_row(request, [&](const detail::copy_request& row) { impl_->copy(row); });
  }
}

void command_queue::fill(const buffer& buffer, std::size_t bytes,
                         std::span<const std::byte> pattern, std::size_t offset_bytes) {
  impl_->fill(*buffer.impl(), {.offset_bytes = offset_bytes, .row_bytes = bytes}, pattern);
}

void command_queue::fill(const buffer& buffer, const fill_region& region,
                         std::span<const std::byte> pattern) {
  impl_->fill(*buffer.impl(), region, pattern);
}

void command_queue::zero(const buffer& buffer, std::size_t bytes, std::size_t offset_bytes) {
  fill(buffer, bytes, zeros, offset_bytes);
}

void command_queue::zero(const buffer& buffer, const fill_region& region) {
  fill(buffer, region, zeros);
}

mapped_memory command_queue::map(const buffer& managed, bool blocking) {
  return {impl_, managed.impl(), blocking};
}

void command_queue::enqueue_foreign(const std::function<void()>& enqueue,
                                    std::span<const std::shared_ptr<const void>> used) {
  if (!enqueue)
    throw argument_error("enqueue_foreign needs a function that enqueues, and has none");
  impl_->enqueue_foreign(enqueue, used);
}

event command_queue::enqueue_marker() { return event(impl_->mark()); }

void command_queue::wait_for(std::span<const event> events) {
  // A few at a time, which is equivalent and allocates nothing.
  std::array<std::shared_ptr<detail::event_interface>, 8> some;
  do {
    const std::size_t count = std::min(some.size(), events.size());
    std::ranges::transform(events.first(count), some.begin(), &event::impl);
    impl_->wait_for(std::span(some).first(count));
    events = events.subspan(count);
  } while (!events.empty());
}

std::optional<command_graph> command_queue::capture(const std::function<void()>& enqueue) {
  if (!enqueue) throw argument_error("a capture needs a function that enqueues; it was given none");
  std::shared_ptr<detail::graph_interface> graph;
  if (!impl_->capture(graph, enqueue)) return std::nullopt;
  return command_graph(std::move(graph));
}

void command_queue::recapture(command_graph& graph, const std::function<void()>& enqueue) {
  if (!enqueue) throw argument_error("a capture needs a function that enqueues; it was given none");
  std::shared_ptr<detail::graph_interface> target = graph.impl();
  if (impl_->capture(target, enqueue)) return;
  throw device_error("capture of commands", device().name(),
                     "this queue cannot be captured; run the commands on it plainly");
}

bool command_queue::is_capturing() const noexcept { return impl_->is_capturing(); }

void command_queue::enqueue(const command_graph& graph) { impl_->launch(*graph.impl()); }

void command_queue::flush() { impl_->flush(); }

void command_queue::finish() { impl_->finish(); }

void tuning_command_queue::start_recording() { impl_->start_recording(); }

std::size_t tuning_command_queue::recorded() const noexcept { return impl_->recorded(); }

std::vector<std::chrono::nanoseconds> tuning_command_queue::stop_recording() {
  const auto events = impl_->stop_recording();
  impl_->finish();
  std::vector<std::chrono::nanoseconds> times;
  times.reserve(events.size());
  for (const auto& item : events) {
    times.push_back(item->duration());
    recorded_by_thread += times.back();
  }
  return times;
}

std::chrono::nanoseconds detail::recorded_time() noexcept { return recorded_by_thread; }

}  // namespace tune
