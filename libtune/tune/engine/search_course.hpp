// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

#include "libtune/tune/engine/search_loop.hpp"
#include "libtune/tune/search_defaults.hpp"
#include "libtune/tune/search_problem.hpp"

namespace tune {
class tuning_session;
}  // namespace tune

namespace tune::detail {

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

}  // namespace tune::detail
