// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "libtune/device/buffer.hpp"
#include "libtune/device/command_queue.hpp"
#include "libtune/operation/operation.hpp"
#include "libtune/operation/slot.hpp"

namespace tune::detail {

/// An operation that an instance can run, as it is or as a graph.
class live_side {
 public:
  /// @param as_graph  the operation has a queue of its own, on which its graph is recorded
  live_side(std::unique_ptr<operation> made, bool as_graph) noexcept
      : operation_(std::move(made)), as_graph_(as_graph) {}

  operation& made() const noexcept { return *operation_; }
  void run(command_queue& queue);
  /// Records the graph, if there is to be one and it is not there.
  void record();

 private:
  std::unique_ptr<operation> operation_;
  bool as_graph_;
  std::optional<command_graph> graph_;
  std::optional<std::uint64_t> version_;  // of the operation when it was recorded
};

/// The arrays and memory that are bound to the slots of an operation.
class live_bindings {
 public:
  live_bindings() = default;
  /// With room for those of this operation.
  explicit live_bindings(const operation& like) : all_(like.slots().size()) {}

  /// Allocates nothing. @return false if something is not bound, or there are other slots
  bool read(const operation& from);
  /// @throws argument_error if a slot takes it not
  void bind(operation& to) const;
  void clear() noexcept;

 private:
  struct content {
    std::optional<device_array> array;
    std::optional<buffer> memory;
  };

  std::vector<content> all_;
};

/// Binds to each slot of an operation what is bound to that of another with the same slots.
/// Allocates nothing. @throws argument_error if a slot takes it not
void bind_alike(const operation& from, operation& to);

/// The difference between the slots of two operations, in words; empty if there is none.
std::string slot_difference(const operation& before, const operation& after);

/// Binds zeroed memory to all slots, runs the operation once and waits for it.
void run_on_zeros(operation& fresh, const std::shared_ptr<allocator>& memory);

}  // namespace tune::detail
