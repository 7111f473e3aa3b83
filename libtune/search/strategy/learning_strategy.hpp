// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <optional>
#include <unordered_set>

#include "libtune/search/space/random_source.hpp"
#include "libtune/search/strategy/strategy.hpp"

namespace tune {

/// The base of strategies that learn from results. It remembers the configurations that have been
/// proposed or whose results have been reported. When a strategy has no proposal of its own, it
/// proposes any untried configuration, so that each strategy finally covers every space.
class learning_strategy : public strategy {
 protected:
  /// @throws as the constructor of strategy
  learning_strategy(search_space space, const strategy_options& options);

  /// Random numbers that depend on the seed.
  random_source& random() noexcept { return random_; }

  /// True if a configuration has been proposed, or its result reported without a proposal.
  bool tried(std::size_t index) const { return tried_.contains(index); }

  /// Returns an untried configuration, each with equal probability; empty if all have been tried.
  /// It is returned only once, so it has to be proposed.
  std::optional<std::size_t> random_untried();

 private:
  std::optional<std::size_t> do_ask() final;
  void do_tell(std::size_t index, std::optional<double> score) final;

  /// Returns an untried configuration. If it returns nothing, random_untried() is proposed, unless
  /// end_early() has returned true.
  virtual std::optional<std::size_t> do_propose() = 0;
  /// Called once for each configuration, proposed or not. The score is finite.
  virtual void do_learn(std::size_t index, std::optional<double> score) = 0;

  random_source random_;
  random_order untried_;  // may include some that are tried
  std::unordered_set<std::size_t> tried_;
  std::unordered_set<std::size_t> told_;
};

}  // namespace tune
