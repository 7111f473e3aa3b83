// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
// The denylist: configurations that are not run any more, because they took the process that they
// ran in, or the device's context, with them. Each such event is an incident: a trial like any
// other, which counts for the same key, function and version, device with its driver, compiler and
// libtune. `tunedb denylist` lists and clears them.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "libtune/store/database/stored_trial.hpp"
#include "libtune/store/database/tuning_database.hpp"
#include "libtune/tune/engine/prior_knowledge.hpp"
#include "libtune/tune/observer.hpp"
#include "libtune/tune/trial.hpp"

namespace tune {

/// Incidents, each in a search of its own, after which a configuration is denied. One may be bad
/// luck.
inline constexpr std::size_t incidents_to_deny = 2;
/// The same for a search by force, which tries a denied configuration once more.
inline constexpr std::size_t incidents_to_deny_by_force = 3;

/// The words of the outcomes that an incident can have.
std::span<const std::string> incident_outcomes();

/// True if a configuration took the process that it ran in, or the device's context, with it. A
/// compiler that crashed or took too long is something else, and so is a process that found no
/// memory and lives. The programs distinguish them: a trial that was lost with its process has
/// none.
bool is_incident(const stored_trial& trial);
bool is_incident(const trial& trial);

/// Returns the first trial of each configuration with enough incidents; its message says how many
/// there were, and where the list is. @param incidents  the latest first; other trials do not count
std::vector<stored_trial> denied_by(const std::vector<stored_trial>& incidents, std::size_t enough);

/// Reads the denylist of a key, and keeps the incidents among configurations that are tried outside
/// of a search, such as the result of another device. They become trials of the unfinished search
/// for the key, else of a new one, which the next search resumes. A database that cannot be used
/// costs one warning. Not thread-safe.
class incident_recorder final : public observer {
 public:
  /// @param database  null: the denylist is empty, and nothing is kept
  incident_recorder(std::shared_ptr<tuning_database> database, function_identity function,
                    record_key key);

  /// Reads the denylist for a search, to which trials belong from now on.
  prior_knowledge read_prior(const search_identity& search);

  void trial_finished(const tuning_subject& subject, const trial& finished) override;

 private:
  search_id search_to_add_to();

  std::shared_ptr<tuning_database> database_;
  function_identity function_;
  record_key key_;
  search_identity identity_;
};

}  // namespace tune
