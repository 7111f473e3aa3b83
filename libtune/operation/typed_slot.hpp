// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "libtune/operation/io_slot.hpp"

namespace tune {

/// An io_slot whose element type is known when the program is compiled: what does not fit it does
/// not compile.
template <element T>
class typed_slot final : public io_slot {
 public:
  typed_slot(std::string name, std::vector<dimension> dimensions,
             padding_policy policy = padding_policy::required)
      : io_slot(std::move(name), std::move(dimensions), element_type::of<T>(), policy) {}

  /// A host array that fits.
  host_array<T> allocate_host() const { return io_slot::allocate_host<T>(); }

  /// Copies the elements between the array that is bound and the host, as device_array does.
  void set(command_queue& queue, const host_array<T>& source) const { buffer().set(queue, source); }
  void get(command_queue& queue, host_array<T>& destination) const {
    buffer().get(queue, destination);
  }
  host_array<T> get(command_queue& queue) const { return buffer().template get<T>(queue); }
};

}  // namespace tune
