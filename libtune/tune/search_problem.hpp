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
#include "libtune/tune/metric_sources.hpp"

namespace tune {

/// A space of configurations with the type of the tuning struct erased.
struct search_problem {
  search_space space;  ///< gives each configuration its number
  /// All fields of the tuning struct of a configuration.
  std::function<std::vector<named_value>(std::size_t)> configuration;
  /// The resources of the device that a configuration needs; an empty function without a
  /// declaration.
  std::function<std::optional<resources>(std::size_t)> needs;
  /// The author's function: compiles, allocates and prepares a configuration. It may be called more
  /// than once for one configuration, and an exception leaves it if a program is not compiled yet.
  std::function<measure(std::size_t)> generate;
  /// The number of the configuration with these fields; empty if it is not in the space. Throws
  /// type_error for other fields.
  std::function<std::optional<std::size_t>(const std::vector<named_value>&)> find{};
  /// True if find has a number for these fields, and needs by fields: for a stored result, whose
  /// check then finds no other configuration. Both or neither are given.
  std::function<bool(const std::vector<named_value>&)> contains{};
  std::function<std::optional<resources>(const std::vector<named_value>&)> needs_of{};
  /// The values, for find, of each configuration of a result that has several, such as a portfolio.
  /// An empty function: a result is one configuration.
  std::function<std::vector<std::vector<named_value>>(const std::vector<named_value>&)> parts{};
  metric_sources metrics{};  ///< the author's
  /// The numbers of configurations to try before all others except the seeds from similar keys.
  std::vector<std::size_t> first{};
  /// The reason why a configuration must not run, by the figures of its compiled kernels
  /// (kernel_figures); an empty string if it may run. An empty function allows all.
  std::function<std::optional<std::string>(const std::vector<metric>&)> why_not{};
};

}  // namespace tune
