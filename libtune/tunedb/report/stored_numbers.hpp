// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The numbers in the texts of a database.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace tune::cli {

/// The seconds since 1970 of a text such as 2024-01-31T12:00:00Z; empty for any other.
std::optional<double> seconds_of(const std::string& utc);

/// The number of the items of a JSON array of numbers, and their sum, without a document.
struct number_sum {
  std::size_t count = 0;
  double sum = 0;
};
number_sum sum_of_numbers(const std::string& array);

/// Estimates the time of each trial from the seconds in which they were stored (see report_data).
/// @param stored  for each trial, since the start of the search; empty if unknown
std::vector<std::optional<double>> spread_seconds(std::vector<std::optional<double>> stored);

}  // namespace tune::cli
