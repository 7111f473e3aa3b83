// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <concepts>
#include <string>
#include <utility>
#include <vector>

#include "libtune/array/allocator.hpp"
#include "libtune/array/typed_array.hpp"
#include "libtune/operation/io_slot.hpp"

namespace tune {

/// An io_slot whose element type is known when the program is compiled: what does not fit it does
/// not compile.
template <element T>
class typed_slot final : public io_slot {
 public:
  /// An io_slot for elements of T.
  /// @throws argument_error if there are more dimensions than a shape can have
  typed_slot(std::string name, std::vector<dimension> dimensions,
             padding_policy policy = padding_policy::required)
      : io_slot(std::move(name), std::move(dimensions), element_type::of<T>(), policy) {}

  /// As io_slot does. Arrays whose type is known at run time only are checked at run time.
  using io_slot::bind;
  template <class U>
  requires(!std::same_as<T, U>) void bind(const typed_array<U>& array) = delete;

  /// The array that is bound. @throws argument_error if nothing is
  typed_array<T> array() const { return typed_array<T>(buffer()); }

  /// As io_slot does.
  typed_array<T> allocate(allocator& memory, bool bind = true) {
    return typed_array<T>(io_slot::allocate(memory, bind));
  }
  /// The same in a new buffer of a context.
  typed_array<T> allocate(const context& context, bool bind = true) {
    return typed_array<T>(io_slot::allocate(context, bind));
  }

  /// A host array that fits.
  host_array<T> allocate_host() const { return io_slot::allocate_host<T>(); }

  /// Copies the elements between the array that is bound and the host, as device_array does.
  void set(command_queue& queue, const host_array<T>& source) const { buffer().set(queue, source); }
  /// Copies the elements to a host array, and blocks until they are there.
  /// @throws argument_error if nothing is bound, or the host array has another shape
  void get(command_queue& queue, host_array<T>& destination) const {
    buffer().get(queue, destination);
  }
  /// A new host array with the elements and the layout of the bound array; blocks.
  /// @throws argument_error if nothing is bound
  host_array<T> get(command_queue& queue) const { return buffer().template get<T>(queue); }
};

}  // namespace tune
