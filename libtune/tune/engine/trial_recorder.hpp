// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "libtune/store/database/tuning_database.hpp"
#include "libtune/tune/engine/prior_knowledge.hpp"
#include "libtune/tune/observer.hpp"

namespace tune {

/// Whether a search may use what earlier ones have found out.
enum class search_start : std::uint8_t {
  continued,  ///< it takes over an unfinished search, and skips what is known not to compile
  anew        ///< it uses nothing but the denylist, and tries what is on it once more
};

/// How a search ended, as the database keeps it, in which no configuration could be measured.
inline constexpr const char* all_failed = "all failed";

/// Keeps every trial of the searches of one call in the database, and knows what is there from
/// before. Trials are committed as soon as to make them anew would cost more than a commit does
/// (at_risk), and all at the end. A search stays unfinished until its result is stored or it has
/// failed, so that one killed at any moment is continued. A database that cannot be written costs
/// one warning, and the rest of the search is not kept.
class trial_recorder final : public observer {
 public:
  /// How much work on the device a kill may cost, beside that on the trial of the moment.
  static constexpr std::chrono::milliseconds at_risk{20};

  trial_recorder(std::shared_ptr<tuning_database> database, function_identity function,
                 record_key key, search_start start = search_start::continued);
  ~trial_recorder() override;

  /// What is known for the search that starts next. Trials of an unfinished search are handed out
  /// only if space, compiler and library are the same; what differs is logged.
  prior_knowledge read_prior(const search_identity& search);

  void search_started(const search_started_event& event) override;
  void trial_finished(const tuning_subject& subject, const trial& finished) override;
  void trial_refined(const tuning_subject& subject, const trial& refined) override;
  void search_finished(const search_finished_event& event) override;

  /// The result of the call is in the database: its searches have come to their end.
  void result_stored();

 private:
  std::vector<stored_trial> read_unfinished();
  void add(std::vector<stored_trial>& pending, const trial& made);
  void keep_pending();

  std::shared_ptr<tuning_database> database_;
  function_identity function_;
  record_key key_;
  search_start start_;
  search_identity identity_;             // of the search that starts next
  std::optional<search_id> unfinished_;  // which that one may continue
  std::optional<search_id> search_;      // that runs
  std::vector<stored_trial> pending_;    // trials of the search that runs, not yet kept
  std::vector<stored_trial> refined_;    // the same, of those that were kept before
  std::chrono::nanoseconds pending_cost_{0};
  std::vector<std::pair<search_id, const char*>> found_;  // searches that ended well, and how
};

}  // namespace tune
