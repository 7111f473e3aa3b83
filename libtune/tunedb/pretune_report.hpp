// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <csignal>
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "libtune/extra/ahead/pretuning.hpp"
#include "libtune/tunedb/output.hpp"

namespace tune::cli {

/// Writes the progress of pretune to standard output: lines for users, or one JSON object per line.
/// The progress of a search is written at most every two seconds.
class pretune_report final : public pretuning_listener {
 public:
  using clock_function = std::function<std::chrono::steady_clock::time_point()>;

  explicit pretune_report(bool as_json, clock_function now = std::chrono::steady_clock::now);

  /// True if this rank leads or has led, or is the only one.
  bool has_begun() const noexcept { return begun_; }

  void planned(std::size_t count) override;
  void began(std::size_t number, const tuning_subject& subject) override;
  void lost(std::size_t number, const std::string& reason) override;
  void progressed(std::size_t number, const search_progress& progress) override;
  void ended(std::size_t number, const pretuning_result& result) override;

 private:
  struct line {
    std::string title{};
    json subject{};
    std::chrono::steady_clock::time_point shown{};
  };

  void write(std::size_t number, const char* event, const json& more,
             const std::string& words) const;

  bool as_json_;
  bool begun_ = false;
  clock_function now_;
  std::vector<line> lines_;
};

/// The results of all keys: a table, or the last JSON object.
void print_summary(const std::vector<pretuning_result>& results, bool as_json);

/// During its life, the first SIGINT or SIGTERM is only noted; the second ends the process as
/// usual. One at a time.
class [[nodiscard]] interruption {
 public:
  interruption();
  ~interruption();
  interruption(const interruption&) = delete;
  interruption& operator=(const interruption&) = delete;

  /// True after a signal. Thread-safe.
  static bool has_come() noexcept;

 private:
  struct sigaction before_interrupt_ {};
  struct sigaction before_terminate_ {};
};

}  // namespace tune::cli
