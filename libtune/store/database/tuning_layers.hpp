// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "libtune/store/database/function_identity.hpp"
#include "libtune/store/database/record.hpp"
#include "libtune/store/database/stored_trial.hpp"
#include "libtune/store/database/tuning_database.hpp"

namespace tune {

/// The results that this process has found, so that finding them again accesses no disk. Misses are
/// not remembered, because another process may store a result.
///
/// tuning_database::store removes the results for the same function and arguments from the shared
/// memory, for any database and device: a result is never older than this process's latest one.
/// Results that other processes store later for a found key are seen by the next process only.
/// Thread-safe.
class record_memory {
 public:
  /// The memory of the process, which tuning_layers uses.
  static record_memory& shared();

  /// @param most  the number of functions and arguments at which all are forgotten
  explicit record_memory(std::size_t most = 65'536) : most_(most) {}

  /// @param scope  identifies everything else that the result depends on, such as the databases
  std::optional<record> find(const std::string& scope, const function_identity& function,
                             const record_key& key) const;

  /// Increases whenever something is forgotten.
  std::uint64_t generation() const;

  /// Remembers a result of a database.
  /// @param generation  from before the lookup: if something was forgotten since, nothing is
  /// remembered
  void remember(const std::string& scope, const function_identity& function, const record_key& key,
                const record& found, std::uint64_t generation);

  void forget(const function_identity& function, const std::vector<named_value>& arguments);
  void forget_all();

 private:
  using finds = std::unordered_map<std::string, record>;  // by scope and device

  const std::size_t most_;
  mutable std::mutex mutex_;
  std::unordered_map<std::string, finds> finds_;  // by function and arguments
  std::uint64_t generation_ = 0;
};

/// The databases of a lookup, in layers: the results that this process has found already, the
/// user's database, then the others, such as the system's, which are only read.
///
/// Exact matches are taken from the first database in this order. Nearest matches are ranked over
/// all databases together, by rank_nearest; for each device the upper database wins. An unusable
/// database causes one warning and is skipped. Thread-safe.
///
/// All functions throw argument_error for data that can never be stored, like tuning_database.
class tuning_layers {
 public:
  /// @param user     may be null
  /// @param systems  in order; they are only read
  tuning_layers(std::shared_ptr<tuning_database> user,
                std::vector<std::shared_ptr<tuning_database>> systems);

  const std::shared_ptr<tuning_database>& user() const noexcept { return user_; }
  bool empty() const noexcept { return databases_.empty(); }

  /// Returns the exact match of the uppermost database with one, else the result that could not be
  /// stored. Hits are remembered.
  /// @param wait  for other processes; empty: as long as the database waits
  /// @throws database_busy_error if others lock a database for longer and no other has a result
  std::optional<record> find(const function_identity& function, const record_key& key,
                             std::optional<std::chrono::milliseconds> wait = {}) const;

  /// Remembers a result that could not be stored, for this process, unless a database gets one.
  void remember(const function_identity& function, const record_key& key,
                const std::vector<named_value>& values) const;

  /// Returns the results for the same arguments, or the priors, from the nearest device to the
  /// farthest.
  /// @param most  the largest number of results
  std::vector<record> find_nearest(const function_identity& function, const record_key& key,
                                   std::size_t most = 16,
                                   nearest_kind kind = nearest_kind::results) const;

  /// Returns the results for other arguments and other devices, the nearest first; for equal keys
  /// and devices the one of the upper database.
  std::vector<similar_result> similar(const function_identity& function,
                                      const similar_query& query) const;

  /// Returns the earlier chosen nearest match for a key, unless this process has since stored a
  /// result for the function and arguments.
  std::optional<record> chosen_nearest(const function_identity& function,
                                       const record_key& key) const;
  /// Remembers a choice for chosen_nearest. @param generation  record_memory's, from before the
  /// choice
  void choose_nearest(const function_identity& function, const record_key& key,
                      const record& chosen, std::uint64_t generation) const;

  /// Returns the origin of a record; empty if it is unknown or cannot be read.
  std::optional<result_origin> origin(const function_identity& function,
                                      const std::vector<named_value>& arguments,
                                      const record& found) const;

  /// Returns the trials of the latest search for a record; empty if they cannot be read.
  std::vector<stored_trial> trials(const function_identity& function,
                                   const std::vector<named_value>& arguments,
                                   const record& found) const;

  /// Returns prior_rows::incidents of all databases but the user's, such as those that an
  /// installation came with. A trial that several databases have occurs once.
  std::vector<stored_trial> lower_incidents(const function_identity& function,
                                            const record_key& key, const prior_query& query) const;

 private:
  std::shared_ptr<tuning_database> user_;
  std::vector<std::shared_ptr<tuning_database>> databases_;  // the uppermost first
  std::string scope_;                                        // the paths, for record_memory
};

/// Removes one copy of each original, such as a trial that was merged from another database.
void drop_copies(std::vector<stored_trial>& trials, const std::vector<stored_trial>& originals);

}  // namespace tune
