// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "libtune/base/cxx20.hpp"

namespace tune {

/// A figure of a trial: its median time, bytes in a second, registers, joules of a run.
struct metric {
  std::string name{};  ///< lower case, words joined by "_", unique in a trial: "registers"
  double value = 0;    ///< finite, unless the figure is unknown for this trial: then NaN
  std::string unit{};  ///< such as "ns", "GB/s" or "J"; empty for counts and ratios

  /// True if all is equal; two unknown values are.
  friend bool operator==(const metric& a, const metric& b) {
    const bool same_value = a.value == b.value || (a.value != a.value && b.value != b.value);
    return same_value && a.name == b.name && a.unit == b.unit;
  }
};

/// Returns the metric of this name; null if there is none.
const metric* find_metric(const std::vector<metric>& list, std::string_view name) noexcept;

/// Puts a metric into a list, in the place of the one of the same name if there is one: the only
/// way in which values are added to a trial. An infinite value becomes NaN.
/// @throws argument_error if the name is no identifier: a lower-case letter, then lower-case
///         letters, digits and _, at most 64 characters
void set_metric(std::vector<metric>& list, metric item);

}  // namespace tune
