// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <optional>
#include <unordered_map>
#include <vector>

#include "libtune/search/learning_strategy.hpp"

namespace tune {

/// Differential evolution (Storn and Price, 1997; "best, 1, bin") on the indices of the candidates:
/// each member of a population in turn is crossed with the best, moved by the difference of two
/// others, and replaced if that was better. What is no configuration becomes the closest one.
class differential_strategy final : public detail::learning_strategy {
 public:
  /// @throws what strategy's constructor throws
  differential_strategy(search_space space, const strategy_options& options);

 private:
  struct member {
    std::size_t index;
    double score;
  };

  std::optional<std::size_t> do_propose() override;
  void do_learn(std::size_t index, std::optional<double> score) override;

  const member& any() { return members_[random().below(members_.size())]; }
  std::vector<double> mutant_of(const member& moved);

  std::size_t to_sample_;
  std::vector<member> members_;
  std::size_t best_ = 0;                                   // of the members
  std::size_t turn_ = 0;                                   // whose is next
  std::unordered_map<std::size_t, std::size_t> replaces_;  // configuration to member
};

}  // namespace tune
