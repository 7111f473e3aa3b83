// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <vector>

#include "libtune/device/context.hpp"
#include "libtune/measure/measure.hpp"
#include "libtune/tune/engine/prior_knowledge.hpp"
#include "libtune/tune/engine/step_hooks.hpp"
#include "libtune/tune/observer.hpp"
#include "libtune/tune/options.hpp"
#include "libtune/tune/search_problem.hpp"

namespace tune::detail {

/// Says which configurations a search is to try in place of what the strategy proposes; none: the
/// strategy decides.
using shortlist_function = std::function<std::vector<std::size_t>(const search_problem&)>;

/// All that a session starts from.
struct session_setup {
  tune::context context;
  tuning_subject subject{};
  tuning_options options{};
  wall_clock now = std::chrono::steady_clock::now;
  prior_reader read_prior{};  ///< the trials of earlier searches; empty: there are none
  /// Asked at the start of each search. If no configuration on the list can be measured, the search
  /// is as if there were none. What it throws leaves the session's tune.
  shortlist_function shortlist{};
  step_hooks hooks{};
  bool only_listed = false;  ///< whether a list is all that there is to try, even if nothing works
};

}  // namespace tune::detail
