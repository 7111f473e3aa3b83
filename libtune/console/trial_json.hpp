// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
// Trials and coverage as JSON for users and other programs.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "libtune/base/json.hpp"
#include "libtune/base/metric.hpp"
#include "libtune/base/value.hpp"
#include "libtune/search/model/coverage.hpp"
#include "libtune/store/database/identity_column.hpp"
#include "libtune/store/database/stored_trial.hpp"
#include "libtune/tune/trial.hpp"

namespace tune::detail {

/// A figure of a trial, by its name in CSV, JSON and the database.
struct trial_figure {
  const char* name;             ///< the name with its unit: "score_ns"
  bool derived;                 ///< computed from the samples, which JSON lists instead
  value (*read)(const trial&);  ///< returns none without a number
};

/// score_ns, score_lower_ns, score_upper_ns, spread_ns, min_ns, mean_ns, samples, preparation_ns.
std::span<const trial_figure> trial_figures() noexcept;

/// Returns the outline of a stored space, for a coverage; an empty one without a space.
space_outline outline_of(const std::optional<stored_space>& kept);

/// The members of a coverage by their names; the figure as metric and unit.
json plain_json(const coverage& tried);

/// The configuration, outcome and reason, the figures that are not derived, samples_ns and metrics.
json plain_json(const trial& item);
/// {"gflops": {"value": 812.5, "unit": "GFLOP/s"}}; null for NaN.
json metrics_json(const std::vector<metric>& metrics);

}  // namespace tune::detail
