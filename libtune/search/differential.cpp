// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/search/differential.hpp"

#include <utility>

#include "libtune/search/repair.hpp"

namespace tune {
namespace {

constexpr std::size_t most_members = 15;
constexpr std::size_t least_members = 4;
constexpr double weight = 0.7;
constexpr double crossover = 0.7;

}  // namespace

differential_strategy::differential_strategy(search_space searched, const strategy_options& options)
    : learning_strategy(std::move(searched), options), to_sample_(most_members) {}

std::optional<std::size_t> differential_strategy::do_propose() {
  if (to_sample_ > 0 || members_.size() < least_members) {
    if (to_sample_ > 0) --to_sample_;
    return random_untried();
  }
  turn_ = (turn_ + 1) % members_.size();
  const auto index = detail::untried_near(
      space(), mutant_of(members_[turn_]), [this](std::size_t i) { return tried(i); }, random());
  if (index) replaces_[*index] = turn_;
  return index;
}

std::vector<double> differential_strategy::mutant_of(const member& moved) {
  const std::vector<std::size_t> own = space().choice(moved.index);
  const std::vector<std::size_t> best = space().choice(members_[best_].index);
  const std::vector<std::size_t> one = space().choice(any().index);
  const std::vector<std::size_t> other = space().choice(any().index);
  const std::size_t always = own.empty() ? 0 : random().below(own.size());
  std::vector<double> made;
  for (std::size_t i = 0; i < own.size(); ++i) {
    if (i != always && random().unit() >= crossover) {
      made.push_back(static_cast<double>(own[i]));
      continue;
    }
    made.push_back(static_cast<double>(best[i]) +
                   weight * (static_cast<double>(one[i]) - static_cast<double>(other[i])));
  }
  return made;
}

void differential_strategy::do_learn(std::size_t index, std::optional<double> score) {
  std::optional<std::size_t> place;
  if (const auto found = replaces_.find(index); found != replaces_.end()) {
    place = found->second;
    replaces_.erase(found);
  }
  if (!score) return;
  if (members_.size() < most_members) {
    place = members_.size();
    members_.push_back({index, *score});
  } else if (place && *score < members_[*place].score) {
    members_[*place] = {index, *score};
  } else if (*score < members_[best_].score) {
    place = best_;  // told without having been a member's
    members_[best_] = {index, *score};
  }
  if (place && members_[*place].score < members_[best_].score) best_ = *place;
}

}  // namespace tune
