// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <utility>

#include "libtune/array/device_array.hpp"

namespace tune {

/// A device array whose element type the compiler knows: a host array of another type does not
/// compile. It is a device_array, and goes wherever one does; the functions mean the same as there.
template <element T>
class typed_array : public device_array {
 public:
  /// The host type of one element.
  using value_type = T;

  /// Uninitialised elements in a buffer of its own. @throws device_error if there is no memory
  typed_array(const tune::context& context, const shape& size) : typed_array(context, size, size) {}
  /// Uninitialised elements in a buffer of its own, in the top left corner of a padded array.
  /// @throws device_error if there is no memory, argument_error if size does not fit in padded
  typed_array(const tune::context& context, const shape& size, const shape& padded)
      : device_array(context, {element_type::of<T>(), size, padded}) {}
  /// Uninitialised elements in memory of the allocator's. @throws device_error if it has none
  typed_array(allocator& memory, const shape& size) : typed_array(memory, size, size) {}
  /// Uninitialised elements in memory of the allocator's, in the top left corner of a padded array.
  /// @throws device_error if it has none, argument_error if size does not fit in padded
  typed_array(allocator& memory, const shape& size, const shape& padded)
      : device_array(memory, {element_type::of<T>(), size, padded}) {}
  /// The same elements as those of an array that turns out to be of this type.
  /// @throws type_error if it is not
  explicit typed_array(device_array array) : device_array(std::move(array)) {
    detail::checked_layout(layout(), element_type::of<T>());
  }

  /// A pinned host array of the same layout. @throws device_error if there is no memory
  host_array<T> staging_array() const { return device_array::staging_array<T>(); }

  /// Enqueues setting every element to a value, the padding included.
  /// @throws argument_error if an element has more than 256 bytes
  void fill(command_queue& queue, const T& value) const { device_array::fill(queue, value); }
  /// Enqueues setting the elements of a region to a value.
  /// @throws as fill; argument_error if the region does not fit the array
  void fill_region(command_queue& queue, const region& selected, const T& value) const {
    device_array::fill_region(queue, selected, value);
  }

  /// Copies all elements from the host, and blocks until the host array may be changed.
  /// @throws argument_error if the shapes differ
  void set(command_queue& queue, const host_array<T>& source) const {
    device_array::set(queue, source);
  }
  /// Copies all elements to the host, and blocks until they are there. @throws as set
  void get(command_queue& queue, host_array<T>& destination) const {
    device_array::get(queue, destination);
  }
  /// Copies all elements to a new host array of the same layout. Blocks.
  host_array<T> get(command_queue& queue) const { return device_array::get<T>(queue); }

  /// As set, without blocking: the host array has to live, and to be left alone, until the queue
  /// gets past the copy. @throws as set
  void set_async(command_queue& queue, const host_array<T>& source) const {
    device_array::set_async(queue, source);
  }
  void set_async(command_queue& queue, const host_array<T>&& source) const = delete;
  /// As get, without blocking: the host array has to live, and to be left alone, until the queue
  /// gets past the copy. @throws as set
  void get_async(command_queue& queue, host_array<T>& destination) const {
    device_array::get_async(queue, destination);
  }

  /// Copies a region of a host array, by default all of it, to a region of this array (own).
  /// Blocks. @throws argument_error if a region does not fit its array, or their shapes differ
  void set_region(command_queue& queue, const region& own, const host_array<T>& source,
                  const region& source_region = {}) const {
    device_array::set_region(queue, own, source, source_region);
  }
  /// Copies a region of this array (own) to a region of a host array, by default all of it.
  /// Blocks. @throws as set_region
  void get_region(command_queue& queue, const region& own, host_array<T>& destination,
                  const region& destination_region = {}) const {
    device_array::get_region(queue, own, destination, destination_region);
  }
  /// Copies a region (own) to a new host array of its shape, without padding. Blocks.
  /// @throws argument_error if the region does not fit the array
  host_array<T> get_region(command_queue& queue, const region& own) const {
    return device_array::get_region<T>(queue, own);
  }

  /// As set_region, without blocking; see set_async. @throws as set_region
  void set_region_async(command_queue& queue, const region& own, const host_array<T>& source,
                        const region& source_region = {}) const {
    device_array::set_region_async(queue, own, source, source_region);
  }
  void set_region_async(command_queue& queue, const region& own, const host_array<T>&& source,
                        const region& source_region = {}) const = delete;
  /// As get_region, without blocking; see get_async. @throws as set_region
  void get_region_async(command_queue& queue, const region& own, host_array<T>& destination,
                        const region& destination_region = {}) const {
    device_array::get_region_async(queue, own, destination, destination_region);
  }

  /// Enqueues a copy of all elements of another array, which shares no memory with this one.
  /// @throws argument_error if the shapes differ
  void copy_from(command_queue& queue, const typed_array& source) const {
    device_array::copy_from(queue, source);
  }
  /// Enqueues a copy of a region of another array, by default all of it, to a region of this one
  /// (own). The regions must not overlap in memory. @throws as set_region
  void copy_region(command_queue& queue, const region& own, const typed_array& source,
                   const region& source_region = {}) const {
    device_array::copy_region(queue, own, source, source_region);
  }
};

}  // namespace tune
