// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "libtune/extra/simulate/recorded_space.hpp"

namespace tune::testing {

/// One parameter x = 0, 1, ..., with these scores; each evaluation cost 10 ms.
inline recorded_space recorded_line(const std::vector<std::optional<double>>& scores_ms) {
  parameter x{"x", {}};
  std::vector<recorded_configuration> recorded;
  for (std::size_t i = 0; i < scores_ms.size(); ++i) {
    x.candidates.emplace_back(static_cast<std::int64_t>(i));
    recording result{.score_ms = scores_ms[i], .benchmark_ms = 10};
    if (!result.score_ms) result.failure = "failed";
    recorded.push_back({{static_cast<std::int64_t>(i)}, result});
  }
  return {"line", {std::move(x)}, std::move(recorded)};
}

}  // namespace tune::testing
