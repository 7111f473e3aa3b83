// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstddef>
#include <iosfwd>
#include <optional>
#include <string>

#include "libtune/console/result_text.hpp"
#include "libtune/measure/measure.hpp"
#include "libtune/tune/observer.hpp"

namespace tune {

/// Shows the progress of a search: the number of configurations tried; the elapsed and, once
/// estimated, the remaining time (within the budget); how many are being compiled, were dropped or
/// failed; the best so far, with the fields that differ between configurations; and a wait for
/// other threads or processes. A change of a tuning in service has a line of its own. On a terminal
/// one line is rewritten; elsewhere a line appears after the first configuration, and then at most
/// every two seconds. For one search at a time. The stream must outlive it.
class progress_reporter final : public observer {
 public:
  /// Writes to this stream.
  /// @param out          flushed after each line
  /// @param is_terminal  true if it understands the escape sequences that erase a line
  /// @param now          the clock for the elapsed and remaining times
  progress_reporter(std::ostream& out, bool is_terminal,
                    wall_clock now = std::chrono::steady_clock::now);

  void search_started(const search_started_event& event) override;
  void trial_taken_over(const tuning_subject& subject, const trial& taken) override;
  void trial_finished(const tuning_subject& subject, const trial& finished) override;
  void progressed(const tuning_subject& subject, const search_progress& progress) override;
  void search_finished(const search_finished_event& event) override;
  void waiting(const waiting_event& event) override;
  void live_changed(const live_event& event) override;

 private:
  void show(std::chrono::steady_clock::time_point time);
  void add(const trial& item);
  void end_budget_in(std::optional<std::chrono::nanoseconds> left);
  std::string line(std::chrono::steady_clock::time_point time) const;
  std::string count(std::chrono::nanoseconds elapsed) const;
  std::optional<std::chrono::duration<double>> budget_left(std::chrono::nanoseconds elapsed) const;
  std::optional<double> seconds_per_trial(std::chrono::nanoseconds elapsed) const;
  std::string stages() const;
  std::string time_left(std::chrono::nanoseconds elapsed) const;
  bool is_due(std::chrono::steady_clock::time_point time) const;

  std::ostream& out_;
  bool is_terminal_;
  wall_clock now_;
  std::chrono::steady_clock::time_point start_;
  std::chrono::steady_clock::time_point shown_;
  std::size_t planned_ = 0;
  std::size_t done_ = 0;
  std::size_t taken_over_ = 0;  // resumed trials among the completed ones
  search_progress progress_;    // the latest state
  std::optional<std::chrono::steady_clock::time_point> budget_end_;
  bool searches_ = false;
  std::string waits_;  // the text of a wait; empty without one
  varying_fields fields_;
  std::optional<trial> best_;
};

/// True if standard output is a terminal.
bool is_standard_output_a_terminal() noexcept;

}  // namespace tune
