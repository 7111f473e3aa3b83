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

/// An operation that an instance can run, directly or as a graph.
class live_side {
 public:
  /// @param as_graph  the operation has a queue of its own, on which its graph is recorded
  live_side(std::unique_ptr<operation> made, bool as_graph) noexcept
      : operation_(std::move(made)), as_graph_(as_graph) {}

  operation& made() const noexcept { return *operation_; }
  void run(command_queue& queue);
  /// Records the graph, if one is used and not recorded yet.
  void record();

 private:
  std::unique_ptr<operation> operation_;
  bool as_graph_;
  std::optional<command_graph> graph_;
  std::optional<std::uint64_t> version_;  // the operation's version at the recording
};

/// The arrays and memory that are bound to the slots of an operation.
class live_bindings {
 public:
  live_bindings() = default;
  /// Makes room for the bindings of this operation.
  explicit live_bindings(const operation& like) : all_(like.slots().size()) {}

  /// Reads the bindings. Allocates nothing. @return false if a slot is not bound, or the slots
  /// differ
  bool read(const operation& from);
  /// @throws argument_error if a slot does not accept its binding
  void bind(operation& to) const;
  void clear() noexcept;

 private:
  struct content {
    std::optional<device_array> array;
    std::optional<buffer> memory;
  };

  std::vector<content> all_;
};

/// Copies the bindings of an operation to another with the same slots. Allocates nothing. @throws
/// argument_error if a slot does not accept its binding
void bind_alike(const operation& from, operation& to);

/// The difference between the slots of two operations, in words; empty without one.
std::string slot_difference(const operation& before, const operation& after);

/// Runs two operations of one queue once on equal copies of the arrays of a third, all with the
/// same slots, and waits for them. Padding does not count.
/// @param memory  for the copies; null: the context's
/// @returns the name of a slot in which they leave other bits; empty without one
std::string find_other_bits(operation& before, operation& after, const operation& bound,
                            const std::shared_ptr<allocator>& memory);

/// Binds zeroed memory to all slots, runs the operation once and waits for its end.
void run_on_zeros(operation& fresh, const std::shared_ptr<allocator>& memory);

}  // namespace tune::detail
