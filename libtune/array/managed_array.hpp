// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <concepts>
#include <cstddef>
#include <utility>

#include "libtune/array/device_array.hpp"
#include "libtune/array/layout.hpp"
#include "libtune/base/dtype.hpp"
#include "libtune/device/buffer.hpp"

namespace tune {

/// The elements of a managed array while the host may touch them: from managed_array::map to the
/// end of this object, or unmap. It can be moved but not copied. Not thread-safe.
template <element T>
class [[nodiscard]] mapped_array {
 public:
  /// Use managed_array::map.
  mapped_array(mapped_memory memory, const array_layout& layout) noexcept
      : memory_(std::move(memory)), layout_(layout) {}

  /// The element type, the shape, and the shape with padding.
  const array_layout& layout() const noexcept { return layout_; }
  /// The number of elements along each axis, without padding.
  const tune::shape& size() const noexcept { return layout_.size(); }

  /// The element at these indices, one for each axis. Their values are not checked.
  template <std::convertible_to<std::size_t>... Index>
  T& operator()(Index... index) const noexcept {
    return data()[layout_.place(index...)];
  }

  /// The whole padded array; null once it has been unmapped.
  T* data() const noexcept { return static_cast<T*>(memory_.data()); }
  /// The number of elements, the padding included.
  std::size_t padded_elements() const noexcept { return layout_.padded().elements(); }

  /// Ends the mapping before this object does. What is enqueued from now on sees what the host
  /// wrote. @throws device_error
  void unmap() { memory_.unmap(); }

 private:
  mapped_memory memory_;
  array_layout layout_;
};

/// A device array in managed memory (CUDA's managed memory, OpenCL's shared virtual memory), which
/// both sides reach without copies. Kernels, slots and copies take it as any device array; the host
/// maps it:
///   {
///     auto view = array.map(queue);
///     view(2, 3) = 1;
///   }                        // from here on the device may use it again
///   operation.bind("data", array);
template <element T>
class managed_array : public typed_array<T> {
 public:
  /// Uninitialised elements. @throws device_error if the device has no managed memory
  /// (device_info::managed_memory), or not enough
  managed_array(const tune::context& context, const shape& size)
      : managed_array(context, size, size) {}
  /// Uninitialised elements, in the top left corner of a padded array.
  /// @throws as above; argument_error if the shape does not fit in the padded one
  managed_array(const tune::context& context, const shape& size, const shape& padded)
      : managed_array(context, array_layout(element_type::of<T>(), size, padded)) {}

  /// The same elements as those of an array in managed memory: what an operation with a
  /// managed_allocator has bound, or an array over context::create_managed_buffer.
  /// @throws type_error if it holds other elements; map is an argument_error if its memory is not
  ///         managed
  explicit managed_array(device_array array) : typed_array<T>(std::move(array)) {}

  /// Lets the host read and write the elements, until what it returns ends. Waits for what is
  /// enqueued on this queue; commands of other queues that use the array have to have ended. No
  /// command may use it in the meantime. @throws device_error
  mapped_array<T> map(command_queue& queue) const {
    return mapped_array<T>(queue.map(this->buffer()), this->layout());
  }

 private:
  // A buffer cannot be empty, an array can.
  managed_array(const tune::context& context, const array_layout& layout)
      : typed_array<T>(device_array(
            context.create_managed_buffer(layout.bytes() == 0 ? 1 : layout.bytes()), layout)) {}
};

}  // namespace tune
