// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <utility>

#include "libtune/base/cxx20.hpp"

namespace tune {

namespace detail {
class graph_interface;
}

/// Commands that command_queue::capture has recorded, to be run as often as wanted with one launch
/// each, on any queue of the context. Each launch has the kernels, arguments and buffers of the
/// time of the capture, which the graph keeps alive. Host memory that its copies read or write is
/// used anew by each launch, and stays its owner's to keep.
///
/// A handle: copies mean the same graph, which goes with the last of them; launches that are under
/// way then still end. Not thread-safe: one thread at a time enqueues a graph or records into it.
class command_graph {
 public:
  /// For libtune's backends; users call command_queue::capture.
  explicit command_graph(std::shared_ptr<detail::graph_interface> impl) noexcept
      : impl_(std::move(impl)) {}

  /// For libtune's own code; null in a handle that was moved from.
  const std::shared_ptr<detail::graph_interface>& impl() const noexcept { return impl_; }

  /// Whether two handles mean the same graph.
  friend bool operator==(const command_graph& a, const command_graph& b) noexcept {
    return a.impl_ == b.impl_;
  }

 private:
  std::shared_ptr<detail::graph_interface> impl_;
};

}  // namespace tune
