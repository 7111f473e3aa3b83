// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "libtune/base/value.hpp"
#include "libtune/store/database/function_identity.hpp"
#include "libtune/store/database/record.hpp"
#include "libtune/store/database/tuning_layers.hpp"
#include "libtune/tune/engine/executor.hpp"
#include "libtune/tune/engine/prior_knowledge.hpp"
#include "libtune/tune/engine/trial_recorder.hpp"
#include "libtune/tune/options.hpp"

namespace tune {

/// What surrounds every run of an autotune function whose result is kept: what is known of earlier
/// searches is recalled, each trial is kept when it is made, and the result at the end. One thread
/// at a time.
class tuning_transaction {
 public:
  /// Whether what a database has is a tuning of the present function.
  using check_function = std::function<bool(const record&)>;

  /// @param layers  with a database of the user's
  /// @param mode    force: earlier searches are not used, but for the denylist; force
  ///                and resume: the result takes the place of the one there is
  /// @param check   empty: all that the database has is one
  /// @param wait    for those who keep the database, to store the result
  /// @param start   anew: earlier searches are not used in any mode
  tuning_transaction(std::shared_ptr<const tuning_layers> layers, function_identity function,
                     record_key key, tuning_mode mode, check_function check = {},
                     std::chrono::milliseconds wait = std::chrono::milliseconds(0),
                     search_start start = search_start::continued);

  /// Who has to hear of the searches.
  const std::shared_ptr<trial_recorder>& recorder() const noexcept { return recorder_; }

  /// What is known for the search that starts next. Does not throw.
  prior_knowledge read_prior(const search_identity& search) const;

  /// Stores the result, so that its searches have come to their end; where that cannot be done,
  /// which costs one warning, this process remembers it.
  /// @returns the result that counts: that of another process, if it was the first to store one
  std::vector<named_value> store(const tuned_values& made);
  /// Whether a result has been stored in the database.
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

/// What tells a search from all others of one database: who tunes takes the key_lock of this name.
std::string search_name(const function_identity& function, const record_key& key);

}  // namespace tune
