// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tune/ahead/division.hpp"

#include <algorithm>

namespace tune {
namespace {

// A divided search starts twice more, once in parts and once for the finals. Two parts save as much
// as one of them takes.
constexpr int starts_in_a_part = 3;

std::size_t part_of(std::size_t count, std::size_t parts) { return (count + parts - 1) / parts; }

// What was spent on the whole before counts as time, and no more as trials.
void divide_budget(tuning_options& options, std::size_t made, std::size_t parts) {
  if (!options.budget || !options.budget->trials) return;
  const std::size_t left = *options.budget->trials - std::min(made, *options.budget->trials);
  options.budget->trials = std::max<std::size_t>(1, part_of(left, parts));
}

}  // namespace

std::vector<search_part> divide(const search_started_event& whole, std::size_t tried,
                                const tuning_options& options, std::size_t parts) {
  const std::size_t left = whole.planned - std::min(tried, whole.planned);
  std::vector<search_part> all(parts, {.options = options});
  for (std::size_t i = 0; i < parts; ++i) {
    divide_budget(all[i].options, tried - std::min(whole.taken_over, tried), parts);
    if (whole.strategy == "exhaustive") {
      all[i].choice = {.shard = i, .shards = parts};
    } else {
      all[i].options.strategy = whole.strategy;
      all[i].options.search.seed += i;
      all[i].options.search.max_count = tried + part_of(left, parts);
    }
  }
  return all;
}

std::optional<std::size_t> worthwhile_parts(std::size_t left,
                                            const std::optional<search_outlook>& outlook,
                                            std::chrono::nanoseconds smallest) {
  const std::size_t most = std::max<std::size_t>(1, left);
  if (smallest <= std::chrono::nanoseconds::zero()) return most;
  if (!outlook) return std::nullopt;
  const auto part = std::max(smallest, starts_in_a_part * outlook->start);
  return std::clamp<std::size_t>(static_cast<std::size_t>(outlook->rest / part), 1, most);
}

}  // namespace tune
