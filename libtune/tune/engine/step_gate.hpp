// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <functional>
#include <memory>

#include "libtune/device/context.hpp"
#include "libtune/measure/timing/samples.hpp"
#include "libtune/tune/engine/step_hooks.hpp"

namespace tune {

/// Lets a search use the device in slices, beside an application that is at work on it. A search
/// passes it before each step, on its own thread; nothing of the search uses the device outside.
class step_gate {
 public:
  step_gate() = default;
  virtual ~step_gate() = default;
  step_gate(const step_gate&) = delete;
  step_gate& operator=(const step_gate&) = delete;

  /// Waits until a step may begin. Each has its leave. A step within a step, of a tuning inside
  /// another, ends the step around it here.
  /// @param needs_window  it has to be one in which the application does not use the device
  /// @param waits  called once if it has to wait; what it returns is kept until the wait is over
  /// @throws tuning_stopped_error where the search runs in the application itself
  virtual void enter(bool needs_window, const std::function<std::shared_ptr<void>()>& waits) = 0;
  /// The step has ended.
  virtual void leave(step_kind kind) noexcept = 0;
  /// True if the step under way has lasted as long as one should, so that it is better divided:
  /// by a leave and an enter.
  virtual bool is_due() const noexcept = 0;

  /// The device time that the samples of a step should take. One run is the shortest step.
  virtual std::chrono::nanoseconds visit() const noexcept = 0;
  /// True if the first run of a step meets caches that the application has filled.
  virtual bool is_cold() const noexcept = 0;
  /// The longest run that the application allows.
  virtual std::chrono::nanoseconds slice() const noexcept = 0;
  /// True if a run takes longer than the application allows.
  virtual bool is_too_long(run_time one_run) const noexcept = 0;
  /// True if the application gives windows in which runs may take as long as they want.
  virtual bool has_windows() const noexcept = 0;
  /// A configuration is left out because its runs are too long.
  virtual void note_deferred() noexcept = 0;

  /// The device that sentinels run on, before the first of them.
  virtual void measure_on(const context& searched) = 0;
  /// Within a step, after its samples: measures the sentinel. Returns false if they have to be
  /// taken again, in another step: the device was disturbed. After a few times in a row it returns
  /// true all the same.
  virtual bool are_samples_good() = 0;

  /// The ratio of the time that a search takes to that without the gate, about.
  virtual double stretch() const noexcept = 0;
};

/// One step through the gate of the hooks, if they have one.
class [[nodiscard]] gate_passage {
 public:
  gate_passage(const step_hooks& hooks, step_kind kind, bool needs_window)
      : gate_(hooks.gate), kind_(kind) {
    if (gate_ != nullptr) enter(hooks, needs_window);
  }
  ~gate_passage() {
    if (gate_ != nullptr) gate_->leave(kind_);
  }
  gate_passage(const gate_passage&) = delete;
  gate_passage& operator=(const gate_passage&) = delete;

  /// Lets the application go first, within a step that takes long.
  static void divide(const step_hooks& hooks, step_kind kind, bool needs_window);

 private:
  static void enter(const step_hooks& hooks, bool needs_window);

  step_gate* gate_;
  step_kind kind_;
};

}  // namespace tune
