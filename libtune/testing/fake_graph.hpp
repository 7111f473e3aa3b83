// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <functional>
#include <utility>
#include <vector>

#include "libtune/device/graph_interface.hpp"

namespace tune::testing {

/// Captured commands: each does its work, and returns how long that takes.
using fake_commands = std::vector<std::function<std::chrono::nanoseconds()>>;

/// A graph of a fake device: a list of commands that a fake queue runs.
class fake_graph final : public detail::graph_interface {
 public:
  using graph_interface::graph_interface;

  void replace(fake_commands commands) noexcept { commands_ = std::move(commands); }

 private:
  void do_launch(detail::queue_interface& queue,
                 std::shared_ptr<detail::event_interface>* event) override;

  fake_commands commands_;
};

}  // namespace tune::testing
