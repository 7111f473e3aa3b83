// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "libtune/search/space/neighbours.hpp"
#include "libtune/search/strategy/strategies.hpp"

namespace tune {
namespace {

constexpr std::size_t most_individuals = 20;
constexpr std::size_t least_parents = 2;
constexpr std::size_t tournament = 2;

class genetic_strategy final : public learning_strategy {
 public:
  genetic_strategy(search_space searched, const strategy_options& options)
      : learning_strategy(std::move(searched), options) {}

 private:
  struct individual {
    double score;
    std::size_t index;
  };

  std::optional<std::size_t> do_propose() override;
  void do_learn(std::size_t index, std::optional<double> score) override;

  const individual& parent();
  std::vector<double> child();

  std::size_t to_sample_ = most_individuals;
  std::vector<individual> population_;  // the best so far, ascending
};

std::optional<std::size_t> genetic_strategy::do_propose() {
  if (to_sample_ > 0 || population_.size() < least_parents) {
    if (to_sample_ > 0) --to_sample_;
    return random_untried();
  }
  return detail::untried_near(
      space(), child(), [this](std::size_t i) { return tried(i); }, random());
}

const genetic_strategy::individual& genetic_strategy::parent() {
  std::size_t best = population_.size() - 1;
  for (std::size_t i = 0; i < tournament; ++i) {
    best = std::min<std::size_t>(best, random().below(population_.size()));
  }
  return population_[best];
}

std::vector<double> genetic_strategy::child() {
  const std::vector<std::size_t> one = space().choice(parent().index);
  const std::vector<std::size_t> other = space().choice(parent().index);
  std::vector<double> made;
  for (std::size_t i = 0; i < one.size(); ++i) {
    std::size_t candidate = random().below(2) == 0 ? one[i] : other[i];
    if (random().below(one.size()) == 0) {
      candidate = random().below(space().parameters()[i].candidates.size());
    }
    made.push_back(static_cast<double>(candidate));
  }
  return made;
}

void genetic_strategy::do_learn(std::size_t index, std::optional<double> score) {
  if (!score) return;
  const individual born{*score, index};
  const auto place = std::ranges::upper_bound(population_, born.score, {}, &individual::score);
  population_.insert(place, born);
  if (population_.size() > most_individuals) population_.pop_back();
}

}  // namespace

std::unique_ptr<strategy> detail::make_genetic(const search_space& space,
                                               const strategy_options& with) {
  return std::make_unique<genetic_strategy>(space, with);
}

}  // namespace tune
