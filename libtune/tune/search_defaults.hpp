// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "libtune/measure/timing/settings.hpp"
#include "libtune/tune/metric_sources.hpp"
#include "libtune/tune/tuning_budget.hpp"

namespace tune {

/// The source of an option of a search. If two sources give the same option, the later one in this
/// list wins.
enum class option_source : std::uint8_t {
  library,      ///< the library's default
  author,       ///< the author of the operation (search_defaults)
  application,  ///< tuning_options
  environment,  ///< a variable such as LIBTUNE_STRATEGY
  command       ///< the command line of a program for tuning, such as `tunedb pretune`
};

/// The results to check, if the author's function defines a check.
enum class result_check : std::uint8_t {
  every,      ///< checks each configuration before its measurement
  finalists,  ///< checks each one that would take the lead or reaches the final round: a
              ///< wrong one is dropped before it can win
  none,       ///< no check: the winner may be wrong
};

/// The options that the author of an operation gives a search (tuning_session::tune), for spaces or
/// kernels with special needs. Empty members stand for the library's choice; the application, the
/// environment and pretuning may replace each member.
struct search_defaults {
  std::string strategy{};  ///< a name: see strategy_names
  /// The limits. They are one option: a later source that gives a budget, a count or a fraction
  /// replaces all three.
  tuning_budget budget{};
  std::optional<std::size_t> max_count{};     ///< strategy_options::max_count
  std::optional<double> max_fraction{};       ///< strategy_options::max_fraction
  std::optional<bool> early_end{};            ///< strategy_options::early_end
  std::optional<measure_settings> measure{};  ///< the runs and time of one configuration
  std::optional<result_check> verify{};       ///< the results to check
  metric_sources metrics{};                   ///< sources in addition to the application's
};

}  // namespace tune
