// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The interface of a command queue for backends: the queue, its events and its graphs; see
// interface.hpp. A backend without graphs implements no graph_interface.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "libtune/device/buffer.hpp"
#include "libtune/device/interface.hpp"
#include "libtune/device/kernel.hpp"

namespace tune::detail {

/// A command in a queue, or a marker between commands.
class event_interface {
 public:
  event_interface() = default;
  virtual ~event_interface() = default;
  event_interface(const event_interface&) = delete;
  event_interface& operator=(const event_interface&) = delete;

  void wait() const { do_wait(); }
  bool is_complete() const { return do_is_complete(); }
  std::chrono::nanoseconds duration() const { return do_duration(); }
  std::chrono::nanoseconds time_since(const event_interface& prior) const {
    return do_time_since(prior);
  }

 private:
  virtual void do_wait() const = 0;
  virtual bool do_is_complete() const = 0;
  /// Device time from the command's start to its end, after waiting for it; zero for a marker.
  virtual std::chrono::nanoseconds do_duration() const = 0;
  /// Device time from the end of prior to the start of this command, after waiting for both.
  virtual std::chrono::nanoseconds do_time_since(const event_interface& prior) const = 0;
};

/// Captured commands that one launch runs. Not thread-safe.
class graph_interface {
 public:
  explicit graph_interface(std::shared_ptr<context_interface> context)
      : context_(std::move(context)) {}
  virtual ~graph_interface() = default;
  graph_interface(const graph_interface&) = delete;
  graph_interface& operator=(const graph_interface&) = delete;

  const std::shared_ptr<context_interface>& context() const noexcept { return context_; }

  /// Enqueues the commands. If event is not null, it is set to an event for all of them together.
  void launch(queue_interface& queue, std::shared_ptr<event_interface>* event) {
    do_launch(queue, event);
  }

  /// Keeps the objects that the commands use alive, and releases the previous ones.
  void keep(possessions used) noexcept { used_.swap(used); }

 private:
  virtual void do_launch(queue_interface& queue, std::shared_ptr<event_interface>* event) = 0;

  std::shared_ptr<context_interface> context_;
  possessions used_;  // destroyed after the members of a derived class
};

/// One side of a copy: device memory if buffer is set, else host memory.
struct copy_side {
  const buffer_interface* buffer = nullptr;
  void* host = nullptr;               ///< never written to on the source side
  std::size_t offset_bytes = 0;       ///< offset of the first byte
  std::size_t row_pitch_bytes = 0;    ///< from one row to the next
  std::size_t slice_pitch_bytes = 0;  ///< from one slice to the next
};

/// A copy of slices x rows x bytes. At least one side is a buffer. If there are several rows or
/// slices, their pitches are given on both sides, and are at least the size of the rows or slices
/// that they step over; otherwise they are ignored. Source and destination do not overlap; within
/// one buffer both sides have the same pitches.
struct copy_request {
  copy_side source;
  copy_side destination;
  std::size_t row_bytes = 0;
  std::size_t rows = 1;
  std::size_t slices = 1;
  bool blocking = true;  ///< true: returns only when the host memory may be used again
};

/// True inside a queue_interface::capture of the calling thread.
bool is_capturing_on_this_thread() noexcept;

/// True if a request has no bytes.
constexpr bool is_empty(const copy_request& request) noexcept {
  return request.row_bytes == 0 || request.rows == 0 || request.slices == 0;
}

/// True if a request is one run of bytes on both sides.
constexpr bool is_linear(const copy_request& request) noexcept {
  return request.rows == 1 && request.slices == 1;
}

/// Returns the same copy, with slices of one row each converted to rows.
copy_request without_single_rows(copy_request request) noexcept;

/// True if the distance of slices is a multiple of the distance of rows on both sides, as drivers
/// require.
bool has_regular_slices(const copy_request& request) noexcept;

/// Returns the copy of one slice.
copy_request nth_slice(copy_request request, std::size_t n) noexcept;

/// Calls visit(part) with copies that together are equivalent to wanted: linear ones, or ones with
/// regular slices. A single one if the shape allows it.
template <class Visitor>
void for_each_part(const copy_request& wanted, Visitor&& visit) {
  const copy_request request = without_single_rows(wanted);
  if (has_regular_slices(request)) {
    visit(request);
    return;
  }
  for (std::size_t n = 0; n < request.slices; ++n) visit(nth_slice(request, n));
}

/// An in-order queue of commands.
class queue_interface {
 public:
  queue_interface(std::shared_ptr<context_interface> context, queue_settings settings);
  virtual ~queue_interface();
  queue_interface(const queue_interface&) = delete;
  queue_interface& operator=(const queue_interface&) = delete;

  const std::shared_ptr<context_interface>& context() const noexcept { return context_; }
  bool profiling() const noexcept { return settings_.profiling; }

  void launch(kernel_interface& kernel, const nd_range& range);
  std::shared_ptr<event_interface> launch_with_event(kernel_interface& kernel,
                                                     const nd_range& range);
  void copy(const copy_request& request);
  void fill(const buffer_interface& buffer, const fill_region& region,
            std::span<const std::byte> pattern);
  void enqueue_foreign(const std::function<void()>& enqueue,
                       std::span<const std::shared_ptr<const void>> used);
  std::shared_ptr<event_interface> mark();
  void wait_for(std::span<const std::shared_ptr<event_interface>> events);
  void flush();
  void finish();

  /// Records the commands that enqueue() puts on this queue into graph, which is null or the result
  /// of an earlier call. Returns false, without calling enqueue, if the queue cannot capture.
  bool capture(std::shared_ptr<graph_interface>& graph, const std::function<void()>& enqueue);
  bool is_capturing() const noexcept { return captured_ != nullptr; }
  void launch(graph_interface& graph);

  /// See command_queue::map.
  void* map(buffer_interface& buffer, bool blocking);
  void unmap(buffer_interface& buffer, void* data);

  /// While recording, every kernel launch and every fill and copy on the device creates an event.
  /// Requires profiling.
  void start_recording();
  std::vector<std::shared_ptr<event_interface>> stop_recording();
  std::size_t recorded() const noexcept { return recorded_.size(); }

 protected:
  /// The door (base/seal.hpp) for do_capture before it captures into a new graph.
  void check_new_graph() const;

 private:
  using event_pointer = std::shared_ptr<event_interface>;

  /// event may be null; otherwise the function sets it.
  virtual void do_launch(kernel_interface& kernel, const nd_range& range, event_pointer* event) = 0;
  /// events may be null; otherwise both sides are buffers, and the function adds an event for each
  /// command of the copy.
  virtual void do_copy(const copy_request& request, std::vector<event_pointer>* events) = 0;
  /// One command, whose pattern divides each row. The region is merged and not empty, and the
  /// pattern the shortest equivalent one: see fill.hpp.
  virtual void do_fill(const buffer_interface& buffer, const fill_region& region,
                       std::span<const std::byte> pattern, event_pointer* event) = 0;
  /// Calls enqueue(), by which another library enqueues; event as for do_launch. By default, the
  /// event covers the time between a marker before and one after.
  virtual void do_enqueue_foreign(const std::function<void()>& enqueue, event_pointer* event);
  virtual event_pointer do_mark() = 0;
  virtual void do_wait_for(std::span<const event_pointer> events) = 0;
  virtual void do_flush() = 0;
  virtual void do_finish() = 0;
  /// Like capture(). If it throws, the queue is usable and nothing has been recorded; an existing
  /// graph is unchanged if enqueue threw.
  virtual bool do_capture(std::shared_ptr<graph_interface>& graph,
                          const std::function<void()>& enqueue);

  void check_launch(const kernel_interface& kernel, const nd_range& range) const;
  void refuse_while_capturing(const char* what) const;
  void keep(const buffer_interface& buffer);

  std::shared_ptr<context_interface> context_;
  queue_settings settings_;
  bool recording_ = false;  // never while capturing
  std::vector<event_pointer> recorded_;
  possessions* captured_ = nullptr;  // the objects that the captured commands use
};

}  // namespace tune::detail
