// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>

#include "libtune/store/database/identity_column.hpp"
#include "libtune/tune/trial.hpp"

namespace tune::detail {

/// A figure of a trial, by the name that it has in CSV, JSON and the database.
struct trial_figure {
  const char* name;             ///< with its unit: "score_ns"
  bool derived;                 ///< from the samples, which JSON lists instead
  value (*read)(const trial&);  ///< none where there is no number
};

/// score_ns, score_lower_ns, score_upper_ns, spread_ns, min_ns, mean_ns, samples, preparation_ns.
std::span<const trial_figure> trial_figures() noexcept;

/// The configuration, outcome and reason, the figures that are not derived, and samples_ns.
json plain_json(const trial& item);

}  // namespace tune::detail
