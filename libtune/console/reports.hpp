// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Reports of a finished search: a table for people, CSV and JSON.
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

/// Writes what a search has found, for people: the fields that are the same in all configurations;
/// every measured configuration by its other fields, the best by the goal first, those within 5 %
/// of the best time marked; with several objectives the Pareto front (pareto_front); then how many
/// have no time, and the most frequent reasons; then the search's doubts.
void write_table(std::ostream& out, const search_finished_event& search,
                 const table_options& options = {});

/// Writes the part of a space that was tried, for people: the steps from all combinations to the
/// measured configurations, then for each parameter with more than one value, the most important
/// first, how often each value was tried and measured, its best time (or what the goal of the
/// search is), and the factor that it costs. Of a parameter with more than 32 values, the best 32.
void write_coverage(std::ostream& out, const coverage& tried);
/// The same as CSV, all of it, with a row for each value: parameter, share, value, tried, measured,
/// best, unit, ratio, lower and upper (see value_coverage).
void write_coverage_csv(std::ostream& out, const coverage& tried);
/// The same of a search: a writer for a file_reporter.
void write_coverage_csv(std::ostream& out, const search_finished_event& search);

/// Writes the table at the end of each search. The stream has to outlive it.
class table_reporter final : public observer {
 public:
  /// Writes to this stream from now on.
  explicit table_reporter(std::ostream& out, const table_options& options = {})
      : out_(out), options_(options) {}

  void search_finished(const search_finished_event& event) override {
    write_table(out_, event, options_);
  }

 private:
  std::ostream& out_;
  table_options options_;
};

/// Writes every trial of a search as CSV (RFC 4180): a header, then a row for each, in the order
/// in which they were made. The columns are the fields of the configuration, then outcome, score_ns
/// (the median of the samples), score_lower_ns and score_upper_ns (its confidence interval),
/// spread_ns, min_ns, mean_ns, samples (their number), preparation_ns and reason, then one for each
/// metric that any trial has. Numbers that do not exist and fields without a value are empty.
void write_csv(std::ostream& out, const search_finished_event& search);

/// Writes a search as one JSON object: function, version, arguments, device, elapsed_ns, end, goal
/// (in words), best (the configuration, or null), front (the configurations of the Pareto front),
/// coverage (metric, unit, combinations, configurations, tried, measured, explained, steps and
/// parameters, by the names in coverage.hpp) and trials, each with its configuration, outcome,
/// reason, score_ns, score_lower_ns, score_upper_ns, samples_ns, preparation_ns and metrics
/// ({"gflops": {"value", "unit"}}). Times that do not exist, or that JSON does not know (NaN,
/// infinity), are null, such values of parameters their names ("nan"); bytes that are not UTF-8 are
/// replaced.
void write_json(std::ostream& out, const search_finished_event& search);

/// Writes each search to a file, in place of the previous one. If the file cannot be written, an
/// error that names it is logged, and the search continues.
class file_reporter final : public observer {
 public:
  /// Writes one search to a stream, which the reporter opens anew for each.
  using writer = std::function<void(std::ostream&, const search_finished_event&)>;

  /// @param path    of the file, which is opened when a search ends
  /// @param writes  write_csv, write_json, or another
  file_reporter(std::string path, writer writes);

  /// @throws error if the file cannot be written; the text says why
  void search_finished(const search_finished_event& event) override;

 private:
  std::string path_;
  writer writes_;
};

}  // namespace tune
