// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "libtune/extra/behind/tuning_news.hpp"
#include "libtune/extra/live/live.hpp"
#include "libtune/tune/autotuner_core.hpp"

namespace tune::detail {

/// A key in service: its tuning and template. The thread of the pipeline exchanges the template, in
/// an epoch; the other members are set once, or belong to libtune's thread.
class live_key {
 public:
  explicit live_key(live_function function);
  ~live_key();
  live_key(const live_key&) = delete;
  live_key& operator=(const live_key&) = delete;

  /// Obtains the tuning and makes the template.
  void obtain();
  /// True if the goal is the least time, the only metric that a pipeline measures.
  bool is_by_time() const noexcept { return is_by_time_; }

  const live_function& parts() const noexcept { return parts_; }
  /// The identity of stored results: with the goal in the name, unless it is the least time.
  const function_identity& identity() const noexcept { return identity_; }
  const record_key& key() const noexcept { return key_; }
  const tuning_subject& subject() const noexcept { return subject_; }

  /// Returns the present result in the user's database, if any.
  std::optional<better_tuning> find_stored() const;
  /// True if a tuning may be tried: it differs from the present one and has not lost yet.
  bool may_try(const std::vector<named_value>& tuning) const;
  void note_loss(const std::vector<named_value>& tuning);
  /// Requests another search behind the application; logs a failure.
  void tune_again() const;

  std::shared_ptr<const void> current;  ///< the template
  std::vector<named_value> values;      ///< its tuning
  bool is_result = false;               ///< a search found it for exactly this key
  std::optional<double> score_ns;       ///< the time in the search that found it, if known
  std::optional<better_tuning> found;   ///< the next candidate; under the core's lock
  std::unique_ptr<tuning_news::subscription> news;
  std::atomic<bool> gone{false};  ///< all handles are destroyed
  bool drift_logged = false;

 private:
  live_function parts_;
  bool is_by_time_;
  function_identity identity_;
  record_key key_;
  tuning_subject subject_;
  std::set<std::string> beaten_;
};

}  // namespace tune::detail
