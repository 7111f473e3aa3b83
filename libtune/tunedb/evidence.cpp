// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tunedb/evidence.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace tune::cli {

evidence::evidence(const std::vector<stored_trial>& search, const record& result)
    : trials(search.size()) {
  std::vector<double> others;
  std::optional<double> mine;
  for (const stored_trial& trial : search) {
    if (!trial.score_ns) continue;
    ++measured;
    if (trial.configuration != result.values) {
      others.push_back(*trial.score_ns);
      continue;
    }
    mine = trial.score_ns;
    if (trial.samples_ns.empty()) continue;
    const auto [low, high] = std::ranges::minmax(trial.samples_ns);
    noise = (high - low) / 2 / low;
  }
  if (!mine) return;
  constexpr double as_good_as = 1.05;
  const auto slower = [&](double other) { return other > *mine * as_good_as; };
  as_good = 1 + others.size() - static_cast<std::size_t>(std::ranges::count_if(others, slower));
  was_fastest = std::ranges::none_of(others, [&](double other) { return other < *mine; });
  if (!others.empty()) gap = std::ranges::min(others) / *mine - 1;
}

std::string evidence::reason() const {
  if (trials == 0) return "no trials are kept of it: it was imported, or stored without a search";
  return fmt::format("{} of {} configurations could be measured, and {}", measured, trials,
                     was_fastest ? "it was the fastest" : "it is what was stored");
}

std::string evidence::verdict() const {
  if (!gap || !noise) return "unknown";
  return *gap > *noise ? "clear" : "close";
}

std::string evidence::verdict_text() const {
  if (!gap || !noise) return "there is nothing to compare it with";
  return fmt::format(
      "the next one is {:.1f} % slower, its samples vary by {:.1f} %, and {} configurations are "
      "within 5 %",
      100 * *gap, 100 * *noise, as_good);
}

}  // namespace tune::cli
