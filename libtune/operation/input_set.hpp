// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "libtune/array/device_array.hpp"
#include "libtune/array/host_array.hpp"
#include "libtune/operation/workload.hpp"

namespace tune {

/// Contents that are made from the author's contents of an array, of the same shape and type. All
/// are the same in each process.
enum class input_kind : std::uint8_t {
  shuffled,    ///< the same elements in a random order
  uniform,     ///< random numbers from the least to the greatest of the finite elements
  zeros,       ///< bits of zero
  saturated,   ///< the greatest finite number in each element: of flags, all are set
  extremes,    ///< the least and the greatest finite number in turn
  subnormals,  ///< eight of 16 elements are subnormal numbers of either sign. Only for floats
  not_finite,  ///< every seventh element is NaN or an infinity of either sign. Only for floats
};

/// "shuffled", "uniform", "zeros", "saturated", "extremes", "subnormals" or "not_finite".
std::string_view input_kind_name(input_kind kind) noexcept;

/// The kind with this name. @throws argument_error that lists the names if it is unknown
input_kind input_kind_from_name(std::string_view name);

/// Contents of some slots of a workload beside the author's (workload::inputs). Slots without
/// contents here have those of the author. A handle, like the workload.
class input_set {
 public:
  /// Defines the contents of a slot that has contents of the author too.
  /// @param contents  as for workload::set
  template <element T>
  input_set& set(const std::string& slot, host_array<T> contents) {
    auto kept = std::make_shared<const host_array<T>>(detail::owned(std::move(contents)));
    return set_upload(slot, [kept](command_queue& queue, const device_array& target) {
      target.set(queue, *kept);
    });
  }
  /// Defines contents by a copy of the elements of a range, in C order.
  template <detail::host_range Range>
  input_set& set(const std::string& slot, const Range& elements, const shape& size) {
    return set(slot, host_array<detail::element_of<Range>>::copy_of(
                         {std::data(elements), std::size(elements)}, size));
  }
  /// Defines contents by a device array, which is copied on the device at each use.
  input_set& set(const std::string& slot, const device_array& contents);
  /// Makes the contents from the author's. The error of a kind that the element type does not have
  /// (subnormal integers, extremes of a struct) comes when they are first needed, by workload::bind
  /// or a check.
  input_set& derive(const std::string& slot, input_kind kind);

  /// Sets the part of these inputs in the time of a configuration (workload::weight). 0, the
  /// default: results are checked with them, and nothing is timed.
  /// @throws argument_error unless it is finite and at least 0
  input_set& weight(double part);

 private:
  friend class workload;
  input_set(workload owner, std::size_t number) noexcept
      : owner_(std::move(owner)), number_(number) {}
  input_set& set_upload(const std::string& slot,
                        std::function<void(command_queue&, const device_array&)> upload);

  workload owner_;
  std::size_t number_;
};

namespace detail {

/// Overwrites an array with contents of a kind that are made from those of another, through the
/// host. Padding becomes zero. Waits for the queue.
/// @param source  of the same type and shape
/// @throws type_error if the element type does not have the kind
void derive_contents(command_queue& queue, const device_array& source, input_kind kind,
                     const device_array& target);

}  // namespace detail
}  // namespace tune
