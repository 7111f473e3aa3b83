// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "libtune/search/model/coverage.hpp"
#include "libtune/store/database/identity_column.hpp"
#include "libtune/store/maintenance/database_content.hpp"
#include "libtune/tune/trial.hpp"

namespace tune {

/// The contents of a database as one JSON document, for people and for other databases:
///
///   {"format": "libtune tuning results", "format_version": 1, "functions": [{
///      "name": ..., "version": ..., "key_fields": [{"name", "type", "optional"}], "value_fields",
///      "results":  [{"arguments": {...}, "values": {...}, "columns": {"device_name": ...}}],
///      "searches": [{"columns": {...}, "trials": [{"configuration": [[name, kind, value]],
///                                                  "columns": {...}}]}]}]}
///
/// from_json_document gives back the same contents. Values that JSON lacks are objects or words:
/// {"text": hex} for text that is no UTF-8, {"blob": hex}, {"real": "inf"}, and "nan", "inf",
/// "-inf" where a field is a floating number.
std::string to_json_document(const database_content& content);

/// The contents of a document. Only its form is checked; a merge checks the contents.
/// @throws argument_error that names the fault of the document
database_content from_json_document(std::string_view text);

namespace detail {

/// A figure of a trial, by the name that it has in CSV, JSON and the database.
struct trial_figure {
  const char* name;             ///< with its unit: "score_ns"
  bool derived;                 ///< from the samples, which JSON lists instead
  value (*read)(const trial&);  ///< none where there is no number
};

/// score_ns, score_lower_ns, score_upper_ns, spread_ns, min_ns, mean_ns, samples, preparation_ns.
std::span<const trial_figure> trial_figures() noexcept;

/// The members of a coverage by their names; the figure as metric and unit.
json plain_json(const coverage& tried);

/// The configuration, outcome and reason, the figures that are not derived, samples_ns and metrics.
json plain_json(const trial& item);
/// {"gflops": {"value": 812.5, "unit": "GFLOP/s"}}; null for NaN.
json metrics_json(const std::vector<metric>& metrics);

}  // namespace detail

}  // namespace tune
