// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

#include "libtune/store/database/tuning_database.hpp"
#include "libtune/tune/engine/prior_knowledge.hpp"
#include "libtune/tune/observer.hpp"

namespace tune {

/// What is denied for a key, and, where it listens, of configurations that are tried outside of a
/// search, such as the result of another device: the incidents among them are kept. They are trials
/// of the search for the key that is unfinished, or that begins with them; one that comes later
/// goes on with it. A database that cannot be used costs one warning. Not thread-safe.
class incident_recorder final : public observer {
 public:
  /// @param database  null: nothing is known or kept
  incident_recorder(std::shared_ptr<tuning_database> database, function_identity function,
                    record_key key);

  /// What is known for this search; what is tried afterwards is of it.
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
