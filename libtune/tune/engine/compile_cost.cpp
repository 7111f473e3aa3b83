// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tune/engine/compile_cost.hpp"

#include <algorithm>
#include <cmath>

namespace tune {
namespace {

// How much of what was not foreseen is put down to the candidates, shared among them. More would
// learn faster and follow chance.
constexpr double learning_rate = 0.7;

}  // namespace

void compile_cost::learn(std::span<const std::size_t> choice, std::chrono::nanoseconds elapsed) {
  const double cost = std::log(std::max<double>(1, static_cast<double>(elapsed.count())));
  if (!knows_any_) first_ = cost;
  knows_any_ = true;
  if (choice.empty()) return;
  const double surprise = cost - std::log(std::max(1.0, predict(choice)));
  const double share = learning_rate * surprise / static_cast<double>(choice.size());
  if (factors_.size() < choice.size()) factors_.resize(choice.size());
  for (std::size_t i = 0; i < choice.size(); ++i) {
    if (factors_[i].size() <= choice[i]) factors_[i].resize(choice[i] + 1, 0);
    factors_[i][choice[i]] += share;
  }
}

double compile_cost::predict(std::span<const std::size_t> choice) const {
  if (!knows_any_) return 0;
  double cost = first_;
  for (std::size_t i = 0; i < choice.size(); ++i) cost += factor(i, choice[i]);
  return std::exp(cost);
}

double compile_cost::factor(std::size_t parameter, std::size_t candidate) const {
  const bool is_known = parameter < factors_.size() && candidate < factors_[parameter].size();
  return is_known ? factors_[parameter][candidate] : 0;
}

}  // namespace tune
