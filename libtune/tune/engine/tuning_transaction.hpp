// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "libtune/base/value.hpp"
#include "libtune/store/database/function_identity.hpp"
#include "libtune/store/database/record.hpp"
#include "libtune/store/database/tuning_database.hpp"
#include "libtune/store/database/tuning_layers.hpp"
#include "libtune/tune/engine/executor.hpp"
#include "libtune/tune/engine/prior_knowledge.hpp"
#include "libtune/tune/observer.hpp"
#include "libtune/tune/options.hpp"

namespace tune {

/// The use that a search makes of prior knowledge.
enum class search_start : std::uint8_t {
  continued,  ///< it resumes an unfinished search, and skips known compile failures
  anew,       ///< it uses only the denylist, and tries the configurations on it once more
  behind,     ///< like continued; an application uses the device during the search
};

/// The stored result of a search in which no configuration could be measured.
inline constexpr const char* all_failed = "all failed";

/// Stores every trial of the searches of one call in the database, and reads the prior knowledge
/// for each. Trials are committed as soon as measuring them again would cost more than a commit
/// (at_risk), and all at the end. A search stays unfinished until its result is stored or it has
/// failed, so that a search killed at any time is resumed. An unwritable database causes one
/// warning, and the rest of the search is not stored.
class trial_recorder final : public observer {
 public:
  /// The device time of earlier trials that a kill may lose, in addition to the present trial's
  /// time.
  static constexpr std::chrono::milliseconds at_risk{20};

  trial_recorder(std::shared_ptr<tuning_database> database, function_identity function,
                 record_key key, search_start start = search_start::continued);
  ~trial_recorder() override;

  /// Reads the prior knowledge of the next search, in one transaction. It includes trials of an
  /// unfinished search only if space, compiler and library are the same; differences are logged.
  /// @param layers  for similar configurations and incidents below; null: not searched
  prior_knowledge read_prior(const search_identity& search, const tuning_layers* layers = nullptr);

  void search_started(const search_started_event& event) override;
  void trial_finished(const tuning_subject& subject, const trial& finished) override;
  void trial_refined(const tuning_subject& subject, const trial& refined) override;
  void search_finished(const search_finished_event& event) override;

  /// Ends the searches of the call, after its result has been stored.
  void result_stored();

 private:
  std::vector<stored_trial> resume(std::optional<stored_search> before);
  void add(std::vector<stored_trial>& pending, const trial& made);
  void keep_pending();

  std::shared_ptr<tuning_database> database_;
  function_identity function_;
  record_key key_;
  search_start start_;
  search_identity identity_;             // the identity of the next search
  std::optional<search_id> unfinished_;  // that the next search may resume
  std::optional<search_id> search_;      // the running search
  std::vector<stored_trial> pending_;    // trials of the running search, not yet stored
  std::vector<stored_trial> refined_;    // new samples of stored trials of the running search
  std::chrono::nanoseconds pending_cost_{0};
  std::string strategy_{};  // the strategy of the running search
  bool covers_ = true;      // true if the running search covers the space
  struct found_search {
    search_id search{};
    const char* word = nullptr;  // the word for its result
    stored_course course;
  };
  std::vector<found_search> found_;
};

/// One tuning whose result is stored: reads the prior knowledge, stores each trial at once, and
/// stores the result at the end. One thread at a time.
class tuning_transaction {
 public:
  /// Returns true if values of the database are a tuning of the present function.
  using check_function = std::function<bool(const record&)>;

  /// @param layers  the databases, with one of the user
  /// @param mode    force: of earlier searches only the denylist is used; force and resume: the
  ///                result replaces the present one
  /// @param check   empty: accepts all values of the database
  /// @param wait    the longest wait for the database, to store the result
  /// @param start   the use of earlier searches: only with continued and behind the mode decides
  tuning_transaction(std::shared_ptr<const tuning_layers> layers, function_identity function,
                     record_key key, tuning_mode mode, check_function check = {},
                     std::chrono::milliseconds wait = std::chrono::milliseconds(0),
                     search_start start = search_start::continued);

  /// The observer that stores the trials of the searches.
  const std::shared_ptr<trial_recorder>& recorder() const noexcept { return recorder_; }

  /// Reads the prior knowledge of the next search. Does not throw.
  prior_knowledge read_prior(const search_identity& search) const;

  /// Stores the result, which ends its searches. If that fails, this process caches it, with one
  /// warning.
  /// @returns the valid result: another process's result, if that process stored one first
  std::vector<named_value> store(const tuned_values& made);
  /// True if a result has been stored in the database.
  bool is_stored() const noexcept { return stored_; }

 private:
  std::vector<named_value> store_in_database(const tuned_values& made) const;

  std::shared_ptr<const tuning_layers> layers_;
  function_identity function_;
  record_key key_;
  tuning_mode mode_;
  search_start start_;
  check_function check_;
  std::chrono::milliseconds wait_;
  std::shared_ptr<trial_recorder> recorder_;
  bool stored_ = false;
};

/// Returns the name of a search, unique in one database, for its key_lock.
std::string search_name(const function_identity& function, const record_key& key);

}  // namespace tune
