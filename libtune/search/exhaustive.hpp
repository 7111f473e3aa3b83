// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <optional>

#include "libtune/search/strategy.hpp"

namespace tune {

/// Every configuration in the order of the space; with a limit, the first of them. The seed means
/// nothing here.
class exhaustive_strategy final : public strategy {
 public:
  /// @throws what strategy's constructor throws
  explicit exhaustive_strategy(search_space space, const strategy_options& options = {});

 private:
  std::optional<std::size_t> do_ask() override;

  std::size_t next_ = 0;
};

}  // namespace tune
