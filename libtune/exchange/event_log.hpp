// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <iosfwd>

#include "libtune/tune/observer.hpp"

namespace tune {

/// Writes what happens while tuning for programs to read: one JSON object to a line, flushed, as it
/// happens. Each has "event" (looked_up, search_started, trial_taken_over, trial_finished,
/// trial_refined, progressed, search_finished, waiting) and the members of that event by their
/// names in libtune/tune/observer.hpp, times in nanoseconds with a name that ends in _ns; what is
/// not known is null. The trials themselves come with their own events and are not repeated at the
/// end. For one search at a time. The stream has to outlive it.
class event_log final : public observer {
 public:
  /// Writes to this stream from now on.
  explicit event_log(std::ostream& out) : out_(out) {}

  void looked_up(const lookup_event& event) override;
  void search_started(const search_started_event& event) override;
  void trial_taken_over(const tuning_subject& subject, const trial& taken) override;
  void trial_finished(const tuning_subject& subject, const trial& finished) override;
  void trial_refined(const tuning_subject& subject, const trial& refined) override;
  void progressed(const tuning_subject& subject, const search_progress& progress) override;
  void search_finished(const search_finished_event& event) override;
  void waiting(const waiting_event& event) override;

 private:
  std::ostream& out_;
};

}  // namespace tune
