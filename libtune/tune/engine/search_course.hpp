// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "libtune/tune/engine/search_loop.hpp"
#include "libtune/tune/search_defaults.hpp"
#include "libtune/tune/search_problem.hpp"
#include "libtune/tune/settings.hpp"

namespace tune {
class tuning_session;
}  // namespace tune

namespace tune::detail {

class search_course;

/// A session and its searches so far.
struct session_state : session_setup {
  explicit session_state(session_setup setup) : session_setup(std::move(setup)) {}

  int searches = 0;                      ///< that have started
  std::optional<run_time> best_score{};  ///< of the search that ended last
  search_course* course = nullptr;       ///< decides its searches; null: none does
};

/// Decides the searches of a session in place of its options and its strategy, as long as it lives;
/// the one before it goes on afterwards. Used by the thread of the session, which outlives it.
class search_course {
 public:
  explicit search_course(tuning_session& session);
  virtual ~search_course();
  search_course(const search_course&) = delete;
  search_course& operator=(const search_course&) = delete;

  /// Searches in place of the session: returns the number of the best configuration, or throws as
  /// tuning_session::tune does.
  virtual std::size_t search(const search_problem& problem, const search_defaults& defaults) = 0;

 protected:
  session_state& session() const noexcept { return session_; }

 private:
  session_state& session_;
  search_course* outer_;
};

/// One search of a session.
struct session_search {
  const search_problem& problem;
  search_decision decided{};
  int stage = 0;                         ///< its number in the session, from 0
  std::vector<std::size_t> shortlist{};  ///< if not empty, these alone, in this order
  bool ends_after_seeds = true;          ///< false: it goes on however good they are
  loaded_programs* programs = nullptr;   ///< kept from one search to the next; null: none are
  bool is_warm = false;                  ///< true if the device has just worked, for the one before
};

/// Runs a search: adds the probes, reads prior trials, compiles and measures. Returns the number of
/// the best configuration, whose score is the session's then. @throws as tuning_session::tune
std::size_t run(session_state& session, session_search search);

}  // namespace tune::detail
