// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tune/session.hpp"

#include "libtune/tune/search_loop.hpp"

namespace tune {

tuning_session::tuning_session(const tune::context& context, tuning_subject subject,
                               const tuning_options& options, wall_clock now)
    : context_(context), subject_(std::move(subject)), options_(options), now_(std::move(now)) {}

std::size_t tuning_session::search(const search_problem& problem) {
  const trial best =
      run_search(problem, subject_, context_.device(), options_, options_.observers, now_);
  best_score_ = best.score;
  return best.index;
}

}  // namespace tune
