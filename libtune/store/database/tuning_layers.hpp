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

/// The results that this process has found already, so that finding them again touches no disk.
/// Results that were not found are not remembered, because another process may store one.
///
/// tuning_database::store forgets what the shared memory has of the same function and arguments,
/// whatever the database and the device: a result is never older than what this process stored.
/// Results that other processes store for a key that has been found are seen by the next process.
/// Thread-safe.
class record_memory {
 public:
  /// The process's one, which tuning_layers uses.
  static record_memory& shared();

  /// @param most  how many functions and arguments are remembered before all are forgotten
  explicit record_memory(std::size_t most = 65'536) : most_(most) {}

  /// @param scope  names the rest that the result depends on, such as the databases
  std::optional<record> find(const std::string& scope, const function_identity& function,
                             const record_key& key) const;

  /// Grows by one whenever something is forgotten.
  std::uint64_t generation() const;

  /// Remembers what was found in a database.
  /// @param generation  from before the look: what has been forgotten since is not remembered
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

/// The databases of a lookup, one over the other: the results that this process has found already,
/// the user's database, then the others, such as the system's, which are only ever read.
///
/// Exact matches come first, in this order of the databases. Nearest matches are ranked over all
/// databases together, by rank_nearest; of two for one device the one of the upper database.
/// A database that cannot be used costs one warning and is passed over. Thread-safe.
///
/// All functions throw argument_error for what can never be stored, as tuning_database does.
class tuning_layers {
 public:
  /// @param user     null if there is none
  /// @param systems  in order; they are only read
  tuning_layers(std::shared_ptr<tuning_database> user,
                std::vector<std::shared_ptr<tuning_database>> systems);

  const std::shared_ptr<tuning_database>& user() const noexcept { return user_; }
  bool empty() const noexcept { return databases_.empty(); }

  /// The exact match of the uppermost database that has one, else the result that could not be
  /// stored. Earlier hits are remembered.
  /// @param wait  for others that hold a database; empty: as long as the database waits
  /// @throws database_busy_error if others hold one for longer and nothing else has a result
  std::optional<record> find(const function_identity& function, const record_key& key,
                             std::optional<std::chrono::milliseconds> wait = {}) const;

  /// Remembers a result that could not be stored, so that this process finds it again where no
  /// database has one.
  void remember(const function_identity& function, const record_key& key,
                const std::vector<named_value>& values) const;

  /// The results for the same arguments, or the priors, from the nearest device to the farthest.
  /// @param most  how many of them at most
  std::vector<record> find_nearest(const function_identity& function, const record_key& key,
                                   std::size_t most = 16,
                                   nearest_kind kind = nearest_kind::results) const;

  /// The results for other arguments and other devices, the nearest first; of two for one key and
  /// device that of the upper database.
  std::vector<similar_result> similar(const function_identity& function,
                                      const similar_query& query) const;

  /// The nearest match that was chosen for a key before, since when this process has stored
  /// nothing for the function and arguments.
  std::optional<record> chosen_nearest(const function_identity& function,
                                       const record_key& key) const;
  /// Remembers a choice for chosen_nearest. @param generation  record_memory's, from before it
  void choose_nearest(const function_identity& function, const record_key& key,
                      const record& chosen, std::uint64_t generation) const;

  /// The origin of a record; none if it is unknown or cannot be read.
  std::optional<result_origin> origin(const function_identity& function,
                                      const std::vector<named_value>& arguments,
                                      const record& found) const;

  /// The trials of the latest search that led to a record; none if they cannot be read.
  std::vector<stored_trial> trials(const function_identity& function,
                                   const std::vector<named_value>& arguments,
                                   const record& found) const;

 private:
  std::shared_ptr<tuning_database> user_;
  std::vector<std::shared_ptr<tuning_database>> databases_;  // from the top
  std::string scope_;                                        // the paths, for record_memory
};

}  // namespace tune
