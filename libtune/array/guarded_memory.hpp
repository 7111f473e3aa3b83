// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "libtune/device/buffer.hpp"
#include "libtune/device/command_queue.hpp"
#include "libtune/device/context.hpp"

namespace tune {

/// A write outside of an array, counted in its elements; in bytes where the array has no
/// elements of a known size.
struct stray_write {
  bool behind = true;        ///< behind the end of the array, not before its begin
  bool in_elements = false;  ///< and not in bytes
  std::size_t end = 0;       ///< how many the array has, padding included
  std::size_t nearest = 0;   ///< how many lie between the array and the nearest that was written
  std::size_t farthest = 0;  ///< and the farthest, as far as the band reaches
  std::size_t count = 0;     ///< how many were written, in part or as a whole
  std::size_t band = 0;      ///< how far anything could be seen

  /// "element 1024, 1 past the end, was written"; "elements -4 to -2, 2 to 4 before the begin, were
  /// written"; "3 bytes from 96 to 120, 1 to 25 past the end, were written".
  std::string describe() const;
};

/// Device memory between two bands of bytes that are not to be written, so that a kernel which
/// leaves its array is found out, as long as it does not leave the bands too. An array may use less
/// than all of the memory: the band behind it begins where it ends. Not thread-safe.
class guarded_memory {
 public:
  /// @param band_bytes  of each of the two bands; rounded up to the alignment of buffers
  /// @throws device_error if there is no memory
  guarded_memory(const context& context, std::size_t bytes, std::size_t band_bytes);

  /// The memory between the bands; it may outlive this.
  const buffer& memory() const noexcept { return memory_; }
  std::size_t band_bytes() const noexcept { return band_; }
  /// Of device memory, the bands included.
  std::size_t total_bytes() const noexcept { return whole_.size_bytes(); }

  /// Enqueues writing a pattern into the bands around an array of so many bytes.
  void arm(command_queue& queue, std::size_t used_bytes, std::byte pattern);
  /// Finds a write into the bands since; nothing if the memory has never been armed. Waits for the
  /// queue.
  /// @param element_bytes  of what lies in it; 0: not known
  std::optional<stray_write> find_stray_write(command_queue& queue,
                                              std::size_t element_bytes = 0) const;

 private:
  std::size_t band_;
  buffer whole_;
  buffer memory_;
  std::optional<std::size_t> used_{};
  std::byte pattern_{};
};

}  // namespace tune
