// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "libtune/measure/timing/samples.hpp"

namespace tune {

/// What one search may cost. Where several limits are given, the first that is reached ends it; the
/// best so far is the result. What is left empty does not limit.
struct tuning_budget {
  /// Of wall-clock time, from the start of the search. What is being tried when it runs out is
  /// brought to its end.
  std::optional<std::chrono::nanoseconds> time{};
  /// Configurations that are tried; those that were tried in an unfinished search do not count.
  std::optional<std::size_t> trials{};
  /// Good enough: a configuration that takes no longer than this ends the search.
  std::optional<run_time> target{};

  friend bool operator==(const tuning_budget&, const tuning_budget&) = default;
};

/// A budget as LIBTUNE_BUDGET takes it: limits with commas between them, each "30 s" (also ms, min,
/// h), "200 trials" or "target 85 us" (also ns, ms, s). Empty if the text is anything else, names a
/// limit twice, or a number is zero or negative.
std::optional<tuning_budget> budget_from_text(std::string_view text);

/// The same in words: "30 s, 200 trials". Empty for one that limits nothing.
std::string to_string(const tuning_budget& budget);

/// Why a search came to its end.
enum class search_end : std::uint8_t {
  complete,  ///< the strategy had nothing more to propose
  time,      ///< the budget's time was used up
  trials,    ///< the budget's trials were used up
  target     ///< one was good enough
};

/// "complete", "time", "trials" or "target". They are stored: never change one.
std::string_view search_end_name(search_end end) noexcept;

}  // namespace tune
