// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <memory>
#include <utility>

#include "libtune/base/cxx20.hpp"

namespace tune {

namespace detail {
class buffer_interface;
class pinned_memory_interface;
class queue_interface;
}  // namespace detail

/// Untyped device memory, or a part of it (context::create_sub_buffer). A handle: copies refer to
/// the same memory, which is released with the last handle to it and to its parts. Thread-safe.
class buffer {
 public:
  /// For libtune's backends; users call context::create_buffer.
  explicit buffer(std::shared_ptr<detail::buffer_interface> impl) noexcept
      : impl_(std::move(impl)) {}

  /// The size in bytes, which commands and kernels may access.
  std::size_t size_bytes() const noexcept;

  /// The host address of this memory, valid at all times: for buffers of
  /// context::create_managed_buffer (and their parts) on a device whose device_info::managed_memory
  /// is direct. Use it only while no command that uses the buffer is under way: after
  /// command_queue::finish. Null for all other buffers: mapped memory has an address only while it
  /// is mapped. command_queue::map works for both.
  void* host_data() const noexcept;

  /// For libtune's own code; null in a handle that was moved from.
  const std::shared_ptr<detail::buffer_interface>& impl() const noexcept { return impl_; }

  /// True if two handles refer to the same buffer. A part is never equal to its whole, even if it
  /// covers all of it.
  friend bool operator==(const buffer& a, const buffer& b) noexcept { return a.impl_ == b.impl_; }

 private:
  std::shared_ptr<detail::buffer_interface> impl_;
};

/// Part of a buffer: rows of bytes, and slices of rows. Pitches matter only if there are several
/// rows or slices; a pitch is at least the size of the rows or slices that it steps over.
struct fill_region {
  std::size_t offset_bytes = 0;       ///< offset of the first byte
  std::size_t row_pitch_bytes = 0;    ///< from one row to the next
  std::size_t slice_pitch_bytes = 0;  ///< from one slice to the next
  std::size_t row_bytes = 0;          ///< size of a row, without the gap to the next
  std::size_t rows = 1;               ///< rows in each slice
  std::size_t slices = 1;             ///< slices in the region
};

/// The place of the rows of a copy on one side.
struct copy_place {
  std::size_t offset_bytes = 0;       ///< offset of the first byte
  std::size_t row_pitch_bytes = 0;    ///< from one row to the next; 0: no gaps
  std::size_t slice_pitch_bytes = 0;  ///< from one slice to the next; 0: no gaps
};

/// The bytes of a copy between buffers, or between a buffer and the host: a box of up to three
/// dimensions, the fastest of which is counted in bytes, and its place on each side. A pitch is at
/// least the size of the rows or slices that it steps over.
struct copy_region {
  std::size_t row_bytes = 0;    ///< size of a row, without the gap to the next
  std::size_t rows = 1;         ///< rows in each slice
  std::size_t slices = 1;       ///< slices in the box
  copy_place source = {};       ///< the place to read from
  copy_place destination = {};  ///< the place to write to
};

/// A mapping of managed memory for the host, from command_queue::map to the end of this object,
/// which keeps queue and buffer. It can be moved but not copied, because the mapping ends once. Not
/// thread-safe.
class [[nodiscard]] mapped_memory {
 public:
  /// Use command_queue::map.
  mapped_memory(std::shared_ptr<detail::queue_interface> queue,
                std::shared_ptr<detail::buffer_interface> buffer, bool blocking);
  /// Takes over the mapping; the other object's data() is null from then on.
  mapped_memory(mapped_memory&& other) noexcept;
  /// Ends this object's mapping like the destructor, then takes over the other's.
  mapped_memory& operator=(mapped_memory&& other) noexcept;
  /// Ends the mapping, if it has not ended yet. Errors are logged.
  ~mapped_memory();

  /// The first byte; null once the mapping has ended.
  void* data() const noexcept { return data_; }
  /// The number of bytes of the buffer; 0 after a move.
  std::size_t size_bytes() const noexcept;

  /// Ends the mapping: commands that are enqueued on its queue from now on see the host's writes.
  /// Later calls do nothing. @throws device_error
  void unmap();

 private:
  void end_or_log() noexcept;

  std::shared_ptr<detail::queue_interface> queue_;
  std::shared_ptr<detail::buffer_interface> buffer_;
  void* data_;
};

/// Host memory that a device copies from and to at full speed, and that non-blocking copies need.
/// Not initialised; aligned for any type. A handle: copies refer to the same memory, which is
/// released with the last handle: keep one until the copies have ended. Thread-safe, except for
/// access to the stored data.
class pinned_memory {
 public:
  /// For libtune's backends; users call context::create_pinned_memory.
  explicit pinned_memory(std::shared_ptr<detail::pinned_memory_interface> impl) noexcept
      : impl_(std::move(impl)) {}

  /// The first byte, which the host may read and write.
  void* data() const noexcept;
  /// The requested number of bytes.
  std::size_t size_bytes() const noexcept;

 private:
  std::shared_ptr<detail::pinned_memory_interface> impl_;
};

}  // namespace tune
