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

/// The limits of one search. The first limit that is reached ends it; the best configuration so far
/// is the result. An empty member sets no limit.
struct tuning_budget {
  /// Wall-clock time from the start of the search. The trial under way at that time is completed. A
  /// search without a working configuration continues until 20 configurations have been run and
  /// have failed, or 1000 were skipped.
  std::optional<std::chrono::nanoseconds> time{};
  /// The number of new trials; resumed trials do not count.
  std::optional<std::size_t> trials{};
  /// Good enough: a configuration that takes no longer than this ends the search.
  std::optional<run_time> target{};
  /// Good enough: the search ends as soon as a bound shows that its best is at most this much
  /// slower than the best of all; 0.05 is 5 %. There are two bounds. The first is the time of the
  /// declared work at the device's measured peaks (declared_work): of its bytes, unless they may
  /// stay in the cache, and of its operations, if their arithmetic is declared. The second is the
  /// loss of similar searches had they stopped after their seeds: nine of ten
  /// lost no more than this. A budget with this member alone keeps an author's limits of the
  /// effort.
  std::optional<double> within{};

  friend bool operator==(const tuning_budget&, const tuning_budget&) = default;
};

/// Returns the budget of a text, as LIBTUNE_BUDGET takes it: limits separated by commas, each "30
/// s" (also ms, min, h), "200 trials", "target 85 us" (also ns, ms, s) or "within 5 %" (good
/// enough). Empty if the text is anything else, names a limit twice, or has a number that is zero
/// or negative.
std::optional<tuning_budget> budget_from_text(std::string_view text);

/// Returns a budget in words: "30 s, 200 trials". Empty for a budget without limits.
std::string to_string(const tuning_budget& budget);

/// The device memory that a tuning may hold at once: its arrays, the configurations that are kept
/// for the race, and the memory of nested tunings. One member is set.
struct memory_budget {
  std::size_t bytes = 0;  ///< the number of bytes, if not 0
  double share = 0;       ///< else this part of the device's memory: 0.1 is 10 %

  friend bool operator==(const memory_budget&, const memory_budget&) = default;
};

/// Returns the budget of a text, as LIBTUNE_TUNING_MEMORY takes it: "2 GiB" (also MiB, KiB, GB, MB,
/// kB, B) or "10 %". Empty if the text is anything else, zero, negative or more than 100 %.
std::optional<memory_budget> memory_budget_from_text(std::string_view text);

/// Returns a budget in words: "2 GiB", "10 %".
std::string to_string(const memory_budget& budget);

/// The reason for the end of a search.
enum class search_end : std::uint8_t {
  complete,  ///< the strategy had nothing more to propose
  time,      ///< the budget's time was used up
  trials,    ///< the budget's trials were used up
  target,    ///< a configuration was good enough
  no_gain    ///< the strategy expected no more gain from further trials
};

/// Returns the words of an end: "complete", "time", "trials", "target" or "no more gain expected".
/// They are stored: never change one.
std::string_view search_end_name(search_end end) noexcept;

/// True if the strategy ended the search, not a limit of the budget.
constexpr bool is_whole(search_end end) noexcept {
  return end == search_end::complete || end == search_end::no_gain;
}

}  // namespace tune
