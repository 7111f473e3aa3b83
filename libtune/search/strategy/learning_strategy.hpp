// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <optional>
#include <unordered_set>

#include "libtune/search/strategy/random_source.hpp"
#include "libtune/search/strategy/strategy.hpp"

namespace tune::detail {

/// What strategies have in common that learn from answers: they remember what has been proposed or
/// told, and where they have no idea left they take any untried configuration, so that each of them
/// gets through every space in the end.
class learning_strategy : public strategy {
 protected:
  /// @throws what strategy's constructor throws
  learning_strategy(search_space space, const strategy_options& options);

  random_source& random() noexcept { return random_; }

  /// Whether a configuration has been proposed, or told without having been.
  bool tried(std::size_t index) const { return tried_.contains(index); }

  /// Any that has not been tried, each equally likely; empty if there is none. It comes but once,
  /// so it has to be proposed.
  std::optional<std::size_t> random_untried();

 private:
  std::optional<std::size_t> do_ask() final;
  void do_tell(std::size_t index, std::optional<double> score) final;

  /// An untried configuration, or nothing, and then random_untried() is proposed.
  virtual std::optional<std::size_t> do_propose() = 0;
  /// Called once for each configuration, whoever proposed it. score is finite.
  virtual void do_learn(std::size_t index, std::optional<double> score) = 0;

  random_source random_;
  random_order untried_;  // and some that are tried
  std::unordered_set<std::size_t> tried_;
  std::unordered_set<std::size_t> told_;
};

}  // namespace tune::detail
