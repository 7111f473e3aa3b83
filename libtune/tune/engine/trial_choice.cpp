// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tune/engine/trial_choice.hpp"

#include <algorithm>
#include <exception>
#include <optional>
#include <string>

#include "libtune/base/error.hpp"
#include "libtune/tune/engine/trial_attempt.hpp"

namespace tune {
namespace {

std::optional<std::size_t> find(const std::vector<named_value>& configuration,
                                const search_problem& problem) {
  try {
    return problem.find ? problem.find(configuration) : std::nullopt;
  } catch (const std::exception&) {
    return std::nullopt;  // it has other fields
  }
}

bool is_legal(std::size_t index, const search_problem& problem, const device& device) {
  try {
    const auto asked = problem.needs(index);
    return !asked || !find_broken_limit(*asked, device.limits());
  } catch (const std::exception&) {
    return false;  // the author's needs refuse it
  }
}

std::vector<stored_trial> by_score(std::vector<stored_trial> trials) {
  std::erase_if(trials, [](const stored_trial& trial) { return !trial.score_ns; });
  std::ranges::stable_sort(trials, {},
                           [](const stored_trial& trial) { return *trial.score_ns / trial.level; });
  return trials;
}

std::vector<std::size_t> shard_of(const trial_choice& choice, std::size_t configurations) {
  std::vector<std::size_t> numbers;
  for (std::size_t i = choice.shard; i < configurations; i += choice.shards) numbers.push_back(i);
  return numbers;
}

}  // namespace

std::vector<std::size_t> make_shortlist(const verification& known, const search_problem& problem,
                                        const device& device) {
  std::vector<std::size_t> listed;
  const auto add = [&](const std::vector<named_value>& configuration) {
    const auto index = find(configuration, problem);
    const bool is_new = index && is_legal(*index, problem, device) &&
                        std::ranges::find(listed, *index) == listed.end();
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

std::vector<std::size_t> numbers_of(const std::vector<std::vector<named_value>>& configurations,
                                    const search_problem& problem) {
  std::vector<std::size_t> numbers;
  for (const auto& configuration : configurations) {
    const auto number = find(configuration, problem);
    const bool is_new = number && std::ranges::find(numbers, *number) == numbers.end();
    if (is_new) numbers.push_back(*number);
  }
  return numbers;
}

std::vector<std::size_t> list_of(const trial_choice& choice, const search_problem& problem,
                                 const device& device) {
  if (!choice.is_strict()) return make_shortlist(choice.known, problem, device);
  auto listed = choice.configurations.empty() ? shard_of(choice, problem.space.size())
                                              : numbers_of(choice.configurations, problem);
  if (listed.empty()) {
    throw argument_error("none of the configurations that were to be tried is in the space of " +
                         std::to_string(problem.space.size()) + " configurations");
  }
  return listed;
}

}  // namespace tune
