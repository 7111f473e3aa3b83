// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "libtune/base/value.hpp"
#include "libtune/extra/ranged/guided_search.hpp"
#include "libtune/extra/ranged/portfolio_builder.hpp"
#include "libtune/extra/ranged/quick_comparison.hpp"
#include "libtune/extra/ranged/ranged_autotuner.hpp"
#include "libtune/tune/engine/device_lease.hpp"
#include "libtune/tune/session.hpp"

namespace tune::detail {

/// Returns sizes with the names of their ranges: "m=3, n=4".
std::string describe_sizes(const std::vector<std::string>& names,
                           std::span<const std::uint64_t> sizes);

/// Searches and measures by the author's function, in a session. A failure at one size, other than
/// a fault of the device, does not affect other sizes.
class session_source final : public portfolio_source {
 public:
  /// All references must outlive it.
  session_source(tuning_session& session, const ranged_parts& parts,
                 const std::vector<named_value>& key)
      : session_(session), parts_(parts), key_(key) {}

  findings search(const size_list& sizes, const found_limits& most,
                  const std::optional<configuration>& near) override;
  void prepare(std::span<const size_list> next, std::span<const configuration> all) override;
  std::vector<std::optional<double>> measure(const size_list& sizes,
                                             std::span<const configuration> all) override;
  std::vector<bool> check(const size_list& sizes, std::span<const configuration> all) override;
  // The total cost is at most the cost of four searches, and at most the budget's time.
  bool should_stop() override { return used_time() >= 1; }
  double used_time() override;
  bool fits(const configuration& tuning, const size_list& sizes) override {
    return !parts_.fits || parts_.fits(tuning, sizes);
  }

  /// Returns the reason why a configuration of the space fails its check; empty if it passes or is
  /// not in the space.
  std::string fault_of(const configuration& one, const size_list& sizes);
  /// Returns the number of configurations that failed in comparisons, and the first reason, in
  /// words: a configuration that fails somewhere is never chosen. Empty without failures.
  std::string failures() const;
  /// Throws the error of the first run that failed as a whole, if any.
  void rethrow_failure() const;
  /// The effort so far, in words.
  std::string effort() const;

 private:
  using clock = std::chrono::steady_clock;
  using course = guided_course;

  struct outcome_of_run {
    std::vector<trial> trials{};
    std::vector<configuration> space{};
  };

  course course_of(const size_list& sizes, guided_way way);
  outcome_of_run run(const size_list& sizes, course how);
  std::vector<trial> run_list(const size_list& sizes, std::span<const configuration> all,
                              guided_way way);
  void note_failure(const size_list& sizes, const trial& failed);
  void tell(const size_list& sizes, const error& failure);
  std::function<std::optional<std::size_t>(const search_problem&, const configuration&)> finder()
      const;
  std::function<std::vector<configuration>(const configuration&)> divider(
      const size_list& sizes) const;
  std::function<bool(const configuration&)> filter(const size_list& sizes) const;
  clock::duration used() const;
  std::chrono::duration<double> whole_time() const;
  std::optional<std::chrono::duration<double>> time_budget() const;

  tuning_session& session_;
  const ranged_parts& parts_;
  const std::vector<named_value>& key_;
  quick_memory memory_;
  clock::duration first_search_{};
  clock::duration searched_{};
  std::size_t searches_ = 0;
  std::size_t failures_ = 0;    // failed comparisons
  std::string first_failure_;   // the text of the first failure
  std::exception_ptr failure_;  // the failure of the first run that failed as a whole
  clock::time_point began_ = clock::now();
  std::chrono::nanoseconds waited_before_ = device_lease::waited();
  const std::optional<std::chrono::duration<double>> budget_ = time_budget();
  const double stretch_ = guided_search(session_, {}).stretch();
  const bool is_only_tried_ = guided_search(session_, {}).is_only_tried();
  bool is_small_ = false;            // an ordinary search would race the whole space
  bool is_first_ = true;             // until the first comparison of configurations
  bool compiles_for_sizes_ = false;  // each size has programs of its own
};

}  // namespace tune::detail
