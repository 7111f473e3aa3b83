// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tune/engine/verification.hpp"

#include <algorithm>
#include <exception>
#include <optional>

#include "libtune/tune/engine/limits.hpp"

namespace tune {
namespace {

std::optional<std::size_t> find_legal(const std::vector<named_value>& configuration,
                                      const search_problem& problem, const device& device) {
  try {
    const std::optional<std::size_t> index = problem.find(configuration);
    if (!index) return std::nullopt;
    const auto asked = problem.needs(*index);
    return asked && find_broken_limit(*asked, device.limits()) ? std::nullopt : index;
  } catch (const std::exception&) {
    return std::nullopt;  // of other fields, or the author's needs refuse it
  }
}

std::vector<stored_trial> by_score(std::vector<stored_trial> trials) {
  std::erase_if(trials, [](const stored_trial& trial) { return !trial.score_ns; });
  std::ranges::stable_sort(trials, {},
                           [](const stored_trial& trial) { return *trial.score_ns / trial.level; });
  return trials;
}

}  // namespace

std::vector<std::size_t> make_shortlist(const verification& known, const search_problem& problem,
                                        const device& device) {
  std::vector<std::size_t> listed;
  const auto add = [&](const std::vector<named_value>& configuration) {
    const auto index = find_legal(configuration, problem, device);
    const bool is_new = index && std::ranges::find(listed, *index) == listed.end();
    if (is_new) listed.push_back(*index);
    return is_new;
  };
  for (const record& winner : known.winners) {
    add(winner.values);
    if (listed.size() == verification::most_winners) break;
  }
  if (listed.empty()) return listed;
  std::size_t runners_up = 0;
  for (const stored_trial& trial : by_score(known.trials)) {
    if (runners_up == verification::most_runners_up) break;
    if (add(trial.configuration)) ++runners_up;
  }
  add(known.test_default);
  return listed;
}

}  // namespace tune
