// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <memory>

#include "libtune/base/cxx20.hpp"

namespace tune {

namespace detail {
class buffer_interface;
class queue_interface;
}  // namespace detail

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

}  // namespace tune
