// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <functional>
#include <memory>

#include "libtune/base/cxx20.hpp"
#include "libtune/device/device.hpp"

namespace tune {

/// The memory of a device at one moment, in bytes (context::memory).
struct memory_figures {
  std::size_t total_bytes = 0;  ///< size of the device's memory
  /// Memory that no process uses, as reported by the driver. If the driver does not report it:
  /// total_bytes less held_bytes, which is too large while other processes use the device.
  std::size_t free_bytes = 0;
  /// Size of the buffers and images that libtune has allocated in this process, in all contexts of
  /// the device; pinned memory is not counted.
  std::size_t held_bytes = 0;
  bool is_measured = false;  ///< true if the driver reports free_bytes
};

/// Offers memory that libtune can reclaim before an allocation fails. When the device has no room
/// for a buffer or an image, the reclaimers of that device are asked one after the other, beginning
/// with the largest, and the allocation is tried again after each. Allocations of a search ask no
/// reclaimer; a search continues without the memory that it cannot have.
///
/// The functions may be called on any thread that allocates. During the calls, libtune holds no
/// lock that an allocation or a search needs. The functions must not throw. Thread-safe.
class [[nodiscard]] memory_reclaimer {
 public:
  /// Returns the number of bytes that can be given back now; if it is 0, give_back is not called.
  using holds_function = std::function<std::size_t()>;
  /// Gives memory back, and returns when it is free, or will not be free soon. The result is kept
  /// until the allocation has been tried again, to prevent the memory from being taken meanwhile.
  /// It may be null. The argument is the size of the allocation in bytes.
  using give_back_function = std::function<std::shared_ptr<const void>(std::size_t)>;

  /// @param device     owns the memory, in whichever backend
  /// @param holds      returns the number of bytes that could be given back
  /// @param give_back  gives them back
  memory_reclaimer(const device& device, holds_function holds, give_back_function give_back);
  /// Waits for calls that are under way on other threads.
  ~memory_reclaimer();
  memory_reclaimer(const memory_reclaimer&) = delete;
  memory_reclaimer& operator=(const memory_reclaimer&) = delete;

  struct entry;  ///< private to the implementation

 private:
  std::shared_ptr<entry> entry_;
};

}  // namespace tune
