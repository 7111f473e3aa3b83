// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <functional>
#include <memory>

#include "libtune/base/cxx20.hpp"
#include "libtune/device/device.hpp"

namespace tune {

/// The memory of a device at one moment (context::memory).
struct memory_figures {
  std::size_t total_bytes = 0;  ///< of the device
  /// Not in use by any process, as the driver tells. Where it does not tell, the total less
  /// held_bytes, which is too much while others use the device.
  std::size_t free_bytes = 0;
  /// In buffers and images that libtune has allocated in this process, on all contexts of the
  /// device; pinned memory is not counted.
  std::size_t held_bytes = 0;
  bool is_measured = false;  ///< true if free_bytes is what the driver tells
};

/// While one lives, libtune asks it for memory before an allocation fails. When the device has no
/// room for a buffer or an image, the holders of memory on that device are asked one after the
/// other, that with the most first, and the allocation is tried again after each. A search asks for
/// nothing: what it cannot have it does without.
///
/// The functions are called on the thread that allocates, which may be any. libtune holds no lock
/// meanwhile that an allocation or a search needs. They do not throw. Thread-safe.
class [[nodiscard]] memory_reclaimer {
 public:
  /// Returns the bytes that could be given back now; 0: nothing, and give_back is not called.
  using holds_function = std::function<std::size_t()>;
  /// Gives memory back, and returns when it is free or will not be soon. What it returns is kept
  /// until the allocation has been tried again: until then nothing takes the memory anew. It may be
  /// null. The argument is the size of the allocation in bytes.
  using give_back_function = std::function<std::shared_ptr<const void>(std::size_t)>;

  /// @param device     has the memory, by whatever backend it is offered
  /// @param holds      tells how much could be given back
  /// @param give_back  gives it back
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
