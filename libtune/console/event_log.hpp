// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <iosfwd>

#include "libtune/tune/observer.hpp"

namespace tune {

/// Writes the events of tuning in a form for programs: each as one JSON object on a line, flushed
/// at once. Each has "event" (looked_up, search_started, trial_taken_over, trial_finished,
/// trial_refined, progressed, search_finished, waiting) and the members of that event, with the
/// names of libtune/tune/observer.hpp; times are in nanoseconds, and their names end in _ns;
/// unknown ones are null. The trials have events of their own and are not repeated at the end. For
/// one search at a time. The stream must outlive it.
class event_log final : public observer {
 public:
  /// Writes to this stream.
  explicit event_log(std::ostream& out) : out_(out) {}

  void on(const tuning_event& event) override;

 private:
  std::ostream& out_;
};

}  // namespace tune
