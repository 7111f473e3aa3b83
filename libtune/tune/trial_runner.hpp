// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "libtune/base/value.hpp"
#include "libtune/device/device.hpp"
#include "libtune/measure/measure.hpp"
#include "libtune/measure/measurement.hpp"
#include "libtune/search/resources.hpp"
#include "libtune/search/search_space.hpp"
#include "libtune/tune/options.hpp"
#include "libtune/tune/trial.hpp"

namespace tune {

/// A space of configurations once the type of the tuning struct has been erased.
struct search_problem {
  search_space space;
  /// All fields of the tuning struct of a configuration.
  std::function<std::vector<named_value>(std::size_t)> configuration;
  /// What it asks of the device, where that has been declared.
  std::function<std::optional<resources>(std::size_t)> needs;
  /// Compiles, allocates and prepares it: the author's function.
  std::function<measure(std::size_t)> generate;
};

/// Tries one configuration: limits, generate, warm-up, check, samples. Whatever goes wrong is an
/// outcome with a reason; nothing is thrown. Nobody else measures on the device meanwhile.
/// @param wait  how long to wait for those that do
trial run_trial(const search_problem& problem, std::size_t index, const device& device,
                const measure_settings& settings, const wall_clock& now,
                std::chrono::milliseconds wait = default_wait);

}  // namespace tune
