// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "libtune/base/value.hpp"

namespace tune {

/// A search in one database.
enum class search_id : std::int64_t {};

/// What is kept of one trial of a search.
struct stored_trial {
  std::vector<named_value> configuration{};
  std::string outcome{};  ///< a word such as "measured" or "compile failed"
  std::string message{};  ///< why, for the outcomes that have a reason
  std::vector<double> samples_ns{};
  std::optional<double> score_ns{};         ///< empty unless it was measured
  std::chrono::nanoseconds preparation{0};  ///< from its start to its first sample

  friend bool operator==(const stored_trial&, const stored_trial&) = default;
};

/// A search with the trials that it had made so far.
struct stored_search {
  search_id id{};
  std::string started_at{};                  ///< UTC, as 2024-01-31T12:00:00Z; for people
  std::optional<std::string> finished_at{};  ///< empty if it still runs or was killed
  std::string result{};                      ///< what finish_search was told
  std::vector<stored_trial> trials{};        ///< in the order in which they were made
};

}  // namespace tune
