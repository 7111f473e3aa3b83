// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "libtune/base/cxx20.hpp"
#include "libtune/device/buffer.hpp"
#include "libtune/device/command_queue.hpp"
#include "libtune/device/device.hpp"
#include "libtune/device/device_memory.hpp"
#include "libtune/device/kernel.hpp"

namespace tune {

class image;
struct image_layout;

namespace detail {
class context_interface;
}

/// Options of context::create_command_queue.
struct command_queue_options {
  bool profiling = false;  ///< true if events carry times
};

/// The owner of buffers, programs and queues of one device. A handle: copies refer to the same
/// context. Thread-safe.
class context {
 public:
  /// For libtune's backends; users call device::create_context.
  explicit context(std::shared_ptr<detail::context_interface> impl) noexcept
      : impl_(std::move(impl)) {}

  /// The device that the context was made on.
  tune::device device() const;

  /// A new queue on the device. @throws device_error if the driver refuses it
  command_queue create_command_queue(command_queue_options options = {}) const;
  /// A new queue with profiling, which can time its commands.
  /// @throws device_error if the driver refuses it
  tuning_command_queue create_tuning_command_queue() const;

  /// The present memory of the device: its size, the free part, and the part that libtune holds in
  /// this process. Asks the driver, if it reports memory, which takes microseconds.
  memory_figures memory() const;

  /// Allocates uninitialised device memory. If there is not enough, searches of this process first
  /// give back theirs (memory_reclaimer). @throws device_error (out_of_memory) if there is still
  /// not enough
  buffer create_buffer(std::size_t bytes) const;

  /// A part of a buffer, as a buffer: commands and kernels see its bytes as 0 to bytes - 1. It
  /// keeps the memory alive, but not the handle that it was made from; parts may overlap and have
  /// parts. OpenCL does not order commands of different queues that access the same bytes through
  /// different buffers: let one queue wait for events of the other.
  /// @param parent        a buffer of this context, or a part of one
  /// @param offset_bytes  a multiple of device_limits::buffer_alignment_bytes
  /// @param bytes         at least one
  /// @throws argument_error if it leaves the parent, is empty or misaligned, or the parent belongs
  ///         to another context
  buffer create_sub_buffer(const buffer& parent, std::size_t offset_bytes, std::size_t bytes) const;

  /// Allocates uninitialised memory that host and device can access: kernels and copies like any
  /// buffer, the host by command_queue::map, and by buffer::host_data if the device supports it.
  /// @throws device_error if device_info::managed_memory equals none, or there is not enough memory
  buffer create_managed_buffer(std::size_t bytes) const;

  /// Allocates uninitialised pixels for kernels to read (libtune/device/image.hpp).
  /// @throws argument_error if the layout is invalid; device_error if the device has no images of
  ///         this form, or there is not enough memory
  image create_image(const image_layout& layout) const;

  /// Allocates host memory for fast copies. @throws device_error (out_of_memory)
  pinned_memory create_pinned_memory(std::size_t bytes) const;

  /// Compiles text without changes; tune::compile adds the portable preamble and better messages.
  /// @throws build_error with the compiler's log
  program create_program(const program_source& source) const;

  /// Makes a program from the bytes of program::binary, without compiling.
  /// @param name    for messages, as in program_source
  /// @param binary  may be destroyed on return
  /// @throws device_error (invalid_binary) if the driver does not accept it
  program create_program_from_binary(const std::string& name,
                                     std::span<const std::byte> binary) const;

  /// The properties that a binary depends on besides the source and its options: the compiler and
  /// its version, the driver if it matters, and the target architecture. A text for comparisons
  /// only.
  std::string compiler_identity() const;

  /// Stores a value in the context, for every copy of the handle. There is one value of each type;
  /// a new one replaces the old one. Other rooms use it for data that belongs to a context.
  template <class T>
  void attach(std::shared_ptr<const T> value) const {
    attach_erased(&attachment_key<T>, std::move(value));
  }
  /// The attached value of this type; null if it is missing.
  template <class T>
  std::shared_ptr<const T> attachment() const {
    return std::static_pointer_cast<const T>(attachment_erased(&attachment_key<T>));
  }

  /// For libtune's own code; null in a handle that was moved from.
  const std::shared_ptr<detail::context_interface>& impl() const noexcept { return impl_; }

  /// True if two handles refer to the same context.
  friend bool operator==(const context& a, const context& b) noexcept { return a.impl_ == b.impl_; }

 private:
  // The address identifies the type.
  template <class T>
  static inline char attachment_key = 0;

  void attach_erased(const void* key, std::shared_ptr<const void> value) const;
  std::shared_ptr<const void> attachment_erased(const void* key) const;

  std::shared_ptr<detail::context_interface> impl_;
};

}  // namespace tune
