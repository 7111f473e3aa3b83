// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "libtune/base/value.hpp"
#include "libtune/tune/engine/search_course.hpp"
#include "libtune/tune/search_problem.hpp"
#include "libtune/tune/trial.hpp"

namespace tune::detail {

struct quick_memory;

/// The treatment of the list in a guided search.
enum class guided_way : std::uint8_t {
  race,     ///< measure as in a search
  compare,  ///< compare quickly, without checks and trials in the database (quick_comparison)
  check,    ///< run each once, and check its result
  compile,  ///< request their programs ahead of a comparison, without waiting, and run none
};

/// The settings of guided searches, which replace the options and the strategy.
struct guided_course {
  /// If not empty, only these configurations, if they are in the space.
  std::vector<std::vector<named_value>> only{};
  /// A configuration whose neighbourhood is searched, with at most most_trials trials. Without it
  /// and the above, the whole space is searched.
  std::optional<std::vector<named_value>> near{};
  std::size_t most_trials = 0;
  /// The whole space is kept if it has at most this many configurations (space).
  std::size_t most_kept = 0;
  guided_way way = guided_way::race;  ///< the treatment of the list
  /// The memory between searches; null: none. Not null for ways other than a race. Must outlive
  /// this.
  quick_memory* memory = nullptr;
  /// The longest time of a search that is not a race of a list; empty: from the options.
  std::optional<std::chrono::nanoseconds> time{};
  /// Finds a configuration by values that are not a tuning of the space; empty if not found. For
  /// the check of a stored result.
  std::function<std::optional<std::size_t>(const search_problem&, const std::vector<named_value>&)>
      find{};
  /// The values for find of each configuration of a result with several (search_problem::parts).
  std::function<std::vector<std::vector<named_value>>(const std::vector<named_value>&)> parts{};
  /// The test default of the searches; empty: the session's, which may be the one of a portfolio.
  /// Under a goal of the same bits the results are compared with its results at the same sizes.
  std::vector<named_value> test_default{};
  /// False for a configuration that must not be launched: it is skipped. Empty: all are launched.
  std::function<bool(const std::vector<named_value>&)> may_run{};
};

/// The searches of functions that compare configurations at several sizes.
class guided_search final : public search_course {
 public:
  guided_search(tuning_session& session, guided_course course);
  ~guided_search() override;

  std::size_t search(const search_problem& problem, const search_defaults& defaults) override;

  /// True if the session tries only stored results: its searches then ignore the course.
  bool is_only_tried() const noexcept { return session().only_listed; }
  /// The inverse of the part of a session's time that a step gate leaves it: 1 without a gate.
  double stretch() const noexcept;
  /// The trials of the last completed search.
  const std::vector<trial>& trials() const noexcept { return trials_; }
  /// The configurations of the last searched space, without configurations that a limit of the
  /// device excludes; empty if there are more than guided_course::most_kept.
  const std::vector<std::vector<named_value>>& space() const noexcept { return space_; }

 private:
  std::size_t search_allowed(const search_problem& problem, const search_defaults& defaults);
  std::vector<std::size_t> shortlist(const search_problem& problem) const;
  void guide(tuning_options& options, const search_problem& problem);
  void read_failures(const search_problem& problem);
  std::size_t compare(const search_problem& problem, const tuning_options& options);

  guided_course course_;
  std::vector<named_value> test_default_of_session_;
  std::vector<trial> trials_;
  std::vector<std::vector<named_value>> space_;
};

}  // namespace tune::detail
