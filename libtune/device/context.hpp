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

/// The owner of buffers, programs and queues of one device. A handle: copies mean the same
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

  /// The memory of the device as it is now: what there is, what is free, and what libtune holds in
  /// this process. Where the driver tells, it is asked, which takes microseconds.
  memory_figures memory() const;

  /// Uninitialised device memory. Where there is not enough, searches of this process give theirs
  /// back first (memory_reclaimer). @throws device_error (out_of_memory) if there is not enough
  buffer create_buffer(std::size_t bytes) const;

  /// A part of a buffer, as a buffer: commands and kernels see its bytes as 0 to bytes - 1. It
  /// keeps the memory alive, not the handle that it was made from; parts may overlap and have
  /// parts. OpenCL does not order commands of different queues that reach the same bytes by
  /// different buffers, so wait for events there, as anywhere.
  /// @param parent        a buffer of this context, or a part of one
  /// @param offset_bytes  a multiple of device_limits::buffer_alignment_bytes
  /// @param bytes         at least one
  /// @throws argument_error if it leaves the parent, is empty or misaligned, or the parent belongs
  ///         to another context
  buffer create_sub_buffer(const buffer& parent, std::size_t offset_bytes, std::size_t bytes) const;

  /// Uninitialised memory that both sides reach: kernels and copies as any buffer, the host by
  /// command_queue::map, and by buffer::host_data where the device lets it.
  /// @throws device_error where device_info::managed_memory is none, or there is not enough
  buffer create_managed_buffer(std::size_t bytes) const;

  /// Uninitialised pixels for kernels to read (libtune/device/image.hpp).
  /// @throws argument_error if there is no such image; device_error where the device has no images
  ///         of this form, or there is not enough memory
  image create_image(const image_layout& layout) const;

  /// Host memory for fast copies. @throws device_error (out_of_memory) if there is not enough
  pinned_memory create_pinned_memory(std::size_t bytes) const;

  /// Compiles text as it stands; tune::compile adds the portable preamble and better messages.
  /// @throws build_error with the compiler's log
  program create_program(const program_source& source) const;

  /// A program from what program::binary gave out, without compiling.
  /// @param name    for messages, as in program_source
  /// @param binary  may be destroyed on return
  /// @throws device_error (invalid_binary) if the driver does not accept it
  program create_program_from_binary(const std::string& name,
                                     std::span<const std::byte> binary) const;

  /// Names what a binary depends on besides the source and its options: the compiler and its
  /// version, the driver where it matters, and the architecture that is compiled for. Text for
  /// equality only.
  std::string compiler_identity() const;

  /// Keeps a value with the context, one of each type, for every copy of the handle; it replaces
  /// the one before. What other rooms have to remember about a context goes here.
  template <class T>
  void attach(std::shared_ptr<const T> value) const {
    attach_erased(&attachment_key<T>, std::move(value));
  }
  /// The attached value of this type; null if there is none.
  template <class T>
  std::shared_ptr<const T> attachment() const {
    return std::static_pointer_cast<const T>(attachment_erased(&attachment_key<T>));
  }

  /// For libtune's own code; null in a handle that was moved from.
  const std::shared_ptr<detail::context_interface>& impl() const noexcept { return impl_; }

  /// True if two handles mean the same context.
  friend bool operator==(const context& a, const context& b) noexcept { return a.impl_ == b.impl_; }

 private:
  // Its address stands for the type.
  template <class T>
  static inline char attachment_key = 0;

  void attach_erased(const void* key, std::shared_ptr<const void> value) const;
  std::shared_ptr<const void> attachment_erased(const void* key) const;

  std::shared_ptr<detail::context_interface> impl_;
};

}  // namespace tune
