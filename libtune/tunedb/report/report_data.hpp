// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "libtune/extra/maintenance/json_stream.hpp"
#include "libtune/tunedb/report/report_search.hpp"

namespace tune::cli {

/// The subject of a report.
struct report_choice {
  std::vector<std::string> databases{};  ///< paths; they are only read
  std::vector<std::string> functions{};  ///< NAME or NAME__VERSION; empty: all
};

/// The data of a report as the text of a document in the form for the page, valid inside a script
/// element: without "<", and with bytes that are not UTF-8 replaced.
///
///   {"format": "libtune report", "version": 1, "made_at": "2024-01-31T12:00:00Z",
///    "databases": [path], "damaged": 0,
///    "functions": [{"name", "version", "goal", "metric", "maximise"}],
///    "devices": [{"name", "platform", "driver"}],
///    "searches": [{"database", "function", "device": numbers in the lists above, "id", "key",
///      "started", "finished", "result", "strategy", "ending", "inputs", "library", "compiler",
///      "stage", "configurations": of the space or null, "trials": their number, "parameters":
///      [{"name", "values": [distinct, ascending], "index": [a number for each trial,
///                      -1 for none]}],
///      "outcomes": [word], "outcome": [a number for each trial],
///      "seconds": [from the start of the search, null for unknown],
///      "score", "lower", "upper", "preparation", "measuring": [ns], "samples": [count],
///      "metrics": [{"name", "unit", "values": [...]}],
///      "reasons": [{"outcome", "count", "remembered", "message"}],
///      "finalists": [{"trial", "samples": [ns]}],
///      "effects": {"explained", "parameters": [...]} or null}]}
///
/// Columns have an item for each trial, null without a value. Times are rounded to six digits.
///
/// A trial is stored with the second in which its batch was written, soon after its end. "seconds"
/// spreads the trials of one second evenly over it, in the order of measurement.
///
/// @throws nothing_found if no database has tables, or none has the function; database_error
std::string report_data(const report_choice& choice);

/// Writes the same text part by part: memory for one search is enough.
void write_report_data(const report_choice& choice, const detail::text_sink& put);

/// A document in that form.
std::string report_text(const report_json& data);

/// The present moment, as 2024-01-31T12:00:00Z.
std::string utc_now();

}  // namespace tune::cli
