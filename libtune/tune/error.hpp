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
  /// @param database   the path of the database that was searched; empty without one
  /// @param failed_at  the time of the last search for it, if that found no working configuration
  not_tuned_error(const tuning_subject& subject, const std::string& database,
                  const std::optional<std::string>& failed_at = std::nullopt);
};

/// The program must use exactly the results of a lock file (LIBTUNE_LOCK), and cannot.
class not_locked_error : public error {
 public:
  /// @param subject  the function, key and device of the call
  /// @param lock     the path of the lock file
  /// @param reason   the missing or differing entry
  not_locked_error(const tuning_subject& subject, const std::string& lock,
                   const std::string& reason);
};

/// No configuration of the space could be measured. The text groups the reasons.
class tuning_failed_error : public error {
 public:
  /// Takes all trials of the search. None of them has a time.
  tuning_failed_error(const tuning_subject& subject, std::vector<trial> trials);

  /// Every configuration that was tried, with the reason why it failed.
  const std::vector<trial>& trials() const noexcept { return trials_; }

 private:
  std::vector<trial> trials_;
};

/// Too little device memory is free for a tuning now. The tuning is postponed: its key is noted as
/// missed and its trials are kept. A later tuning, with more memory, continues with them.
class too_little_memory_error : public error {
 public:
  /// @param subject  the function, key and device of the tuning
  /// @param bytes    the limit of the tuning
  /// @param reason   the allocation that did not fit
  too_little_memory_error(const tuning_subject& subject, std::size_t bytes,
                          const std::string& reason);
  /// Makes the error from the text of another one.
  explicit too_little_memory_error(const std::string& text) : error(text) {}
};

/// The space has no configuration to try. The text says which restriction removed how many.
class empty_space_error : public error {
 public:
  /// Makes the text from the subject, the combinations and the removals of the search.
  explicit empty_space_error(const search_started_event& search);
  /// Makes the error from the text of another one.
  explicit empty_space_error(const std::string& text) : error(text) {}
};

/// A configuration has damaged the device's context in this process beyond repair, so the search
/// cannot continue.
class device_fault_error : public error {
 public:
  /// @param subject  the function, key and device of the tuning
  /// @param lost     the trial of the configuration that broke the context
  device_fault_error(const tuning_subject& subject, const trial& lost);
};

/// A tuning was stopped on request. A later tuning continues with its trials.
class tuning_stopped_error : public error {
 public:
  using error::error;
};

/// A subject in words: "multiply_template.autotune version 0 (type=float32) on device 'X'".
std::string describe(const tuning_subject& subject);

/// An event in words: "multiply_template.autotune version 0 (type=float32) on device 'X': wgs=64 is
/// kept in place of wgs=32: it takes 0.912 of the time".
std::string describe(const live_event& event);

}  // namespace tune
