// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/search/annealing.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "libtune/search/neighbours_by_turns.hpp"

namespace tune {
namespace {

constexpr std::size_t first_sample = 10;
constexpr double first_temperature = 0.3;  // of a difference in parts of the score
constexpr double last_temperature = 0.005;
constexpr std::size_t shortest = 30;  // answers until it is cold
constexpr std::size_t longest = 200;

double cooling_for(std::size_t proposals) {
  const std::size_t answers = std::clamp(proposals / 2, shortest, longest);
  return std::pow(last_temperature / first_temperature, 1 / static_cast<double>(answers));
}

}  // namespace

annealing_strategy::annealing_strategy(search_space searched, const strategy_options& options)
    : learning_strategy(std::move(searched), options),
      to_sample_(first_sample),
      cooling_(cooling_for(remaining())),
      temperature_(first_temperature) {}

std::optional<std::size_t> annealing_strategy::do_propose() {
  if (to_sample_ > 0) {
    --to_sample_;
    return random_untried();
  }
  if (!current_) return std::nullopt;
  for (const std::size_t near : detail::neighbours_by_turns(space(), current_->index, random())) {
    if (!tried(near)) return near;
  }
  current_ = best_;
  return std::nullopt;
}

bool annealing_strategy::accepts(double score) {
  if (!current_ || score < current_->score) return true;
  if (to_sample_ > 0) return false;
  const double scale = std::max(std::abs(current_->score), 1e-300);
  return random().unit() < std::exp((current_->score - score) / scale / temperature_);
}

void annealing_strategy::do_learn(std::size_t index, std::optional<double> score) {
  if (to_sample_ == 0) temperature_ *= cooling_;
  if (score && (!best_ || *score < best_->score)) best_ = find{index, *score};
  if (score && accepts(*score)) current_ = find{index, *score};
  if (temperature_ < last_temperature) {
    temperature_ = first_temperature;
    current_ = best_;
  }
}

}  // namespace tune
