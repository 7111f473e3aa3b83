// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Reports of a finished search: a table for users, CSV and JSON.
#pragma once

#include <functional>
#include <iosfwd>
#include <string>

#include "libtune/search/model/coverage.hpp"
#include "libtune/tune/observer.hpp"

namespace tune {

/// The extent of a table.
struct table_options {
  bool verbose = false;  ///< lists each configuration without a time, with its reason
  bool coverage = true;  ///< ends with write_coverage()
};

/// Writes the results of a search for users: the fields that are the same in all configurations;
/// every measured configuration by its other fields, the best by the goal first, with a mark for
/// those within 5 % of the best time; with several objectives the Pareto front (pareto_front); then
/// the number without a time, and the most frequent reasons; then the search's doubts.
void write_table(std::ostream& out, const search_finished_event& search,
                 const table_options& options = {});

/// Writes the tried part of a space for users: the steps from all combinations to the measured
/// configurations; then for each parameter with more than one value, the most important first, the
/// number of trials and measurements of each value, its best time (or value of the goal), and its
/// cost factor. For a parameter with more than 32 values, the best 32.
void write_coverage(std::ostream& out, const coverage& tried);
/// Writes the complete coverage as CSV, with a row for each value: parameter, share, value, tried,
/// measured, best, unit, ratio, lower and upper (see value_coverage).
void write_coverage_csv(std::ostream& out, const coverage& tried);
/// Writes the coverage of a search as CSV: a writer for a file_reporter.
void write_coverage_csv(std::ostream& out, const search_finished_event& search);

/// Writes the table at the end of each search. The stream must outlive it.
class table_reporter final : public observer {
 public:
  /// Writes to this stream.
  explicit table_reporter(std::ostream& out, const table_options& options = {})
      : out_(out), options_(options) {}

  void search_finished(const search_finished_event& event) override {
    write_table(out_, event, options_);
  }

 private:
  std::ostream& out_;
  table_options options_;
};

/// Writes every trial of a search as CSV (RFC 4180): a header, then a row for each, in the order of
/// measurement. The columns are the fields of the configuration, then outcome, score_ns (the median
/// of the samples), score_lower_ns and score_upper_ns (its confidence interval), spread_ns, min_ns,
/// mean_ns, samples (their number), preparation_ns and reason, then one for each metric of any
/// trial. Missing numbers and values are empty.
void write_csv(std::ostream& out, const search_finished_event& search);

/// Writes a search as one JSON object: function, version, arguments, device, elapsed_ns, end, goal
/// (in words), best (the configuration, or null), front (the configurations of the Pareto front),
/// coverage (metric, unit, combinations, configurations, tried, measured, explained, steps and
/// parameters, by the names in coverage.hpp) and trials, each with its configuration, outcome,
/// reason, score_ns, score_lower_ns, score_upper_ns, samples_ns, preparation_ns and metrics
/// ({"gflops": {"value", "unit"}}). Missing times, and those without a form in JSON (NaN,
/// infinity), are null; such values of parameters are their names ("nan"); bytes that are not UTF-8
/// are replaced.
void write_json(std::ostream& out, const search_finished_event& search);

/// Writes each search to a file, replacing the previous one. If the file cannot be written, an
/// error with its name is logged, and the search continues.
class file_reporter final : public observer {
 public:
  /// Writes one search to a stream, which the reporter opens for each search.
  using writer = std::function<void(std::ostream&, const search_finished_event&)>;

  /// @param path    the path of the file, which is opened at the end of a search
  /// @param writes  write_csv, write_json, or another function
  file_reporter(std::string path, writer writes);

  /// @throws error with the reason if the file cannot be written
  void search_finished(const search_finished_event& event) override;

 private:
  std::string path_;
  writer writes_;
};

}  // namespace tune
