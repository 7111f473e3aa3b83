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
  using value_type = T;

  /// Uninitialised elements in a buffer of its own. @throws device_error if there is no memory
  typed_array(const tune::context& context, const shape& size) : typed_array(context, size, size) {}
  typed_array(const tune::context& context, const shape& size, const shape& padded)
      : device_array(context, {element_type::of<T>(), size, padded}) {}
  /// Uninitialised elements in memory of the allocator's. @throws device_error if it has none
  typed_array(allocator& memory, const shape& size) : typed_array(memory, size, size) {}
  typed_array(allocator& memory, const shape& size, const shape& padded)
      : device_array(memory, {element_type::of<T>(), size, padded}) {}
  /// The same elements as those of an array that turns out to be of this type.
  /// @throws type_error if it is not
  explicit typed_array(device_array array) : device_array(std::move(array)) {
    detail::checked_layout(layout(), element_type::of<T>());
  }

  host_array<T> staging_array() const { return device_array::staging_array<T>(); }

  void fill(command_queue& queue, const T& value) const { device_array::fill(queue, value); }
  void fill_region(command_queue& queue, const region& selected, const T& value) const {
    device_array::fill_region(queue, selected, value);
  }

  void set(command_queue& queue, const host_array<T>& source) const {
    device_array::set(queue, source);
  }
  void get(command_queue& queue, host_array<T>& destination) const {
    device_array::get(queue, destination);
  }
  host_array<T> get(command_queue& queue) const { return device_array::get<T>(queue); }

  void set_async(command_queue& queue, const host_array<T>& source) const {
    device_array::set_async(queue, source);
  }
  void set_async(command_queue& queue, const host_array<T>&& source) const = delete;
  void get_async(command_queue& queue, host_array<T>& destination) const {
    device_array::get_async(queue, destination);
  }

  void set_region(command_queue& queue, const region& own, const host_array<T>& source,
                  const region& source_region = {}) const {
    device_array::set_region(queue, own, source, source_region);
  }
  void get_region(command_queue& queue, const region& own, host_array<T>& destination,
                  const region& destination_region = {}) const {
    device_array::get_region(queue, own, destination, destination_region);
  }
  host_array<T> get_region(command_queue& queue, const region& own) const {
    return device_array::get_region<T>(queue, own);
  }

  void set_region_async(command_queue& queue, const region& own, const host_array<T>& source,
                        const region& source_region = {}) const {
    device_array::set_region_async(queue, own, source, source_region);
  }
  void set_region_async(command_queue& queue, const region& own, const host_array<T>&& source,
                        const region& source_region = {}) const = delete;
  void get_region_async(command_queue& queue, const region& own, host_array<T>& destination,
                        const region& destination_region = {}) const {
    device_array::get_region_async(queue, own, destination, destination_region);
  }

  void copy_from(command_queue& queue, const typed_array& source) const {
    device_array::copy_from(queue, source);
  }
  void copy_region(command_queue& queue, const region& own, const typed_array& source,
                   const region& source_region = {}) const {
    device_array::copy_region(queue, own, source, source_region);
  }
};

}  // namespace tune
