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

  int searches = 0;                      ///< number of started searches
  std::optional<run_time> best_score{};  ///< the score of the last completed search
  search_course* course = nullptr;       ///< decides its searches; null: no course
};

/// Decides the searches of a session instead of its options and its strategy, during its life;
/// afterwards the previous course continues. Used by the thread of the session, which must outlive
/// it.
class search_course {
 public:
  explicit search_course(tuning_session& session);
  virtual ~search_course();
  search_course(const search_course&) = delete;
  search_course& operator=(const search_course&) = delete;

  /// Searches instead of the session: returns the number of the best configuration, or throws as
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
  std::vector<std::size_t> shortlist{};  ///< if not empty, only these, in this order
  bool ends_after_seeds = true;          ///< false: it continues after good seeds
  loaded_programs* programs = nullptr;   ///< kept between searches; null: not kept
  /// True if the device has just worked, for the previous search.
  bool is_warm = false;
};

/// Runs a search: adds the probes, reads prior trials, compiles and measures. Returns the number of
/// the best configuration, and stores its score in the session. @throws as tuning_session::tune
std::size_t run(session_state& session, session_search search);

}  // namespace tune::detail
