// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// What a backend implements for command graphs, beside queue_interface::do_capture; see
// interface.hpp. A backend without graphs does nothing.
#pragma once

#include <memory>
#include <utility>

#include "libtune/device/interface.hpp"

namespace tune::detail {

/// Captured commands that one launch runs. Not thread-safe.
class graph_interface {
 public:
  explicit graph_interface(std::shared_ptr<context_interface> context)
      : context_(std::move(context)) {}
  virtual ~graph_interface() = default;
  graph_interface(const graph_interface&) = delete;
  graph_interface& operator=(const graph_interface&) = delete;

  const std::shared_ptr<context_interface>& context() const noexcept { return context_; }

  /// Enqueues the commands. event is null where nobody wants one; otherwise it becomes the event of
  /// all of them together.
  void launch(queue_interface& queue, std::shared_ptr<event_interface>* event) {
    do_launch(queue, event);
  }

  /// Keeps what the commands use alive, in place of what it kept before.
  void keep(possessions used) noexcept { used_.swap(used); }

 private:
  virtual void do_launch(queue_interface& queue, std::shared_ptr<event_interface>* event) = 0;

  std::shared_ptr<context_interface> context_;
  possessions used_;  // goes after what a backend derives
};

}  // namespace tune::detail
