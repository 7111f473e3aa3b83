// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <optional>
#include <unordered_set>
#include <vector>

#include "libtune/search/space/search_space.hpp"
#include "libtune/search/strategy/strategy_options.hpp"

namespace tune {

/// Decides which configurations of a space are tried, and in which order. Used by one thread.
///
/// Whoever searches asks for configurations and tells what became of them. It may ask several
/// times before the first answer, because compilation runs ahead of measurement, and answers may
/// come in any order, late, or never. A strategy proposes each configuration at most once, and
/// never waits for an answer: as long as it has not ended it has something to propose. What it
/// proposes depends on nothing but the space, the options and the sequence of these calls.
class strategy {
 public:
  virtual ~strategy() = default;
  strategy(const strategy&) = delete;
  strategy& operator=(const strategy&) = delete;

  /// The number of a configuration to try; empty once there is nothing more to propose or the
  /// options' limit has been reached, and then for ever.
  std::optional<std::size_t> ask();

  /// What became of a configuration, whether or not this strategy has proposed it.
  /// @param index  the number of the configuration
  /// @param score  less is better; empty, or not finite, if it failed or was skipped
  /// @throws argument_error if there is no configuration of this number
  void tell(std::size_t index, std::optional<double> score);

  /// How many configurations it will still propose at most.
  std::size_t remaining() const noexcept { return left_; }

  /// The space that is searched. The reference holds as long as the strategy.
  const search_space& space() const noexcept { return space_; }

 protected:
  /// @throws argument_error if max_fraction is not over 0 and up to 1, if warm_start holds what is
  /// no
  ///         configuration of the space, and what search_space::size() throws
  strategy(search_space space, const strategy_options& options);

 private:
  /// May propose what has been proposed from warm_start; it is asked again then.
  virtual std::optional<std::size_t> do_ask() = 0;
  /// score is finite. A strategy that learns nothing from answers leaves this as it is.
  virtual void do_tell(std::size_t index, std::optional<double> score);

  std::optional<std::size_t> next_proposal();

  search_space space_;
  std::size_t left_;                      // proposals
  std::vector<std::size_t> warm_start_;   // what is left of it, the next one last
  std::unordered_set<std::size_t> warm_;  // all of it
};

}  // namespace tune
