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

/// A write outside of an array, counted in its elements; in bytes if the element size is unknown.
struct stray_write {
  bool behind = true;        ///< true: after the end of the array; false: before its begin
  bool in_elements = false;  ///< true: counted in elements; false: in bytes
  std::size_t end = 0;       ///< the units of the array, including padding
  std::size_t nearest = 0;   ///< the units between the array and the nearest written unit
  std::size_t farthest = 0;  ///< the units between the array and the farthest written unit in the
                             ///< band
  std::size_t count = 0;     ///< the units that were written at least in part
  std::size_t band = 0;      ///< the units of the band

  /// "element 1024, 1 past the end, was written"; "elements -4 to -2, 2 to 4 before the begin, were
  /// written"; "3 bytes from 96 to 120, 1 to 25 past the end, were written".
  std::string describe() const;
};

/// Device memory between two guard bands, by which a kernel is found that writes outside its array,
/// if it writes into the bands. An array may use only a part of the memory: the band after it
/// begins at its end. The array may also begin a few bytes further on, so that it is less aligned.
/// Not thread-safe.
class guarded_memory {
 public:
  /// @param band_bytes  size of each band; rounded up to the alignment of buffers
  /// @param shift_bytes  the distance of shifted() from memory(), a multiple of
  ///                     context_interface::least_alignment; 0: there is no shifted()
  /// @throws device_error if there is no memory
  guarded_memory(const context& context, std::size_t bytes, std::size_t band_bytes,
                 std::size_t shift_bytes = 0);

  /// The memory between the bands; it may outlive this object.
  const buffer& memory() const noexcept { return memory_; }
  /// Memory of the same size that begins later by the shift, in place of memory().
  const std::optional<buffer>& shifted() const noexcept { return shifted_; }
  std::size_t shift_bytes() const noexcept { return shift_; }
  std::size_t band_bytes() const noexcept { return band_; }
  /// The size of the device memory, including the bands.
  std::size_t total_bytes() const noexcept { return whole_.size_bytes(); }

  /// Enqueues writing a pattern into the bands around an array of this many bytes.
  /// @param is_shifted  true for an array in shifted()
  void arm(command_queue& queue, std::size_t used_bytes, std::byte pattern,
           bool is_shifted = false);
  /// Finds a write into the bands since the last arm(); empty if nothing was written, or the memory
  /// has never been armed. Waits for the queue.
  /// @param element_bytes  size of the array's elements; 0: unknown
  std::optional<stray_write> find_stray_write(command_queue& queue,
                                              std::size_t element_bytes = 0) const;

 private:
  std::size_t band_;
  std::size_t shift_;
  buffer whole_;
  buffer memory_;
  std::optional<buffer> shifted_{};
  std::size_t begin_;  // of the armed array
  std::optional<std::size_t> used_{};
  std::byte pattern_{};
};

}  // namespace tune
