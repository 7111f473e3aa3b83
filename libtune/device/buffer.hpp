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

/// Device memory, not typed, or a part of some (context::create_sub_buffer). A handle: copies mean
/// the same memory, which is released with the last of them and of its parts. Thread-safe.
class buffer {
 public:
  /// For libtune's backends; users call context::create_buffer.
  explicit buffer(std::shared_ptr<detail::buffer_interface> impl) noexcept
      : impl_(std::move(impl)) {}

  /// The number of bytes that commands and kernels may reach.
  std::size_t size_bytes() const noexcept;

  /// Where the host sees this memory at all times: for buffers of context::create_managed_buffer
  /// (and their parts) on a device whose device_info::managed_memory is direct. Use it only while
  /// no command that uses the buffer is under way: after command_queue::finish. Null for all other
  /// buffers: what has to be mapped has no address in between. command_queue::map works for both.
  void* host_data() const noexcept;

  /// For libtune's own code; null in a handle that was moved from.
  const std::shared_ptr<detail::buffer_interface>& impl() const noexcept { return impl_; }

  /// True if two handles mean the same buffer. A part is not the whole, even where it is all of it.
  friend bool operator==(const buffer& a, const buffer& b) noexcept { return a.impl_ == b.impl_; }

 private:
  std::shared_ptr<detail::buffer_interface> impl_;
};

/// Part of a buffer: rows of bytes, and slices of rows. Pitches matter only where there are several
/// rows or slices; they are no less than what they step over.
struct fill_region {
  std::size_t offset_bytes = 0;       ///< of the first byte
  std::size_t row_pitch_bytes = 0;    ///< from one row to the next
  std::size_t slice_pitch_bytes = 0;  ///< from one slice to the next
  std::size_t row_bytes = 0;          ///< in each row, without its gap to the next
  std::size_t rows = 1;               ///< in each slice
  std::size_t slices = 1;             ///< in the region
};

/// The place of the rows of a copy on one side.
struct copy_place {
  std::size_t offset_bytes = 0;       ///< of the first byte
  std::size_t row_pitch_bytes = 0;    ///< from one row to the next; 0: they follow each other
  std::size_t slice_pitch_bytes = 0;  ///< from one slice to the next; 0: they follow each other
};

/// The bytes of a copy between buffers, or a buffer and the host: a box of up to three dimensions,
/// the fastest of which is counted in bytes, and its place on each side. Pitches are no less than
/// what they step over.
struct copy_region {
  std::size_t row_bytes = 0;    ///< in each row, without its gap to the next
  std::size_t rows = 1;         ///< in each slice
  std::size_t slices = 1;       ///< in the box
  copy_place source = {};       ///< where they are read
  copy_place destination = {};  ///< where they are written
};

/// Managed memory while the host may touch it, from command_queue::map to the end of this object,
/// which keeps queue and buffer. It can be moved but not copied, for the mapping ends once. Not
/// thread-safe.
class [[nodiscard]] mapped_memory {
 public:
  /// Use command_queue::map.
  mapped_memory(std::shared_ptr<detail::queue_interface> queue,
                std::shared_ptr<detail::buffer_interface> buffer, bool blocking);
  /// Takes the mapping over; the data() of the other is null from then on.
  mapped_memory(mapped_memory&& other) noexcept;
  /// Ends its own mapping as the destructor does, then takes the other over.
  mapped_memory& operator=(mapped_memory&& other) noexcept;
  /// Ends the mapping, if it has not ended yet, and logs what fails.
  ~mapped_memory();

  /// The first byte; null once the mapping has ended.
  void* data() const noexcept { return data_; }
  /// The number of bytes of the buffer; 0 once moved from.
  std::size_t size_bytes() const noexcept;

  /// Ends the mapping: what is enqueued on its queue from now on sees what the host wrote. Does
  /// nothing the second time. @throws device_error
  void unmap();

 private:
  void end_or_log() noexcept;

  std::shared_ptr<detail::queue_interface> queue_;
  std::shared_ptr<detail::buffer_interface> buffer_;
  void* data_;
};

/// Host memory that a device copies from and to at full speed, and without blocking where a copy is
/// asked not to block. Not initialised; aligned for any type. A handle: copies mean the same
/// memory, which is released with the last of them: keep one until the copies have ended.
/// Thread-safe, except for what is stored in it.
class pinned_memory {
 public:
  /// For libtune's backends; users call context::create_pinned_memory.
  explicit pinned_memory(std::shared_ptr<detail::pinned_memory_interface> impl) noexcept
      : impl_(std::move(impl)) {}

  /// The first byte, which the host may read and write.
  void* data() const noexcept;
  /// The number of bytes that were asked for.
  std::size_t size_bytes() const noexcept;

 private:
  std::shared_ptr<detail::pinned_memory_interface> impl_;
};

}  // namespace tune
