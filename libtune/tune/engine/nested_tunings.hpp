// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The tunings around a call of an autotuner: the tunings of this thread, and, in a child that tunes
// for another process, of the thread there.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "libtune/base/value.hpp"
#include "libtune/store/database/stored_trial.hpp"
#include "libtune/tune/engine/step_hooks.hpp"
#include "libtune/tune/observer.hpp"

namespace tune::detail {

/// Returns the name of a tuning, unique for a function and key in one database.
/// @param search  search_name of the function and the key
inline std::string tuning_name(const std::string& database, const std::string& search) {
  return database + '\n' + search;
}

/// Marks this thread as running an autotune function, during its life. Destroyed in the reverse
/// order.
class [[nodiscard]] tuning_under_way {
 public:
  /// All references must outlive this. @param listener  null: the listener of the outer tuning
  explicit tuning_under_way(const tuning_subject& subject, const step_listener* listener = nullptr,
                            const std::vector<std::shared_ptr<observer>>* observers = nullptr);
  ~tuning_under_way();
  tuning_under_way(const tuning_under_way&) = delete;
  tuning_under_way& operator=(const tuning_under_way&) = delete;
};

/// Returns true if this thread is tuning the same function and key for the same device.
bool is_under_way(const tuning_subject& subject);
/// Returns the step listener of the innermost tuning of this thread; null without one.
const step_listener* current_listener() noexcept;
/// Returns the observers of all tunings of this thread, each once.
std::vector<std::shared_ptr<observer>> current_observers();

/// Lets the caller of tunings on this thread stop them, nested ones too, during its life. Destroyed
/// in the reverse order.
class [[nodiscard]] stop_scope {
 public:
  /// @param asked  called on this thread between the steps of a search and ten times a second while
  ///               it waits; true stops it. Does not throw
  explicit stop_scope(std::function<bool()> asked);
  ~stop_scope();
  stop_scope(const stop_scope&) = delete;
  stop_scope& operator=(const stop_scope&) = delete;
  /// True if this scope or an outer one requests the stop.
  bool is_stopped() const { return asked_() || (outer_ != nullptr && outer_->is_stopped()); }

 private:
  std::function<bool()> asked_;
  const stop_scope* outer_;
};
/// True if a scope of this thread requests the stop.
bool is_stopped();
/// @throws tuning_stopped_error if a scope of this thread requests the stop
void require_not_stopped();

/// Marks this thread as tuning a key, with or without its lock. Destroyed in the reverse order.
class [[nodiscard]] tuning_scope {
 public:
  /// @param name  tuning_name
  explicit tuning_scope(std::string name);
  ~tuning_scope();
  tuning_scope(const tuning_scope&) = delete;
  tuning_scope& operator=(const tuning_scope&) = delete;
};

/// Returns the names of the scopes of this thread, and of the thread that it works for, the
/// outermost first.
std::vector<std::string> scopes();

/// Returns the result of a call that has been tuned within the outermost tuning. Each call is tuned
/// only once there, so that the configurations of one search are comparable.
/// @returns empty if it has not been tuned there, and outside of any tuning
std::optional<std::vector<named_value>> made_inside(const std::string& name);
/// Stores a result for made_inside. @param for_process  also for is_tuned_in_process
void keep_made(const std::string& name, const std::vector<named_value>& values, bool for_process);
/// Returns true if this process, or one that it works for, has tuned the call in a mode that
/// applies to the whole process.
bool is_tuned_in_process(const std::string& name);

/// A configuration of a nested tuning that ended its process.
struct lost_inside {
  std::string name{};  ///< tuning_name
  search_identity search{};
  stored_trial trial{};
};

/// The tunings around a child's tuning, as listed in its request.
struct outer_tunings {
  struct made {
    std::string name{};
    std::vector<named_value> values{};
  };
  std::vector<std::string> scopes{};
  std::vector<made> inside{};
  std::vector<std::string> in_process{};
  std::vector<lost_inside> lost{};
};
/// Returns the tunings of this thread, without lost configurations.
outer_tunings surroundings();
/// Replaces this thread's own tunings by these.
void inherit(outer_tunings outer);
/// Returns the lost configurations of a search, from the inherited tunings.
std::vector<stored_trial> lost_in(const std::string& name, const search_identity& search);

}  // namespace tune::detail
