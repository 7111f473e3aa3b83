// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "libtune/base/cxx20.hpp"

namespace tune {

/// What every strategy can be told. Where both limits are given, the smaller counts.
struct strategy_options {
  /// Equal seeds make equal searches.
  std::uint64_t seed = 0;
  /// Propose at most so many configurations.
  std::optional<std::size_t> max_count = std::nullopt;
  /// Propose at most this part of the space: over 0, up to 1; rounded up to whole configurations.
  std::optional<double> max_fraction = std::nullopt;
  /// Numbers of configurations to propose before all others, in this order: what was best for a
  /// similar key or device, the best first. They count like any other proposal.
  std::vector<std::size_t> warm_start = {};
};

}  // namespace tune
