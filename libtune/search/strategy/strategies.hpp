// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <unordered_set>

#include "libtune/search/space/random_source.hpp"
#include "libtune/search/strategy/strategy.hpp"

namespace tune::detail {

/// The base of strategies that learn from answers: it remembers which configurations have been
/// proposed or told. A strategy without a proposal of its own takes any untried configuration, so
/// that each of them gets through every space in the end.
class learning_strategy : public strategy {
 protected:
  /// @throws what strategy's constructor throws
  learning_strategy(search_space space, const strategy_options& options);

  random_source& random() noexcept { return random_; }

  /// True if a configuration has been proposed, or told without having been.
  bool tried(std::size_t index) const { return tried_.contains(index); }

  /// Any that has not been tried, each equally likely; empty if there is none. It comes only
  /// once, so it has to be proposed.
  std::optional<std::size_t> random_untried();

 private:
  std::optional<std::size_t> do_ask() final;
  void do_tell(std::size_t index, std::optional<double> score) final;

  /// An untried configuration, or nothing, and then random_untried() is proposed.
  virtual std::optional<std::size_t> do_propose() = 0;
  /// Called once for each configuration, proposed or not. score is finite.
  virtual void do_learn(std::size_t index, std::optional<double> score) = 0;

  random_source random_;
  random_order untried_;  // and some that are tried
  std::unordered_set<std::size_t> tried_;
  std::unordered_set<std::size_t> told_;
};

// The strategies that make_strategy knows. Each throws what strategy's constructor throws.

/// Everything. A small space in its order; a larger one in strides of about the golden section of
/// its size, so that a search which is ended early has seen a little of all its parts.
/// The seed means nothing here.
std::unique_ptr<strategy> make_exhaustive(const search_space& space, const strategy_options& with);

/// Configurations drawn uniformly, none twice. The order is the same for the same seed on every
/// platform, and the same as that of search_space::sample.
std::unique_ptr<strategy> make_random(const search_space& space, const strategy_options& with);

/// Iterated local search (Lourenço, Martin and Stützle, 2003): from the best of a random sample it
/// goes to the first neighbour that is better, until none is; then a few random steps away from the
/// best, or now and then from a new sample. Tried configurations are never neighbours again.
std::unique_ptr<strategy> make_local(const search_space& space, const strategy_options& with);

/// A genetic algorithm in a steady state (Whitley's GENITOR, 1989), for which no generation has to
/// be complete: children of two of the best configurations so far, each parameter from either of
/// them, some changed. Forbidden ones become the closest valid ones.
std::unique_ptr<strategy> make_genetic(const search_space& space, const strategy_options& with);

/// Bayesian optimisation (Mockus, 1978; Jones, Schonlau and Welch, 1998): proposes what a model of
/// the answers so far expects to gain most from. The model is a Gaussian process with an additive
/// kernel, which learns of failures too; see surrogate.
std::unique_ptr<strategy> make_model(const search_space& space, const strategy_options& with);

}  // namespace tune::detail
