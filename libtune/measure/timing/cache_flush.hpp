// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <memory>

#include "libtune/device/buffer.hpp"
#include "libtune/device/command_queue.hpp"
#include "libtune/device/device.hpp"

namespace tune::detail {

/// How many bytes to write so that nothing else stays in the last cache: twice what it holds, or
/// 256 MiB where the API does not tell; but no more than one buffer, or an eighth of the memory,
/// may have.
std::size_t flush_bytes(const device_limits& limits) noexcept;

/// A buffer that is written to drive everything else out of a device's cache. All flushes of a
/// context that exist at a time share one buffer.
class cache_flush {
 public:
  /// @throws device_error (out_of_memory) if there is no memory for it
  explicit cache_flush(const command_queue& queue);

  /// Enqueues it: one fill.
  void enqueue();

 private:
  command_queue queue_;
  std::shared_ptr<const buffer> memory_;
};

}  // namespace tune::detail
