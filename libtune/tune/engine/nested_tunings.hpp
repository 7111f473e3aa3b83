// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// What a call of an autotuner has to know of those that it is made in: of this thread, and, in a
// child that tunes for another process, of the thread there.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "libtune/base/value.hpp"
#include "libtune/store/database/stored_trial.hpp"
#include "libtune/tune/engine/step_hooks.hpp"
#include "libtune/tune/observer.hpp"

namespace tune::detail {

/// The name of a tuning, of which another is not under way in the same database.
/// @param search  search_name of the function and the key
inline std::string tuning_name(const std::string& database, const std::string& search) {
  return database + '\n' + search;
}

/// Says that this thread runs an autotune function, for as long as it lives. They end in the
/// reverse order.
class [[nodiscard]] tuning_under_way {
 public:
  /// All outlive this. @param listener  null: that of the tuning around it
  explicit tuning_under_way(const tuning_subject& subject, step_listener* listener = nullptr,
                            const std::vector<std::shared_ptr<observer>>* observers = nullptr);
  ~tuning_under_way();
  tuning_under_way(const tuning_under_way&) = delete;
  tuning_under_way& operator=(const tuning_under_way&) = delete;
};

/// Whether this thread tunes just that, for the same device.
bool is_under_way(const tuning_subject& subject);
/// Who hears of the steps of what this thread tunes; null: nobody.
step_listener* current_listener() noexcept;
/// Those of all tunings of this thread, each once.
std::vector<std::shared_ptr<observer>> current_observers();

/// Says that this thread has the right to tune a key, or tunes it without. They end in the reverse
/// order.
class [[nodiscard]] tuning_scope {
 public:
  /// @param name  tuning_name
  explicit tuning_scope(std::string name);
  ~tuning_scope();
  tuning_scope(const tuning_scope&) = delete;
  tuning_scope& operator=(const tuning_scope&) = delete;
};

/// The names of the scopes of this thread, and of the thread that it works for, the outermost
/// first.
std::vector<std::string> scopes();

/// What a call has come to that is made only once within the outermost tuning, however often it
/// is asked for there, so that the configurations of one search are comparable.
/// @returns empty outside of any tuning, too
std::optional<std::vector<named_value>> made_inside(const std::string& name);
/// Keeps it for made_inside. @param for_process  also for is_tuned_in_process
void keep_made(const std::string& name, const std::vector<named_value>& values, bool for_process);
/// Whether this process, or one that it works for, has tuned it by a mode that holds for the
/// process as a whole.
bool is_tuned_in_process(const std::string& name);

/// A configuration that took the process of a tuning inside another with it.
struct lost_inside {
  std::string name{};  ///< tuning_name
  search_identity search{};
  stored_trial trial{};
};

/// What a child is told of the tunings that its own is a part of.
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
/// As this thread knows them; nothing is lost yet.
outer_tunings surroundings();
/// Makes them those of this thread, in place of what there was.
void inherit(outer_tunings outer);
/// The configurations that were lost in a search, according to what was inherited.
std::vector<stored_trial> lost_in(const std::string& name, const search_identity& search);

}  // namespace tune::detail
