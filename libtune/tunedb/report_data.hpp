// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "libtune/base/json.hpp"

namespace tune::cli {

/// The document of a report: large columns move into it, which an ordered one would copy.
using report_json = detail::input;

/// The subject of a report.
struct report_choice {
  std::vector<std::string> databases{};  ///< paths; they are only read
  std::string function{};                ///< NAME or NAME__VERSION; empty: all
};

/// The data of a report, as the page reads them:
///
///   {"format": "libtune report", "version": 1, "made_at": "2024-01-31T12:00:00Z",
///    "databases": [path], "damaged": 0,
///    "functions": [{"name", "version", "goal", "metric", "maximise"}],
///    "devices": [{"name", "platform", "driver"}],
///    "searches": [{"database", "function", "device": numbers in the lists above, "id", "key",
///      "started", "finished", "result", "strategy", "ending", "library", "compiler", "stage",
///      "configurations": of the space or null, "trials": their number,
///      "parameters": [{"name", "values": [distinct, ascending], "index": [a number for each trial,
///                      -1 for none]}],
///      "outcomes": [word], "outcome": [a number for each trial],
///      "seconds": [from the start of the search, null for unknown],
///      "score", "lower", "upper", "preparation", "measuring": [ns], "samples": [count],
///      "metrics": [{"name", "unit", "values": [...]}],
///      "reasons": [{"outcome", "count", "remembered", "message"}],
///      "finalists": [{"trial", "samples": [ns]}],
///      "effects": {"explained", "parameters": [...]} or null}]}
///
/// Columns have an item for each trial, null where there is none. Times are rounded to six digits.
///
/// A trial is stored with the second in which its batch was written, soon after its end. "seconds"
/// spreads those of one second evenly over it, in the order in which they were made.
///
/// @throws nothing_found if no database has tables, or none has the function; database_error
report_json report_data(const report_choice& choice);

/// The seconds of a text as 2024-01-31T12:00:00Z since 1970; empty for any other.
std::optional<double> seconds_of(const std::string& utc);

/// The present moment as a text of that form.
std::string utc_now();

/// The number of the items of a JSON array of numbers, and their sum, without a document.
struct number_sum {
  std::size_t count = 0;
  double sum = 0;
};
number_sum sum_of_numbers(const std::string& array);

/// Estimates when each trial was made from the seconds in which they were stored (see report_data).
/// @param stored  for each trial, since the start of the search; empty: not known
std::vector<std::optional<double>> spread_seconds(std::vector<std::optional<double>> stored);

}  // namespace tune::cli
