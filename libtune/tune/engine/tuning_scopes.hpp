// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The tunings that this thread is in, and, in a child that tunes for another process, those of the
// thread there.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

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

/// True within any tuning of this thread.
bool is_inside_tuning() noexcept;

/// The base class of an object that belongs to the outermost tuning of a thread, and is deleted at
/// its end.
class kept_in_tuning {
 public:
  kept_in_tuning() = default;
  virtual ~kept_in_tuning() = default;
  kept_in_tuning(const kept_in_tuning&) = delete;
  kept_in_tuning& operator=(const kept_in_tuning&) = delete;
};
/// Returns the place for one object; null if this thread has neither begun nor inherited a tuning.
std::unique_ptr<kept_in_tuning>* place_in_tuning() noexcept;
/// Replaces the scopes of this thread by those of the thread that it works for, and returns the
/// place above, which is empty.
std::unique_ptr<kept_in_tuning>& inherit_scopes(std::vector<std::string> names);

}  // namespace tune::detail
