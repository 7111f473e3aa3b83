// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tune/engine/trial_choice.hpp"

#include <algorithm>
#include <optional>
#include <string>

#include "libtune/base/error.hpp"

namespace tune {
namespace {

std::vector<std::size_t> chosen_numbers(const std::vector<std::vector<named_value>>& configurations,
                                        const search_problem& problem) {
  std::vector<std::size_t> numbers;
  for (const auto& configuration : configurations) {
    const std::optional<std::size_t> number = problem.find(configuration);
    const bool is_new = number && std::ranges::find(numbers, *number) == numbers.end();
    if (is_new) numbers.push_back(*number);
  }
  return numbers;
}

std::vector<std::size_t> shard_of(const trial_choice& choice, std::size_t configurations) {
  std::vector<std::size_t> numbers;
  for (std::size_t i = choice.shard; i < configurations; i += choice.shards) numbers.push_back(i);
  return numbers;
}

}  // namespace

std::vector<std::size_t> list_of(const trial_choice& choice, const search_problem& problem,
                                 const device& device) {
  if (!choice.is_strict()) return make_shortlist(choice.known, problem, device);
  auto listed = choice.configurations.empty() ? shard_of(choice, problem.space.size())
                                              : chosen_numbers(choice.configurations, problem);
  if (listed.empty()) {
    throw argument_error("none of the configurations that were to be tried is in the space of " +
                         std::to_string(problem.space.size()) + " configurations");
  }
  return listed;
}

}  // namespace tune
