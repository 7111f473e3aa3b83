// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace tune {

/// A figure of a trial: its median time, bytes in a second, registers, joules of a run.
struct metric {
  std::string name{};  ///< lower case, words joined by "_", unique in a trial: "registers"
  double value = 0;    ///< finite, unless the figure is unknown for this trial: then NaN
  std::string unit{};  ///< such as "ns", "GB/s" or "J"; empty for counts and ratios

  friend bool operator==(const metric&, const metric&) = default;
};

}  // namespace tune
