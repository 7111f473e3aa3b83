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

/// A command in a queue, or a marker between commands. A handle: copies refer to the same event.
/// Thread-safe. Times require a queue with profiling.
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
  /// Device time from the end of prior to the start of this command. Waits for both.
  std::chrono::nanoseconds time_since(const event& prior) const;
  /// Device time from the end of this command to the start of next. Waits for both.
  std::chrono::nanoseconds time_till(const event& next) const { return next.time_since(*this); }

  /// For libtune's own code; null in a handle that was moved from.
  const std::shared_ptr<detail::event_interface>& impl() const noexcept { return impl_; }

 private:
  std::shared_ptr<detail::event_interface> impl_;
};

/// Commands that command_queue::capture has recorded. One launch runs them all, any number of
/// times, on any queue of the context. Each launch uses the kernels, arguments and buffers of the
/// capture, which the graph keeps alive. Its copies access host memory at each launch; the
/// application owns that memory and has to keep it.
///
/// A handle: copies refer to the same graph, which is released with the last of them; launches that
/// are under way still end. Not thread-safe: one thread at a time enqueues a graph or records into
/// it.
class command_graph {
 public:
  /// For libtune's backends; users call command_queue::capture.
  explicit command_graph(std::shared_ptr<detail::graph_interface> impl) noexcept
      : impl_(std::move(impl)) {}

  /// For libtune's own code; null in a handle that was moved from.
  const std::shared_ptr<detail::graph_interface>& impl() const noexcept { return impl_; }

  /// True if two handles refer to the same graph.
  friend bool operator==(const command_graph& a, const command_graph& b) noexcept {
    return a.impl_ == b.impl_;
  }

 private:
  std::shared_ptr<detail::graph_interface> impl_;
};

/// An in-order, asynchronous queue of commands on one device. A handle: copies refer to the same
/// queue. Several threads may enqueue on one queue; the order between their commands is undefined.
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
  /// Like enqueue(), and returns an event that ends with the kernel; for a range without work
  /// items, a marker.
  event enqueue_with_event(kernel& kernel, const nd_range& range);

  /// Copies bytes from the host to the device. If blocking, the host memory may be used on return.
  /// Otherwise it has to stay unchanged until the queue has passed the copy.
  /// @throws argument_error if the bytes leave the buffer, device_error
  void write(const buffer& destination, const void* source, std::size_t bytes,
             std::size_t offset_bytes = 0, bool blocking = true);
  /// Copies bytes of a buffer to host memory, otherwise like write().
  void read(const buffer& source, void* destination, std::size_t bytes,
            std::size_t offset_bytes = 0, bool blocking = true);

  /// Copies a box of bytes from host memory to a buffer:
  ///   queue.write(padded, std::as_bytes(std::span(image)),
  ///               {.row_bytes = 40, .rows = 9, .destination = {.row_pitch_bytes = 64}});
  /// Blocking works as for the other write().
  /// @throws argument_error if the box leaves the buffer or the host memory, or its rows or slices
  ///         overlap; device_error
  void write(const buffer& destination, std::span<const std::byte> source,
             const copy_region& region, bool blocking = true);
  /// Copies a box of bytes from a buffer to host memory, otherwise like write().
  void read(const buffer& source, std::span<std::byte> destination, const copy_region& region,
            bool blocking = true);

  /// Copies bytes from one buffer to another, or to another place in it. Does not block.
  /// @throws argument_error if the bytes leave a buffer, or overlap within one; device_error
  void copy(const buffer& destination, const buffer& source, std::size_t bytes,
            std::size_t destination_offset_bytes = 0, std::size_t source_offset_bytes = 0);
  /// Copies a box of bytes from one buffer to another, or to another place in it. If the pitches
  /// differ, every row is a command. Does not block. Parts of one buffer (create_sub_buffer) must
  /// not overlap either, which is not checked.
  /// @throws argument_error if the box leaves a buffer, its rows or slices overlap, or the two
  ///         sides overlap within one buffer; device_error
  void copy(const buffer& destination, const buffer& source, const copy_region& region);

  /// Copies all pixels of an image, without gaps, between host and device. Blocking works as for
  /// buffers. @throws device_error
  void write(const image& destination, const void* source, bool blocking = true);
  /// Copies all pixels to host memory, otherwise like write().
  void read(const image& source, void* destination, bool blocking = true);
  /// Copies all pixels from a buffer, which holds them without gaps. Does not block.
  /// @throws argument_error if the pixels exceed the buffer; device_error
  void copy(const image& destination, const buffer& source, std::size_t source_offset_bytes = 0);
  /// Copies all pixels to a buffer, otherwise like the copy from a buffer.
  void copy(const buffer& destination, const image& source,
            std::size_t destination_offset_bytes = 0);

  /// Repeats a pattern of 1 to 256 bytes over a range, or over each row of a region; the pattern's
  /// size divides that of the range or row. Any offset and pitch are valid; rows aligned to 16
  /// bytes are filled fastest. It does not block, copies the pattern at once, and allocates nothing
  /// unless the queue is recording. Drivers perform some fills themselves: OpenCL one aligned run
  /// with a pattern of a power of two bytes, CUDA one slice with an aligned pattern of 1, 2 or 4.
  /// All other fills use a kernel of libtune's own, which a context compiles at the first such
  /// fill: do one before time matters.
  /// @throws argument_error if the pattern does not divide each row, or the region leaves the
  ///         buffer or overlaps itself
  void fill(const buffer& buffer, std::size_t bytes, std::span<const std::byte> pattern,
            std::size_t offset_bytes = 0);
  /// Fills each row of a region; each row begins with the start of the pattern.
  void fill(const buffer& buffer, const fill_region& region, std::span<const std::byte> pattern);
  /// Fills with zeros.
  void zero(const buffer& buffer, std::size_t bytes, std::size_t offset_bytes = 0);
  /// Fills each row of a region with zeros.
  void zero(const buffer& buffer, const fill_region& region);

  /// Lets the host read and write a buffer of context::create_managed_buffer, or a part of one,
  /// until the result ends. Waits for the commands that are enqueued on this queue; wait before for
  /// commands of other queues that use the memory. Until the result ends, no command may use the
  /// memory, nor may the same bytes be mapped again. Commands that are enqueued on this queue after
  /// that see the host's writes.
  /// @param managed   the buffer or part
  /// @param blocking  false: returns at once, and the memory may be accessed when the queue has
  /// reached the mapping (finish, or an event of enqueue_marker)
  /// @throws argument_error if the buffer is not managed or of another context; device_error
  mapped_memory map(const buffer& managed, bool blocking = true);

  /// Calls a function that lets another library enqueue on this queue by its native handle (see
  /// device/cuda/interop.hpp, device/opencl/interop.hpp), and passes on its exceptions. In CUDA,
  /// the queue's context is current during the call. If the queue is recording, the foreign
  /// commands count as one. If the queue is captured, they become part of the graph, provided that
  /// the library supports capture. Allocates nothing unless the queue is recording or captured.
  /// @param enqueue  enqueues on this queue alone, and does not wait
  /// @param used     objects that those commands use, such as the impl() of a buffer; a graph keeps
  /// them alive
  void enqueue_foreign(const std::function<void()>& enqueue,
                       std::span<const std::shared_ptr<const void>> used = {});

  /// An event that ends when everything enqueued before it has.
  event enqueue_marker();
  /// Later commands start only when these events, of any queue of the context, have ended.
  void wait_for(std::span<const event> events);
  /// Like the other wait_for(), for events that are listed in the call.
  void wait_for(std::initializer_list<event> events) {
    wait_for(std::span<const event>(events.begin(), events.size()));
  }

  /// Records the commands that enqueue() puts on this queue into a graph, instead of running them.
  /// Launches, fills and non-blocking copies can be recorded. All else on this queue is refused
  /// meanwhile with a device_error that names it, except flush(), which does nothing. No other
  /// thread may use the queue meanwhile. An exception of enqueue is passed on, and the recording
  /// discarded. Empty, without calling enqueue, if device_info::command_graphs is false or the
  /// queue is CUDA's default stream.
  /// @throws device_error; argument_error if enqueue is empty
  std::optional<command_graph> capture(const std::function<void()>& enqueue);

  /// Replaces the commands of a graph of this context, for every copy of its handle. Faster than a
  /// new graph if the commands are of the same kinds, with the same kernels in the same order.
  /// Launches that are under way are not affected. If enqueue throws, the graph is unchanged.
  /// @throws as capture; argument_error if the graph belongs to another context; device_error if
  ///         the queue cannot capture
  void recapture(command_graph& graph, const std::function<void()>& enqueue);

  /// True while commands are recorded into a graph instead of being run.
  bool is_capturing() const noexcept;

  /// Enqueues all commands of a graph with one launch. It allocates nothing unless the queue is
  /// recording; then the launch is recorded as one command. Launches of one graph run one after
  /// another, whatever their queues. @throws device_error, argument_error if it belongs to another
  /// context
  void enqueue(const command_graph& graph);

  /// Submits the enqueued commands to the device.
  void flush();
  /// Blocks until everything enqueued has ended.
  void finish();

  /// For libtune's own code; null in a handle that was moved from.
  const std::shared_ptr<detail::queue_interface>& impl() const noexcept { return impl_; }

  /// True if two handles refer to the same queue.
  friend bool operator==(const command_queue& a, const command_queue& b) noexcept {
    return a.impl_ == b.impl_;
  }

 protected:
  std::shared_ptr<detail::queue_interface> impl_;  ///< null after a move
};

/// A queue that reports the device time of each command between start_recording and
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
