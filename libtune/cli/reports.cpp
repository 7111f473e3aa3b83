// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/cli/reports.hpp"

#include <fmt/format.h>

#include "libtune/cli/output.hpp"

namespace tune::cli {

void add_up(merge_report& sum, const merge_report& other) {
  sum.results_added += other.results_added;
  sum.results_replaced += other.results_replaced;
  sum.results_kept += other.results_kept;
  sum.searches_added += other.searches_added;
  sum.searches_known += other.searches_known;
}

void print_report(const merge_report& report, bool as_json) {
  if (as_json) {
    print_json({{"results_added", report.results_added},
                {"results_replaced", report.results_replaced},
                {"results_kept", report.results_kept},
                {"searches_added", report.searches_added},
                {"searches_known", report.searches_known}});
    return;
  }
  fmt::print(
      "results: {} added, {} replaced by better ones, {} kept; searches: {} added, {} known\n",
      report.results_added, report.results_replaced, report.results_kept, report.searches_added,
      report.searches_known);
}

}  // namespace tune::cli
