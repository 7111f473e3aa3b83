// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The database of searches of sample_autotune whose processes may have been killed.
#pragma once

#include <cstddef>
#include <doctest/doctest.h>
#include <set>
#include <string>

#include "libtune/device/devices.hpp"
#include "libtune/store/database/tuning_database.hpp"
#include "libtune/tune/engine/prior_trials.hpp"
#include "tests/child/sample_tuner.hpp"

namespace isolated {

/// The most configurations that a search measures again when it goes on.
inline constexpr std::size_t measured_again = tune::earlier_times::references;

/// The database has the winner, and one trial of each configuration, which was measured.
inline void check_database(const std::string& path, const sample_key& key) {
  tune::tuning_database database(path);
  const tune::record_key asked{tune::to_values(key), tune::select_device().identity()};
  const auto result = database.find(sample_function(), asked);
  REQUIRE(result);
  CHECK(tune::to_string(result->values) == "n=1");
  const auto search = database.latest_search(sample_function(), asked);
  REQUIRE(search);
  std::set<std::string> tried;
  for (const auto& trial : search->trials) {
    tried.insert(tune::to_string(trial.configuration));
    CHECK(trial.outcome == "measured");
  }
  const auto configurations = static_cast<std::size_t>(key.configurations);
  CHECK(tried.size() == configurations);
  CHECK(search->trials.size() == configurations);
}

/// The database has a search of a device with some trials, and no result.
inline void check_unfinished(const std::string& path, const sample_key& key,
                             const tune::device& device) {
  tune::tuning_database left(path);
  const tune::record_key asked{tune::to_values(key), device.identity()};
  CHECK_FALSE(left.find(sample_function(), asked));
  const auto search = left.latest_search(sample_function(), asked);
  REQUIRE(search);
  CHECK_FALSE(search->trials.empty());
}

}  // namespace isolated
