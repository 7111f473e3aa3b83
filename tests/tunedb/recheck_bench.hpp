// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// What the tests of tunedb recheck share.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "libtune/device/devices.hpp"
#include "libtune/store/database/tuning_database.hpp"
#include "libtune/testing/fixtures.hpp"
#include "libtune/testing/run_tests.hpp"
#include "libtune/testing/temporary_directory.hpp"
#include "tests/child/sample_tuner.hpp"
#include "tests/tunedb/run_tunedb.hpp"

namespace tune::testing {

/// A tuning of the sample application.
inline std::vector<named_value> sample_values(int n) { return {{"n", std::int64_t{n}}}; }

inline bool has_recheck_device() {
  if (!all_devices().empty()) return true;
  skip("there is no device");
  return false;
}

/// A folder with room for a database, and one device.
struct recheck_bench {
  temporary_directory folder;
  std::string path = (folder / "tuning.db").string();
  std::string log = (folder / "log").string();
  scoped_environment variable{"LIBTUNE_DB", path.c_str()};
  scoped_environment system{"LIBTUNE_SYSTEM_DB", nullptr};
  scoped_environment device{"LIBTUNE_DEVICE", "0"};
  scoped_environment trial_time{"LIBTUNE_TRIAL_TIME", "1"};

  /// Its standard error is a part of the output, unless that is JSON.
  ended recheck(const std::string& arguments = {}) const {
    const char* error = arguments.ends_with("--json") ? " 2> /dev/null" : " 2>&1";
    return run(std::string("'") + LIBTUNE_TUNEDB + "' recheck --app '" + LIBTUNE_APPLICATION +
               "' " + arguments + error);
  }
  nlohmann::json document(const std::string& arguments = {}) const {
    return nlohmann::json::parse(recheck(arguments + " --json").output);
  }
  /// Stores a result with trials of these configurations, of which n takes n us.
  void store(const isolated::sample_key& key, int winner, const std::vector<int>& trials,
             const function_identity& function = isolated::sample_function(),
             const std::string& driver = {}) const {
    tuning_database database(path);
    record_key of{to_values(key), all_devices().front().identity()};
    if (!driver.empty()) of.device.driver_version = driver;
    const auto search = database.begin_search(function, of, {.library_version = "0.1.0"});
    for (const int n : trials) {
      database.add_trial(search, {.configuration = sample_values(n),
                                  .outcome = "measured",
                                  .samples_ns = {1000.0 * n},
                                  .score_ns = 1000.0 * n});
    }
    database.finish_search(search, "found");
    database.store(function, of, sample_values(winner), 1000.0 * winner);
  }
  std::int64_t stored(const isolated::sample_key& key) const {
    const auto found = tuning_database(path).find(
        isolated::sample_function(), {to_values(key), all_devices().front().identity()});
    return found ? std::get<std::int64_t>(found->values.front().value) : 0;
  }
};

}  // namespace tune::testing
