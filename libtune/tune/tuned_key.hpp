// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "libtune/device/context.hpp"
#include "libtune/store/database/record.hpp"
#include "libtune/store/database/tuning_layers.hpp"
#include "libtune/tune/autotuner_core.hpp"
#include "libtune/tune/engine/executor.hpp"
#include "libtune/tune/lookup_plan.hpp"
#include "libtune/tune/observer.hpp"
#include "libtune/tune/settings.hpp"

namespace tune {

/// The key of one call of an autotuner, with its settings and databases once these are resolved.
struct tuned_key {
  using values = std::vector<named_value>;

  /// Everything outlives this.
  tuned_key(const autotuner_core& core, const tune::context& context, const values& arguments,
            const tuning_options& options);

  /// Resolves the settings. @throws environment_error
  void resolve();
  /// Opens the databases of the settings: to be read only in the mode cached.
  void open_databases();

  /// Returns the identity under which results are stored: the function's own, or one with the
  /// goal in its name.
  const function_identity& identity() const { return of_goal ? *of_goal : core.identity(); }
  record_key key() const { return {subject.arguments, subject.device.identity}; }
  /// Returns the name of the key's searches in a database.
  const std::string& search() const;
  /// Returns the name of the key that is unique in all databases of the process.
  const std::string& name() const;
  /// Returns the longest wait for another search of the key: slightly longer than its own may take.
  std::chrono::milliseconds patience() const;
  /// Throws if the calling thread captures commands: a tuning would break the capture.
  /// @throws device_error
  void require_no_capture() const;

  const autotuner_core& core;
  const tune::context& context;
  const tuning_options& options;
  tuning_subject subject;
  std::optional<function_identity> of_goal{};  ///< empty if the goal is the least time
  tuning_settings settings{};
  lookup_plan plan{tuning_mode::tune, match_mode::exact};
  std::shared_ptr<const tuning_layers> layers{};
  std::shared_ptr<tuning_database> database{};  ///< null if results cannot be kept
  const background_task* behind = nullptr;      ///< null if the application waits for this call

 private:
  // Made at the first use, because most lookups need neither.
  mutable std::string search_;
  mutable std::string name_;
};

namespace detail {

/// Logs information once for each key of a process.
void log_once(const std::string& key, const std::string& text);

}  // namespace detail
}  // namespace tune
