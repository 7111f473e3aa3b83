// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tune/engine/similar_results.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <exception>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>

#include "libtune/tune/engine/tolerant.hpp"

namespace tune {
namespace {

constexpr std::size_t most_devices = 4;
constexpr std::size_t most_runners_up = 6;
constexpr std::size_t most_other_keys = 256;

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

// How much two values differ: nothing, the logarithm of their ratio, or as much as two kinds of
// thing.
double difference(const value& a, const value& b) {
  constexpr double of_another_kind = 4;
  if (a == b) return 0;
  const auto number = [](const value& of) -> double {
    if (const auto* i = std::get_if<std::int64_t>(&of)) return static_cast<double>(*i);
    if (const auto* u = std::get_if<std::uint64_t>(&of)) return static_cast<double>(*u);
    if (const auto* d = std::get_if<double>(&of)) return *d;
    return 0;
  };
  const double x = number(a);
  const double y = number(b);
  if (!(x > 0 && y > 0)) return of_another_kind;
  return std::min(of_another_kind, std::abs(std::log2(x / y)));
}

double difference(const std::vector<named_value>& a, const std::vector<named_value>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    sum += difference(a[i].value, b[i].value);
  }
  return sum;
}

// Of this device, the most similar arguments first.
std::vector<other_result> of_similar_arguments(const tuning_layers& layers,
                                               const function_identity& function,
                                               const record_key& key) {
  if (!layers.user()) return {};
  std::vector<other_result> all = layers.user()->results_of(function, key, most_other_keys);
  std::ranges::stable_sort(all, {}, [&](const other_result& result) {
    return difference(result.arguments, key.arguments);
  });
  return all;
}

}  // namespace

std::vector<std::vector<named_value>> similar_results(const tuning_layers& layers,
                                                      const function_identity& function,
                                                      const record_key& key, std::size_t most) {
  collection found(most);
  warn_on_database_error([&] {
    const std::vector<record> nearest = layers.find_nearest(function, key, most_devices);
    for (const record& item : nearest) found.add(item.values);
    if (!nearest.empty()) {
      const auto trials = layers.trials(function, key.arguments, nearest.front());
      for (const stored_trial& trial : best_of(trials)) found.add(trial.configuration);
    }
    for (const other_result& result : of_similar_arguments(layers, function, key)) {
      found.add(result.values);
    }
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
