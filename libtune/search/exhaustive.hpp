// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <optional>

#include "libtune/search/strategy.hpp"

namespace tune {

/// Everything. A small space in its order; a larger one in strides of about the golden section of
/// its size, so that a search which is ended early has seen a little of all its parts.
/// The seed means nothing here.
class exhaustive_strategy final : public strategy {
 public:
  /// The largest space that is tried in its order.
  static constexpr std::size_t most_in_order = 64;

  /// @throws what strategy's constructor throws
  explicit exhaustive_strategy(search_space space, const strategy_options& options = {});

 private:
  std::optional<std::size_t> do_ask() override;

  std::size_t stride_;
  std::size_t next_ = 0;
};

}  // namespace tune
