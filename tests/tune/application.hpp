// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// An application that uses the autotuner of scale.hpp, with a database of its own.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "libtune/base/fields.hpp"
#include "libtune/store/database/tuning_database.hpp"
#include "libtune/store/database/tuning_layers.hpp"
#include "libtune/testing/fixtures.hpp"
#include "libtune/testing/temporary_directory.hpp"
#include "libtune/tune/engine/prior_trials.hpp"
#include "tests/tune/scale.hpp"

namespace sample {

/// Autotuners behave as in an application, with a database of their own and nothing else in the
/// environment.
struct application {
  tune::testing::test_mode_guard in_application{tune::testing::test_mode::off};
  tune::testing::temporary_directory folder;
  std::string path = (folder / "tuning.db").string();
  tune::testing::scoped_environment own_database{"LIBTUNE_DB", path.c_str()};
  tune::testing::scoped_environment no_system{"LIBTUNE_SYSTEM_DB", nullptr};
  tune::testing::scoped_environment no_match{"LIBTUNE_MATCH", nullptr};
  tune::testing::scoped_environment no_mode{"LIBTUNE_MODE", nullptr};
  tune::testing::scoped_environment no_goal{"LIBTUNE_OBJECTIVE", nullptr};
  tune::context context = make_device().device().create_context();
};

/// With the autotuner "sample.scale" of scale.hpp.
struct counted_application : application {
  counted_autotuner counted;
};

inline tune::context context_of(const std::string& name, const std::string& driver = "1.0") {
  return make_device(name, driver).device().create_context();
}

/// The identity of an autotuner of scale.hpp in a database.
inline tune::function_identity scale_function(std::string name = "sample.scale") {
  return {.name = std::move(name),
          .version = 0,
          .key_fields = tune::describe_fields<scale_key>(),
          .value_fields = tune::describe_fields<scale_tuning>()};
}

inline tune::record_key key_on(const tune::device& device, const scale_key& key = {}) {
  return {tune::to_values(key), device.identity()};
}

/// Stores a result as if a device had been tuned.
inline void store(const std::string& database, const tune::context& context,
                  const scale_tuning& tuning, std::optional<double> score_ns = 1000.0,
                  const std::string& name = "sample.scale") {
  tune::tuning_database(database).store(scale_function(name), key_on(context.device()),
                                        tune::to_values(tuning), score_ns);
}

/// The most configurations that a search measures again when it goes on.
inline constexpr std::size_t measured_again = tune::earlier_times::references;

/// Forgets what this process has found in databases, as if it were started again.
inline void forget_results() { tune::record_memory::shared().forget_all(); }

}  // namespace sample
