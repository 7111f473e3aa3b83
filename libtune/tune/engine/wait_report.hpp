// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <sys/types.h>

#include "libtune/store/files/named_lock.hpp"
#include "libtune/tune/observer.hpp"
#include "libtune/tune/options.hpp"

namespace tune {

/// Returns the text of a wait, without the subject: "process 12 (receiver), which is stopped,
/// measures on the device".
std::string describe(const waiting_event& event);

/// Reports a wait to the log, to the observers of all tunings of this thread and to their listener:
/// half a second after its start, then at doubled intervals of at most a minute, and at the end of
/// a wait that was reported. One thread uses it.
class [[nodiscard]] wait_report {
 public:
  /// The subject and the observers must outlive it. @param limit  the longest wait
  wait_report(wait_cause cause, const tuning_subject& subject,
              std::span<const std::shared_ptr<observer>> observers,
              std::chrono::milliseconds limit);
  ~wait_report();
  wait_report(const wait_report&) = delete;
  wait_report& operator=(const wait_report&) = delete;

  /// Reports the wait if it is time; to be called often. @param holder  empty if unknown
  /// @throws tuning_stopped_error if the caller of the tuning requests a stop
  void look(std::chrono::nanoseconds waited, std::optional<::pid_t> holder);
  /// Like look, for a wait with another cause.
  void look_for(wait_cause cause, std::chrono::nanoseconds waited, std::optional<::pid_t> holder);
  /// Reports the end of the wait; another may follow.
  void end();

 private:
  void note_holder(std::chrono::nanoseconds waited, std::optional<::pid_t> holder);
  void tell();
  void hand_on();

  const tuning_subject& subject_;
  std::span<const std::shared_ptr<observer>> observers_;
  waiting_event event_;  // its subject is set for each report
  std::chrono::nanoseconds next_;
  std::chrono::nanoseconds busy_until_{0};  // the last time at which the holder used processor time
  bool begun_ = false;
  bool told_ = false;
};

/// Ends the wait for a key whose holder waits for this thread.
struct deadlock_found {};

/// The wait of a call for the lock of a key, until its destruction: reports it, and detects a
/// deadlock. One thread uses it.
class [[nodiscard]] key_wait {
 public:
  /// All references must outlive it. @param name  detail::tuning_name
  key_wait(const std::string& name, const tuning_subject& subject, const tuning_options& options,
           std::chrono::milliseconds limit);

  /// Reports the wait if it is time; to be called often.
  /// @param folder  the folder of the locks; empty without one
  /// @throws deadlock_found, tuning_stopped_error
  void look(std::chrono::nanoseconds waited, std::optional<::pid_t> holder,
            const std::string& folder);
  /// Like look, for a wait for the database at a path.
  void look_for_database(std::chrono::nanoseconds waited, const std::string& path);

 private:
  const std::string& name_;
  wait_report report_;
  std::optional<wait_mark> mark_;  // set while this thread has keys that others may wait for
};

}  // namespace tune
