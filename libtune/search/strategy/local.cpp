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

constexpr std::size_t first_sample = 10;
constexpr std::size_t later_sample = 5;
constexpr std::size_t least_jump = 2;  // steps
constexpr std::size_t turns = 3;       // of each parameter, around one configuration
constexpr std::size_t climbs_for_sample = 2;

class local_strategy final : public learning_strategy {
 public:
  local_strategy(search_space searched, const strategy_options& options)
      : learning_strategy(std::move(searched), options) {}

 private:
  struct find {
    std::size_t index;
    double score;
  };

  std::optional<std::size_t> do_propose() override;
  void do_learn(std::size_t index, std::optional<double> score) override;

  void climb_from(const find& start);
  void leave();

  std::size_t to_sample_ = first_sample;  // random configurations before the next climb
  std::size_t left_behind_ = 0;           // finished climbs
  std::optional<find> best_;              // overall
  std::optional<find> start_;             // the best since the last climb ended
  std::optional<find> current_;           // the present position of the climb
  std::vector<std::size_t> around_;       // neighbours still to be tried, the next one last
  std::optional<std::size_t> jump_;       // the start of the next climb, when its result is known
};

std::optional<std::size_t> local_strategy::do_propose() {
  if (to_sample_ > 0) {
    --to_sample_;
    return random_untried();
  }
  if (!current_ && !jump_ && start_) climb_from(*start_);
  while (!around_.empty()) {
    const std::size_t next = around_.back();
    around_.pop_back();
    if (!tried(next)) return next;
  }
  // Without a result there is no start for a jump; until then any configuration may be tried.
  if (!current_) return std::nullopt;
  leave();
  return jump_;
}

void local_strategy::leave() {
  current_.reset();
  start_.reset();
  if (++left_behind_ % climbs_for_sample != 0) {
    std::size_t at = best_->index;
    // Far enough to leave some valleys, near enough to keep part of the best.
    const std::size_t steps = least_jump + random().below(space().parameters().size());
    for (std::size_t i = 0; i < steps; ++i) {
      at = random_neighbour(space(), at, neighbourhood::hamming, random()).value_or(at);
    }
    if (!tried(at)) jump_ = at;
  }
  if (!jump_) to_sample_ = later_sample;
}

void local_strategy::climb_from(const find& start) {
  current_ = start;
  start_.reset();
  jump_.reset();
  around_ = detail::neighbours_by_turns(space(), start.index, random());
  // Proving a local optimum costs more than leaving a probable one.
  const std::size_t parameters = space().parameters().size();
  around_.resize(std::min(around_.size(), turns * parameters));
  // Steps of several parameters at once can follow the edge of restrictions.
  const auto diagonal =
      sample_neighbours(space(), start.index, neighbourhood::adjacent, parameters, random());
  around_.insert(around_.end(), diagonal.begin(), diagonal.end());
  std::ranges::reverse(around_);
}

void local_strategy::do_learn(std::size_t index, std::optional<double> score) {
  const bool jumped = jump_ == index;
  if (!score) {
    if (jumped) {
      jump_.reset();
      to_sample_ = 1;
    }
    return;
  }
  const find found{index, *score};
  if (!best_ || found.score < best_->score) best_ = found;
  if (jumped || (current_ && found.score < current_->score)) {
    climb_from(found);
  } else if (!current_ && (!start_ || found.score < start_->score)) {
    start_ = found;
  }
}

}  // namespace

std::unique_ptr<strategy> detail::make_local(const search_space& space,
                                             const strategy_options& with) {
  return std::make_unique<local_strategy>(space, with);
}

}  // namespace tune
