// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tunedb/reports.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>

namespace tune::cli {

void add_up(merge_report& sum, const merge_report& other) {
  sum.results_added += other.results_added;
  sum.results_replaced += other.results_replaced;
  sum.results_kept += other.results_kept;
  sum.searches_added += other.searches_added;
  sum.searches_known += other.searches_known;
  sum.left += other.left;
  std::ranges::copy_if(other.reasons, std::back_inserter(sum.reasons),
                       [&](const std::string& reason) {
                         return std::ranges::find(sum.reasons, reason) == sum.reasons.end();
                       });
}

json to_json(const merge_report& report) {
  return {{"results_added", report.results_added},
          {"results_replaced", report.results_replaced},
          {"results_kept", report.results_kept},
          {"searches_added", report.searches_added},
          {"searches_known", report.searches_known},
          {"left", report.left},
          {"reasons", report.reasons}};
}

exit_code print_report(const merge_report& report, bool as_json) {
  const exit_code code = report.reasons.empty() ? done : part_left;
  if (as_json) {
    print_json(to_json(report));
    return code;
  }
  fmt::print(
      "results: {} added, {} replaced by better ones, {} kept; searches: {} added, {} known\n",
      report.results_added, report.results_replaced, report.results_kept, report.searches_added,
      report.searches_known);
  if (report.left > 0) fmt::print("left: {} results and searches\n", report.left);
  for (const std::string& reason : report.reasons) fmt::print("  because {}\n", reason);
  return code;
}

}  // namespace tune::cli
