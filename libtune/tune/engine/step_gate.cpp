// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tune/engine/step_gate.hpp"

#include "libtune/tune/engine/device_lease.hpp"

namespace tune {
namespace {

/// Released by a search during a wait at the gate: the lease of the device, and the clock of its
/// watchdog.
class wait_at_gate {
 public:
  explicit wait_at_gate(const step_listener* listener) : listener_(listener) {
    constexpr std::chrono::hours longest{24 * 365};
    if (listener_ != nullptr) (*listener_)(wait_begin{longest});
  }
  ~wait_at_gate() {
    if (listener_ != nullptr) (*listener_)(wait_end{});
  }
  wait_at_gate(const wait_at_gate&) = delete;
  wait_at_gate& operator=(const wait_at_gate&) = delete;

 private:
  const step_listener* listener_;
  device_lease::pause others_measure_;
};

void enter(const step_hooks& hooks, bool needs_window) {
  hooks.gate->enter(needs_window, [&] { return std::make_shared<wait_at_gate>(hooks.listener); });
}

}  // namespace

gate_passage::gate_passage(const step_hooks& hooks, step_kind kind, bool needs_window)
    : gate_(*hooks.gate), kind_(kind) {
  enter(hooks, needs_window);
}

void gate_passage::divide(const step_hooks& hooks, step_kind kind, bool needs_window) {
  if (!hooks.gate->is_due()) return;
  hooks.gate->leave(kind);
  enter(hooks, needs_window);
}

}  // namespace tune
