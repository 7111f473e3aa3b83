// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "libtune/search/strategy.hpp"

namespace tune {

/// A few given configurations, in the order given, each once.
class shortlist_strategy final : public strategy {
 public:
  /// @param listed  numbers of configurations of the space
  /// @throws argument_error if there is no configuration of one of the numbers
  shortlist_strategy(search_space space, std::vector<std::size_t> listed);

 private:
  std::optional<std::size_t> do_ask() override;

  std::vector<std::size_t> listed_;
  std::size_t next_ = 0;
};

}  // namespace tune
