// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "libtune/device/command_queue.hpp"
#include "libtune/device/kernel.hpp"
#include "libtune/extra/bare/configuration.hpp"
#include "libtune/operation/operation.hpp"

namespace tune {

namespace detail {
struct kernel_description;
}

/// The arrays of a bare kernel on the device after a run, by the index of the argument. It keeps
/// them alive. Used by one thread.
class kernel_results {
 public:
  /// @param queue   a queue of the arrays' context, for the copies
  /// @param arrays  by argument; empty for values
  kernel_results(command_queue queue, std::vector<std::optional<device_array>> arrays)
      : queue_(std::move(queue)), arrays_(std::move(arrays)) {}

  /// The array of an argument, on the device. @throws argument_error for other arguments
  const device_array& array(std::size_t argument) const;
  /// A copy of the array on the host. Blocks. @throws as above; type_error for another element type
  template <element T>
  host_array<T> get(std::size_t argument) const {
    command_queue queue = queue_;
    return array(argument).template get<T>(queue);
  }

 private:
  command_queue queue_;
  std::vector<std::optional<device_array>> arrays_;
};

/// A bare kernel in one configuration, made for a command queue: an operation like any other. Its
/// arrays are slots, without padding, named as the arguments; values stay until set_value.
class bare_operation final : public operation {
 public:
  /// For bare_kernel and tuned_kernel only.
  bare_operation(command_queue queue, std::shared_ptr<const detail::kernel_description> of,
                 const program& compiled, tune::configuration chosen);

  /// The values of the parameters.
  const tune::configuration& configuration() const noexcept { return configuration_; }
  /// The global and local size of each launch, in work items.
  const nd_range& range() const noexcept { return range_; }
  /// The kernel, for its properties (kernel_info).
  const tune::kernel& kernel() const noexcept { return kernel_; }
  /// The bound arrays, as results. They are complete once the queue has finished the run.
  kernel_results results() const;

  /// Replaces a value. @throws argument_error unless the argument is a value of as many bytes
  template <class T>
  requires std::is_trivially_copyable_v<T>
  void set_value(std::size_t argument, const T& v) {
    set_bytes(argument, std::as_bytes(std::span(&v, 1)));
  }

 private:
  friend struct detail::kernel_description;

  void do_run() override;
  std::vector<named_value> do_parameters() const override { return configuration_.values(); }
  void set_bytes(std::size_t argument, std::span<const std::byte> bytes);
  void set_arrays();
  void check_count(const detail::kernel_description& of, bool is_dynamic) const;

  struct bound_slot {
    std::size_t argument;
    slot_ref<> slot;
  };

  tune::configuration configuration_;
  tune::kernel kernel_;
  nd_range range_;
  std::vector<bound_slot> slots_in_order_;
  std::vector<std::size_t> value_bytes_;  // by argument; 0 for arrays
};

}  // namespace tune
