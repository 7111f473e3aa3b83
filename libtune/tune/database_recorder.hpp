// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "libtune/store/tuning_database.hpp"
#include "libtune/tune/observer.hpp"

namespace tune {

/// Keeps every trial of a search in the database, each as soon as it has been made. A database
/// that cannot be written costs one warning, and the rest of the search is not kept.
class database_recorder final : public observer {
 public:
  database_recorder(std::shared_ptr<tuning_database> database, function_identity function,
                    record_key key);

  void search_started(const search_started_event& event) override;
  void trial_finished(const tuning_subject& subject, const trial& finished) override;
  void search_finished(const search_finished_event& event) override;

 private:
  std::shared_ptr<tuning_database> database_;
  function_identity function_;
  record_key key_;
  std::optional<search_id> search_;
};

}  // namespace tune
