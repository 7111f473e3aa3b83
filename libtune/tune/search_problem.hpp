// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

#include "libtune/base/metric.hpp"
#include "libtune/base/value.hpp"
#include "libtune/measure/measure.hpp"
#include "libtune/search/space/search_space.hpp"
#include "libtune/tune/goal.hpp"

namespace tune {

/// A space of configurations once the type of the tuning struct has been erased.
struct search_problem {
  search_space space;  ///< gives the numbers by which the functions know a configuration
  /// All fields of the tuning struct of a configuration.
  std::function<std::vector<named_value>(std::size_t)> configuration;
  /// The resources that a configuration needs of the device; empty where none are declared.
  std::function<std::optional<resources>(std::size_t)> needs;
  /// The author's function: compiles, allocates and prepares a configuration. It may be called more
  /// than once for one, and is left by an exception where a program has not been compiled yet.
  std::function<measure(std::size_t)> generate;
  /// The number of the configuration with these fields; empty if it is not in the space. Throws
  /// type_error for other fields.
  std::function<std::optional<std::size_t>(const std::vector<named_value>&)> find{};
  /// The values, for find, of each configuration that a result stands for which is several, as a
  /// portfolio is; empty: a result is one.
  std::function<std::vector<std::vector<named_value>>(const std::vector<named_value>&)> parts{};
  metric_sources metrics{};  ///< the author's
  /// The numbers of configurations to try before all others except those of similar keys.
  std::vector<std::size_t> first{};
  /// The reason why a configuration may not run whose compiled kernels have these figures
  /// (kernel_figures); empty if it may. No function: every one may.
  std::function<std::optional<std::string>(const std::vector<metric>&)> why_not{};
};

}  // namespace tune
