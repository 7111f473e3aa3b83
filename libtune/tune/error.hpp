// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "libtune/base/error.hpp"
#include "libtune/tune/observer.hpp"
#include "libtune/tune/trial.hpp"

namespace tune {

/// The database has no result and tuning is not allowed (mode cached).
class not_tuned_error : public error {
 public:
  /// @param subject    the function, key and device of the call
  /// @param database   the path of the database that was looked in; empty if there is none
  /// @param failed_at  when the last search for it found nothing that works, if it did
  not_tuned_error(const tuning_subject& subject, const std::string& database,
                  const std::optional<std::string>& failed_at = std::nullopt);
};

/// The program has to use exactly the results of a lock (LIBTUNE_LOCK), and cannot.
class not_locked_error : public error {
 public:
  /// @param subject  the function, key and device of the call
  /// @param lock     the path of the lock
  /// @param reason   what it does not have, or what differs
  not_locked_error(const tuning_subject& subject, const std::string& lock,
                   const std::string& reason);
};

/// No configuration of the space could be measured. The text groups the reasons.
class tuning_failed_error : public error {
 public:
  /// Takes all trials of the search, of which none has a time.
  tuning_failed_error(const tuning_subject& subject, std::vector<trial> trials);

  /// Every configuration that was tried, with the reason why it failed.
  const std::vector<trial>& trials() const noexcept { return trials_; }

 private:
  std::vector<trial> trials_;
};

/// There is too little device memory for a tuning now: it is put off. Its key is noted as missed,
/// the trials that it has made are kept, and a later tuning, with more memory, goes on with them.
class too_little_memory_error : public error {
 public:
  /// @param subject  the function, key and device of the tuning
  /// @param bytes    that the tuning could hold
  /// @param reason   what did not find room
  too_little_memory_error(const tuning_subject& subject, std::size_t bytes,
                          const std::string& reason);
  /// The same with the text of another.
  explicit too_little_memory_error(const std::string& text) : error(text) {}
};

/// The space has no configuration to try. The text says which restriction removed how many.
class empty_space_error : public error {
 public:
  /// Makes the text from the subject, the combinations and the removals of the search.
  explicit empty_space_error(const search_started_event& search);
  /// The same with the text of another.
  explicit empty_space_error(const std::string& text) : error(text) {}
};

/// A configuration has left the device's context in this process beyond repair, so that a search
/// cannot go on.
class device_fault_error : public error {
 public:
  /// @param subject  the function, key and device of the tuning
  /// @param lost     the trial of the configuration that broke the context
  device_fault_error(const tuning_subject& subject, const trial& lost);
};

/// A tuning was stopped on request. A later one goes on with the trials that it has made.
class tuning_stopped_error : public error {
 public:
  using error::error;
};

/// "multiply_template.autotune version 0 (type=float32) on device 'X'".
std::string describe(const tuning_subject& subject);

/// "multiply_template.autotune version 0 (type=float32) on device 'X': wgs=64 is kept in place of
/// wgs=32: it takes 0.912 of the time".
std::string describe(const live_event& event);

}  // namespace tune
