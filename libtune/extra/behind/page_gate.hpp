// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "libtune/extra/behind/duty_cycle.hpp"
#include "libtune/extra/behind/gate_page.hpp"
#include "libtune/tune/engine/step_gate.hpp"

namespace tune::detail {

/// The gate of a search, by a gate_page. Used by the thread of the search.
class page_gate final : public step_gate {
 public:
  using clock = std::chrono::steady_clock;

  /// @param page  must outlive this
  /// @param stop  for a search in the application itself: called at each step and while it waits;
  ///              true ends the search. Empty: the end of this process stops the search
  explicit page_gate(gate_page& page, std::function<bool()> stop = {});
  ~page_gate() override;

  void enter(bool needs_window, const std::function<std::shared_ptr<void>()>& waits) override;
  void leave(step_kind kind) noexcept override;
  bool is_due() const noexcept override;
  std::chrono::nanoseconds visit() const noexcept override;
  bool is_cold() const noexcept override;
  std::chrono::nanoseconds slice() const noexcept override;
  bool is_too_long(run_time one_run) const noexcept override;
  bool has_windows() const noexcept override;
  void note_deferred() noexcept override;
  void measure_on(const context& searched) override;
  bool are_samples_good() override;
  double stretch() const noexcept override;

 private:
  class sentinel;

  /// The begin or end of a step: its time, and the computing time until then.
  struct passage {
    clock::time_point begin{};
    std::chrono::nanoseconds by_thread{0};   // time of this thread
    std::chrono::nanoseconds by_process{0};  // time of all threads of the process
    std::chrono::nanoseconds recorded{0};    // time that the device recorded for this thread
    bool is_repeated = false;

    static passage now() noexcept;
  };

  double share() const noexcept;
  double slowdown() const noexcept;
  double rate() const noexcept;  // the share, divided by the slowdown
  std::chrono::nanoseconds use_of(step_kind kind, const passage& begin,
                                  const passage& end) const noexcept;
  void note_wait(std::chrono::nanoseconds waited, std::chrono::nanoseconds held) noexcept;
  bool may_pass(bool needs_window) const noexcept;
  std::chrono::nanoseconds until_next(bool needs_window) const noexcept;
  std::chrono::nanoseconds until_quiet(clock::time_point due) const noexcept;

  gate_page& page_;
  std::function<bool()> stop_;
  duty_cycle cycle_;
  clock::time_point entered_{};
  std::optional<passage> step_;
  std::unique_ptr<sentinel> sentinel_;
  sentinel_judge judge_;
};

/// The gate of this process, a child: see child/gate_of_parent.hpp, which calls it.
step_gate* find_gate_of_parent();

}  // namespace tune::detail
