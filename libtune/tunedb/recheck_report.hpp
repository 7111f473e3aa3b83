// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "libtune/extra/ahead/recheck.hpp"
#include "libtune/tunedb/output.hpp"

namespace tune::cli {

/// The number of results with each verdict, in the order of recheck_verdict.
using verdict_counts = std::array<std::size_t, 5>;
verdict_counts count_verdicts(const std::vector<recheck_result>& results);

/// Writes the progress of recheck to standard error: a line for each result that is wrong or lost,
/// and every two seconds one for all.
class recheck_report final : public recheck_listener {
 public:
  using clock_function = std::function<std::chrono::steady_clock::time_point()>;

  explicit recheck_report(clock_function now = std::chrono::steady_clock::now);

  void planned(std::size_t count) override;
  void ended(std::size_t number, const recheck_result& result) override;

 private:
  void tell_of_all();

  clock_function now_;
  std::chrono::steady_clock::time_point begin_;
  std::chrono::steady_clock::time_point shown_;
  std::size_t count_ = 0;
  std::size_t done_ = 0;
  verdict_counts verdicts_{};
};

/// A verdict in words: "lost 5.2 % (4.1 to 6.3 %): n=3 takes 1.20 us, this 1.26 us".
std::string verdict_text(const recheck_result& result);

/// Sorts the results: the worst verdict first, then the largest loss, then as they are.
void sort_worst_first(std::vector<recheck_result>& results);

/// One line for all: "1 wrong, 2 lost, 0 unknown, 0 skipped, 997 hold".
std::string summary_of(const std::vector<recheck_result>& results);

/// The results as a table.
void print_table_of(const std::vector<recheck_result>& results);

/// The results as a document.
/// @param within  the tolerance of recheck_options
json recheck_document(const std::vector<recheck_result>& results, const std::string& database,
                      double within, bool is_interrupted);

/// The results as JUnit: a suite for each function, a case for each key.
std::string recheck_junit(const std::vector<recheck_result>& results);

}  // namespace tune::cli
