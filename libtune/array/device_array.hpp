// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <utility>

#include "libtune/array/host_array.hpp"
#include "libtune/array/layout.hpp"
#include "libtune/device/buffer.hpp"
#include "libtune/device/command_queue.hpp"
#include "libtune/device/context.hpp"

namespace tune {

/// An array in device memory: the top left corner of a padded C-order array in a buffer. A handle:
/// copies mean the same elements. What lies in the padding is undefined, and no copy of elements
/// touches the padding of its destination. The element type is known at run time; the typed
/// functions check it. Thread-safe as far as the queues are.
class device_array {
 public:
  /// Uninitialised elements in a buffer of its own. @throws device_error if there is no memory
  device_array(const context& context, const array_layout& layout);
  /// Over a buffer that somebody else made. @throws argument_error if it is too small
  device_array(tune::buffer buffer, const array_layout& layout);

  const array_layout& layout() const noexcept { return layout_; }
  element_type type() const noexcept { return layout_.type(); }
  const tune::shape& size() const noexcept { return layout_.size(); }
  const tune::buffer& buffer() const noexcept { return buffer_; }

  /// Enqueues zeroing of the whole array, the padding included.
  void zero(command_queue& queue) const;

  /// Copies the elements from or to the host. The paddings may differ. Blocks until the copy is
  /// made. @throws type_error if the element types differ, argument_error if the shapes do
  template <element T>
  void set(command_queue& queue, const host_array<T>& source) const {
    copy_from_host(queue, source.layout(), source.data(), true);
  }
  template <element T>
  void get(command_queue& queue, host_array<T>& destination) const {
    copy_to_host(queue, destination.layout(), destination.data(), true);
  }
  template <element T>
  host_array<T> get(command_queue& queue) const {
    host_array<T> destination(layout_);
    get(queue, destination);
    return destination;
  }

  /// The same without blocking: the host array has to live, and to be left alone, until the queue
  /// gets past the copy. So it cannot be a temporary.
  template <element T>
  void set_async(command_queue& queue, const host_array<T>& source) const {
    copy_from_host(queue, source.layout(), source.data(), false);
  }
  template <element T>
  void set_async(command_queue& queue, const host_array<T>&& source) const = delete;
  template <element T>
  void get_async(command_queue& queue, host_array<T>& destination) const {
    copy_to_host(queue, destination.layout(), destination.data(), false);
  }

  /// Enqueues a copy of the elements from another array of the same shape and type, which shares
  /// no memory with this one. @throws type_error, argument_error as above
  void copy_from(command_queue& queue, const device_array& source) const;

 private:
  void copy_from_host(command_queue& queue, const array_layout& layout, const void* source,
                      bool blocking) const;
  void copy_to_host(command_queue& queue, const array_layout& layout, void* destination,
                    bool blocking) const;

  tune::buffer buffer_;
  array_layout layout_;
};

}  // namespace tune
