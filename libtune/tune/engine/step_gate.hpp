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

/// Lets a search use the device in slices, beside an application that uses it. A search enters the
/// gate before each step, on its own thread, and uses the device only inside.
class step_gate {
 public:
  step_gate() = default;
  virtual ~step_gate() = default;
  step_gate(const step_gate&) = delete;
  step_gate& operator=(const step_gate&) = delete;

  /// Waits until a step may begin. Each enter has its leave. A step of a nested tuning ends the
  /// outer step here.
  /// @param needs_window  true: it waits for a window in which the application does not use the
  ///                      device
  /// @param waits  called once if it has to wait; its result is kept until the wait is over
  /// @throws tuning_stopped_error if the search runs in the application itself
  virtual void enter(bool needs_window, const std::function<std::shared_ptr<void>()>& waits) = 0;
  /// Ends the step.
  virtual void leave(step_kind kind) noexcept = 0;
  /// True if the step under way has reached the desired length, and should be divided by a leave
  /// and an enter.
  virtual bool is_due() const noexcept = 0;

  /// The desired device time of the samples of a step. One run is the shortest step.
  virtual std::chrono::nanoseconds visit() const noexcept = 0;
  /// True if the application has filled the caches before the first run of a step.
  virtual bool is_cold() const noexcept = 0;
  /// The longest run that the application allows.
  virtual std::chrono::nanoseconds slice() const noexcept = 0;
  /// True if a run takes longer than the application allows.
  virtual bool is_too_long(run_time one_run) const noexcept = 0;
  /// True if the application gives windows without a limit for runs.
  virtual bool has_windows() const noexcept = 0;
  /// Notes that a configuration is skipped because its runs are too long.
  virtual void note_deferred() noexcept = 0;

  /// Sets the device of the sentinels, before the first of them.
  virtual void measure_on(const context& searched) = 0;
  /// Measures the sentinel, within a step, after its samples. Returns false if the device was
  /// disturbed, and the samples must be taken again in another step. After a few times in a row it
  /// returns true all the same.
  virtual bool are_samples_good() = 0;

  /// The approximate ratio of the time of a search to that without the gate.
  virtual double stretch() const noexcept = 0;
};

/// One step through the gate of the hooks, which have one.
class [[nodiscard]] gate_passage {
 public:
  gate_passage(const step_hooks& hooks, step_kind kind, bool needs_window);
  ~gate_passage() { gate_.leave(kind_); }
  gate_passage(const gate_passage&) = delete;
  gate_passage& operator=(const gate_passage&) = delete;

  /// Lets the application go first, within a long step.
  static void divide(const step_hooks& hooks, step_kind kind, bool needs_window);

 private:
  step_gate& gate_;
  step_kind kind_;
};

}  // namespace tune
