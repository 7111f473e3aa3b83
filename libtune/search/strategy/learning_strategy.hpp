// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <optional>
#include <unordered_set>

#include "libtune/search/space/random_source.hpp"
#include "libtune/search/strategy/strategy.hpp"

namespace tune {

/// The base of strategies that learn from answers: it remembers which configurations have been
/// proposed or told. A strategy without a proposal of its own takes any untried configuration, so
/// that each of them gets through every space in the end.
class learning_strategy : public strategy {
 protected:
  /// @throws what strategy's constructor throws
  learning_strategy(search_space space, const strategy_options& options);

  /// Random numbers that follow from the seed.
  random_source& random() noexcept { return random_; }

  /// True if a configuration has been proposed, or told without having been.
  bool tried(std::size_t index) const { return tried_.contains(index); }

  /// Any that has not been tried, each equally likely; empty if there is none. It comes only
  /// once, so it has to be proposed.
  std::optional<std::size_t> random_untried();

 private:
  std::optional<std::size_t> do_ask() final;
  void do_tell(std::size_t index, std::optional<double> score) final;

  /// An untried configuration, or nothing, and then random_untried() is proposed; unless
  /// end_early() has returned true.
  virtual std::optional<std::size_t> do_propose() = 0;
  /// Called once for each configuration, proposed or not. score is finite.
  virtual void do_learn(std::size_t index, std::optional<double> score) = 0;

  random_source random_;
  random_order untried_;  // and some that are tried
  std::unordered_set<std::size_t> tried_;
  std::unordered_set<std::size_t> told_;
};

}  // namespace tune
