// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "libtune/device/command_graph.hpp"
#include "libtune/operation/operation.hpp"

namespace tune {

/// Runs an operation, or a sequence of them, by one launch of a command graph, which costs the host
/// about as much as one kernel. The graph is recorded by the first run, and again by the first run
/// after operation::version() has changed: after a slot was bound or a parameter was set. Where the
/// device has no graphs, run() is that of the operation.
///
/// The operation enqueues all of its work on its queue(), and nothing that command_queue::capture
/// refuses. What its do_run does besides happens only when it is recorded. The buffers and kernels
/// of the last recording are kept alive. Not thread-safe.
class captured_operation {
 public:
  /// @param operation  outlives this
  explicit captured_operation(tune::operation& operation) noexcept : operation_(&operation) {}

  /// The operation that is captured, which the caller keeps alive.
  tune::operation& operation() const noexcept { return *operation_; }

  /// Binds what is missing, then enqueues the work and returns without waiting for it. Allocates
  /// nothing unless something is to be bound or recorded. While the queue is being captured by
  /// somebody else, the work becomes part of that capture.
  /// @throws whatever the operation throws when it is recorded; the next run tries again
  void run();
  /// The same as run().
  void operator()() { run(); }

  /// How often it was recorded; 0 where the device has no graphs.
  std::size_t captures() const noexcept { return captures_; }

 private:
  void renew();

  tune::operation* operation_;
  std::optional<std::uint64_t> version_;  // of the operation when it was last recorded
  std::optional<command_queue> queue_;    // that the graph was recorded on
  std::optional<command_graph> graph_;    // empty where there can be none
  std::size_t captures_ = 0;
};

}  // namespace tune
