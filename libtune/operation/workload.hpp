// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "libtune/array/device_array.hpp"
#include "libtune/array/host_array.hpp"
#include "libtune/device/buffer.hpp"
#include "libtune/device/command_queue.hpp"
#include "libtune/operation/operation.hpp"

namespace tune {

/// One set of arrays for all configurations of a search, so that none of them has to allocate and
/// fill arrays of its own, which soon takes longer than to measure it:
///
///   tune::workload work(queue);
///   work.set("u", field);
///   session.tune(space, [&](const diffusion_tuning& tuning) {
///     auto step = diffusion_template(context, key, tuning).instantiate(queue, size, size);
///     work.bind(step);
///     return tune::make_measure(queue, std::move(step)).check(...);
///   });
///
/// Slots of one name share one piece of memory, as large as the strictest padding so far asks for,
/// whatever the operations. Before an operation is bound, arrays with contents are set to them, by
/// a copy on the device, and all others are filled with bytes of 0xFF, which are NaN to floats: a
/// kernel that writes nothing is not taken for right. Since memory is shared, one operation of
/// those that are bound may run at a time, on this queue. Used by one thread; it may be destroyed
/// before the operations.
class workload {
 public:
  explicit workload(command_queue queue) : queue_(std::move(queue)) {}

  /// What the array in the slots of this name holds whenever an operation is bound.
  template <element T>
  workload& set(const std::string& name, host_array<T> contents) {
    auto kept = std::make_shared<const host_array<T>>(std::move(contents));
    arrays_[name].upload = [kept](command_queue& queue, const device_array& target) {
      target.set(queue, *kept);
    };
    arrays_[name].original.reset();
    return *this;
  }

  /// Binds every slot of the operation that is not bound yet, and sets its contents.
  /// @throws argument_error or type_error if contents do not fit the slot, device_error if there is
  ///         no memory
  void bind(operation& operation);
  /// Sets the contents of all arrays that the operation has from here, as bind does: for
  /// measure::reset, where a kernel overwrites its inputs.
  void restore(const operation& operation);

  /// The bytes of device memory that it holds now.
  std::size_t held_bytes() const noexcept;

 private:
  struct shared_array {
    std::function<void(command_queue&, const device_array&)> upload{};  // empty: no contents
    std::optional<device_array> original{};  // the contents, with the padding of the last slot
    std::optional<buffer> memory{};
  };

  void fill(shared_array& source, const device_array& target);

  command_queue queue_;
  std::map<std::string, shared_array, std::less<>> arrays_;
};

}  // namespace tune
