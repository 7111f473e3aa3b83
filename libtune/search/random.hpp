// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <optional>

#include "libtune/search/random_order.hpp"
#include "libtune/search/strategy.hpp"

namespace tune {

/// Configurations drawn uniformly, none twice. The order is the same for the same seed on every
/// platform, and the same as that of search_space::sample.
class random_strategy final : public strategy {
 public:
  /// @throws what strategy's constructor throws
  random_strategy(search_space space, const strategy_options& options);

 private:
  std::optional<std::size_t> do_ask() override;

  detail::random_order order_;
};

}  // namespace tune
