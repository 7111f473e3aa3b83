// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tune/similar_results.hpp"

#include <algorithm>
#include <exception>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "libtune/tune/tolerant.hpp"

namespace tune {
namespace {

constexpr std::size_t most_devices = 4;
constexpr std::size_t most_runners_up = 6;

class collection {
 public:
  explicit collection(std::size_t most) : most_(most) {}

  void add(const std::vector<named_value>& configuration) {
    if (found_.size() == most_ || !known_.insert(canonical_text(configuration)).second) return;
    found_.push_back(configuration);
  }
  std::vector<std::vector<named_value>> take() { return std::move(found_); }

 private:
  std::size_t most_;
  std::vector<std::vector<named_value>> found_;
  std::set<std::string> known_;
};

std::vector<stored_trial> best_of(std::vector<stored_trial> trials) {
  std::erase_if(trials, [](const stored_trial& trial) { return !trial.score_ns; });
  std::ranges::stable_sort(trials, {}, [](const stored_trial& trial) { return *trial.score_ns; });
  if (trials.size() > most_runners_up) trials.resize(most_runners_up);
  return trials;
}

}  // namespace

std::vector<std::vector<named_value>> similar_results(const tuning_layers& layers,
                                                      const function_identity& function,
                                                      const record_key& key, std::size_t most) {
  collection found(most);
  warn_on_database_error([&] {
    const std::vector<record> nearest = layers.find_nearest(function, key, most_devices);
    for (const record& item : nearest) found.add(item.values);
    if (nearest.empty()) return;
    const auto trials = layers.trials(function, key.arguments, nearest.front());
    for (const stored_trial& trial : best_of(trials)) found.add(trial.configuration);
  });
  return found.take();
}

std::vector<std::size_t> numbers_of(const std::vector<std::vector<named_value>>& configurations,
                                    const search_problem& problem) {
  std::vector<std::size_t> numbers;
  if (!problem.find) return numbers;
  for (const auto& configuration : configurations) {
    try {
      if (const auto number = problem.find(configuration)) numbers.push_back(*number);
    } catch (const std::exception&) {
      // It has other fields.
    }
  }
  return numbers;
}

}  // namespace tune
