// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "libtune/base/cxx20.hpp"
#include "libtune/device/buffer.hpp"
#include "libtune/device/kernel.hpp"

namespace tune {

class context;
class device;
class image;

namespace detail {
class event_interface;
class graph_interface;
class queue_interface;
}  // namespace detail

/// A command in a queue, or a marker between commands. A handle: copies mean the same event.
/// Thread-safe. Times need a queue made with profiling.
class event {
 public:
  /// For libtune's backends; users call command_queue::enqueue_marker.
  explicit event(std::shared_ptr<detail::event_interface> impl) noexcept : impl_(std::move(impl)) {}

  /// Blocks until the command has ended.
  void wait() const;
  /// True if the command has ended.
  bool is_complete() const;
  /// Device time from the command's start to its end; zero for a marker. Waits for the command.
  std::chrono::nanoseconds duration() const;
  /// Device time from the end of prior to the start of this. Waits for both.
  std::chrono::nanoseconds time_since(const event& prior) const;
  /// Device time from the end of this to the start of next. Waits for both.
  std::chrono::nanoseconds time_till(const event& next) const { return next.time_since(*this); }

  /// For libtune's own code; null in a handle that was moved from.
  const std::shared_ptr<detail::event_interface>& impl() const noexcept { return impl_; }

 private:
  std::shared_ptr<detail::event_interface> impl_;
};

/// Commands that command_queue::capture has recorded, to be run as often as wanted with one launch
/// each, on any queue of the context. Each launch has the kernels, arguments and buffers of the
/// time of the capture, which the graph keeps alive. Host memory that its copies read or write is
/// used anew by each launch, and stays its owner's to keep.
///
/// A handle: copies mean the same graph, which goes with the last of them; launches that are under
/// way then still end. Not thread-safe: one thread at a time enqueues a graph or records into it.
class command_graph {
 public:
  /// For libtune's backends; users call command_queue::capture.
  explicit command_graph(std::shared_ptr<detail::graph_interface> impl) noexcept
      : impl_(std::move(impl)) {}

  /// For libtune's own code; null in a handle that was moved from.
  const std::shared_ptr<detail::graph_interface>& impl() const noexcept { return impl_; }

  /// True if two handles mean the same graph.
  friend bool operator==(const command_graph& a, const command_graph& b) noexcept {
    return a.impl_ == b.impl_;
  }

 private:
  std::shared_ptr<detail::graph_interface> impl_;
};

/// An in-order, asynchronous queue of commands on one device. A handle: copies mean the same queue.
/// Several threads may enqueue on one queue; the order between them is then undefined.
class command_queue {
 public:
  /// For libtune's backends; users call context::create_command_queue.
  explicit command_queue(std::shared_ptr<detail::queue_interface> impl) noexcept
      : impl_(std::move(impl)) {}

  /// The context that the queue was made in.
  tune::context context() const;
  /// The device that runs its commands.
  tune::device device() const;

  /// Enqueues a kernel with the arguments that it holds; a range without work items enqueues
  /// nothing. Allocates nothing unless the queue is recording.
  /// @throws device_error if the launch is refused
  void enqueue(kernel& kernel, const nd_range& range);
  /// The same, and an event that ends with the kernel; of nothing, a marker.
  event enqueue_with_event(kernel& kernel, const nd_range& range);

  /// Copies bytes between host and device. Blocking: the host memory may be used on return.
  /// Otherwise it has to stay untouched until the queue gets past the copy.
  /// @throws argument_error if the bytes leave the buffer, device_error
  void write(const buffer& destination, const void* source, std::size_t bytes,
             std::size_t offset_bytes = 0, bool blocking = true);
  /// Copies bytes of a buffer to host memory; the rest as for write.
  void read(const buffer& source, void* destination, std::size_t bytes,
            std::size_t offset_bytes = 0, bool blocking = true);

  /// Copies a box of bytes from host memory to a buffer:
  ///   queue.write(padded, std::as_bytes(std::span(image)),
  ///               {.row_bytes = 40, .rows = 9, .destination = {.row_pitch_bytes = 64}});
  /// Blocking or not is as for the other write.
  /// @throws argument_error if the box leaves the buffer or the host memory, or its rows or slices
  ///         overlap; device_error
  void write(const buffer& destination, std::span<const std::byte> source,
             const copy_region& region, bool blocking = true);
  /// Copies a box of bytes from a buffer to host memory; the rest as for write.
  void read(const buffer& source, std::span<std::byte> destination, const copy_region& region,
            bool blocking = true);

  /// Copies bytes from one buffer to another, or to another place in it. Does not block.
  /// @throws argument_error if the bytes leave a buffer, or overlap within one; device_error
  void copy(const buffer& destination, const buffer& source, std::size_t bytes,
            std::size_t destination_offset_bytes = 0, std::size_t source_offset_bytes = 0);
  /// Copies a box of bytes from one buffer to another, or to another place in it, where every row
  /// is a command if the pitches differ. Does not block. Parts of one buffer (create_sub_buffer)
  /// must not overlap either, which is not checked.
  /// @throws argument_error if the box leaves a buffer, its rows or slices overlap, or the two
  /// sides
  ///         overlap within one buffer; device_error
  void copy(const buffer& destination, const buffer& source, const copy_region& region);

  /// Copies all pixels of an image, one after the other, between host and device. Blocking or not
  /// is as for buffers. @throws device_error
  void write(const image& destination, const void* source, bool blocking = true);
  /// Copies all pixels to host memory; the rest as for write.
  void read(const image& source, void* destination, bool blocking = true);
  /// Copies all pixels from a buffer, in which they follow each other. Does not block.
  /// @throws argument_error if they leave the buffer; device_error
  void copy(const image& destination, const buffer& source, std::size_t source_offset_bytes = 0);
  /// Copies all pixels to a buffer; the rest as from one.
  void copy(const buffer& destination, const image& source,
            std::size_t destination_offset_bytes = 0);

  /// Repeats a pattern of 1 to 256 bytes over a range, or over each row of a region, whose size it
  /// divides. Any offset and pitch will do; rows aligned to 16 bytes are filled fastest. It does
  /// not block, takes the pattern at once, and allocates nothing unless the queue is recording.
  /// Drivers fill some of it themselves: OpenCL one aligned run with a pattern of a power of two
  /// bytes, CUDA one slice with an aligned pattern of 1, 2 or 4. All else takes a kernel of
  /// libtune's own, which a context compiles at the first such fill: make one before time matters.
  /// @throws argument_error if the pattern does not divide each row, or the region leaves the
  ///         buffer or overlaps itself
  void fill(const buffer& buffer, std::size_t bytes, std::span<const std::byte> pattern,
            std::size_t offset_bytes = 0);
  /// The same for each row of a region; each row starts with the start of the pattern.
  void fill(const buffer& buffer, const fill_region& region, std::span<const std::byte> pattern);
  /// Fills with zeros.
  void zero(const buffer& buffer, std::size_t bytes, std::size_t offset_bytes = 0);
  /// Fills each row of a region with zeros.
  void zero(const buffer& buffer, const fill_region& region);

  /// Lets the host read and write a buffer of context::create_managed_buffer, or a part of one,
  /// until the result ends. Waits for what is enqueued on this queue; commands of other queues that
  /// use the memory have to be waited for before. Until the result ends, no command may use the
  /// memory, nor may the same bytes be mapped again; then what is enqueued on this queue sees what
  /// the host wrote.
  /// @param managed   the buffer or part
  /// @param blocking  false: returns at once, and the memory may be touched when the queue has got
  ///                  there (finish, or an event of enqueue_marker)
  /// @throws argument_error if the buffer is not managed or of another context; device_error
  mapped_memory map(const buffer& managed, bool blocking = true);

  /// Calls a function that lets another library enqueue on this queue by its native handle (see
  /// device/cuda/interop.hpp, device/opencl/interop.hpp), and returns what it throws. In CUDA the
  /// queue's context is current meanwhile. What it enqueues counts as one command where the queue
  /// is recording, and becomes part of the graph where it is captured, if the library can be
  /// captured. Allocates nothing unless the queue is recording or captured.
  /// @param enqueue  enqueues on this queue alone, and does not wait
  /// @param used     what those commands use: a graph keeps it alive, an impl() of a buffer, say
  void enqueue_foreign(const std::function<void()>& enqueue,
                       std::span<const std::shared_ptr<const void>> used = {});

  /// An event that ends when everything enqueued before it has.
  event enqueue_marker();
  /// Later commands start only when these events, of any queue of the context, have ended.
  void wait_for(std::span<const event> events);
  /// The same for events that are listed in the call.
  void wait_for(std::initializer_list<event> events) {
    wait_for(std::span<const event>(events.begin(), events.size()));
  }

  /// Records what enqueue() puts on this queue into a graph, instead of running it. That may be
  /// launches, fills and copies that do not block; all else on this queue is refused meanwhile with
  /// a device_error that names it, except flush(), which does nothing. No other thread may use the
  /// queue meanwhile. If enqueue throws, that goes on, and what it recorded is forgotten. Empty,
  /// without calling enqueue, where device_info::command_graphs is false or the queue is CUDA's
  /// default stream.
  /// @throws device_error; argument_error if enqueue is empty
  std::optional<command_graph> capture(const std::function<void()>& enqueue);

  /// Records anew into a graph of this context, for every copy of its handle: faster than a new
  /// graph if the commands are of the same kinds, with the same kernels in the same order. Launches
  /// that are under way are not affected. Where enqueue throws, the graph stays as it was.
  /// @throws as capture; argument_error if the graph belongs to another context; device_error where
  ///         the queue cannot capture
  void recapture(command_graph& graph, const std::function<void()>& enqueue);

  /// True if commands are recorded into a graph now, and not run.
  bool is_capturing() const noexcept;

  /// Enqueues all commands of a graph with one launch, which allocates nothing unless the queue is
  /// recording; then it is recorded as one command. Launches of one graph run one after another,
  /// whatever their queues. @throws device_error, argument_error if it is of another context
  void enqueue(const command_graph& graph);

  /// Hands what is enqueued to the device.
  void flush();
  /// Blocks until everything enqueued has ended.
  void finish();

  /// For libtune's own code; null in a handle that was moved from.
  const std::shared_ptr<detail::queue_interface>& impl() const noexcept { return impl_; }

  /// True if two handles mean the same queue.
  friend bool operator==(const command_queue& a, const command_queue& b) noexcept {
    return a.impl_ == b.impl_;
  }

 protected:
  std::shared_ptr<detail::queue_interface> impl_;  ///< null once moved from
};

/// A queue that can tell the device time of each command between start_recording and
/// stop_recording. One thread records at a time.
class tuning_command_queue : public command_queue {
 public:
  /// For libtune's backends; users call context::create_tuning_command_queue.
  using command_queue::command_queue;

  /// Times the kernels, fills and graphs enqueued from now on; forgets an earlier recording.
  /// @throws argument_error if the queue was made without profiling, device_error while it captures
  void start_recording();
  /// The kernels, fills and graphs enqueued since start_recording.
  std::size_t recorded() const noexcept;
  /// Ends recording, waits, and returns the device time of each, in order.
  std::vector<std::chrono::nanoseconds> stop_recording();
};

}  // namespace tune
