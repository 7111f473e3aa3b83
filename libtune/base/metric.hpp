// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "libtune/base/cxx20.hpp"

namespace tune {

/// A measured or known number of a trial: its median time, bytes in a second, registers, joules of
/// a run.
struct metric {
  std::string name{};  ///< lower case, words joined by "_", unique in a trial: "registers"
  double value = 0;    ///< finite, or NaN if the number is unknown for this trial
  std::string unit{};  ///< such as "ns", "GB/s" or "J"; empty for counts and ratios

  /// Compares all members; two unknown values are equal.
  friend bool operator==(const metric& a, const metric& b) {
    const bool same_value = a.value == b.value || (a.value != a.value && b.value != b.value);
    return same_value && a.name == b.name && a.unit == b.unit;
  }
};

/// Returns the metric of this name; null if it is missing.
const metric* find_metric(const std::vector<metric>& list, std::string_view name) noexcept;

/// True for an identifier: a lower-case letter, then lower-case letters, digits and _, at most 64
/// characters.
bool is_metric_name(std::string_view name) noexcept;

/// Adds a metric to a list, or replaces the one of the same name. Every metric of a trial is added
/// by this function. An infinite value becomes NaN.
/// @throws argument_error unless is_metric_name
void set_metric(std::vector<metric>& list, metric item);

}  // namespace tune
