// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "libtune/store/database/tuning_database.hpp"
#include "tests/store/samples.hpp"
#include "tests/store/temporary_folder.hpp"

namespace tune::testing {

/// A search of stage 0.
inline const search_identity sample_search{
    .space = "space", .compiler = "compiler", .library_version = "1", .stage = 0};

/// A database of its own, with the searches of sample_function() that a test records.
struct recorded_searches {
  temporary_folder folder;
  tuning_database database{folder.file("tuning.db")};

  void record(const std::vector<stored_trial>& trials,
              const search_identity& identity = sample_search,
              const record_key& key = sample_key()) {
    const auto id = database.begin_search(sample_function(), key, identity);
    for (const stored_trial& trial : trials) database.add_trial(id, trial);
  }
};

}  // namespace tune::testing
