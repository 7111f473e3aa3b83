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

/// The way in which a guided search treats its list.
enum class guided_way : std::uint8_t {
  race,     ///< as a search does
  compare,  ///< quickly, without checks, without trials in the database (quick_comparison)
  check,    ///< runs each once, and checks its result
  compile,  ///< asks for their programs ahead of a comparison, without waiting, and runs none
};

/// What guided searches do in place of what the options and the strategy decide.
struct guided_course {
  /// If not empty, these alone, as far as they are in the space.
  std::vector<std::vector<named_value>> only{};
  /// A configuration around which so many trials at most are made; without it and the above, the
  /// whole space is searched.
  std::optional<std::vector<named_value>> near{};
  std::size_t most_trials = 0;
  /// The whole space is kept if it has no more configurations than this (space).
  std::size_t most_kept = 0;
  guided_way way = guided_way::race;  ///< of the list
  /// The memory from one search to the next; null: none. Not null for other ways than a race.
  /// Outlives this.
  quick_memory* memory = nullptr;
  /// The longest time of a search that is not a race of a list; empty: that of the options.
  std::optional<std::chrono::nanoseconds> time{};
  /// Finds a configuration by values that are no tuning of the space; empty if there is none. For
  /// the check of a stored result.
  std::function<std::optional<std::size_t>(const search_problem&, const std::vector<named_value>&)>
      find{};
  /// Values for find of each of the configurations that values stand for (search_problem::parts).
  std::function<std::vector<std::vector<named_value>>(const std::vector<named_value>&)> parts{};
  /// False for a configuration that must not be launched: it is skipped; empty: all may be.
  std::function<bool(const std::vector<named_value>&)> may_run{};
};

/// The searches of functions that compare configurations at several sizes.
class guided_search final : public search_course {
 public:
  guided_search(tuning_session& session, guided_course course)
      : search_course(session), course_(std::move(course)) {}

  std::size_t search(const search_problem& problem, const search_defaults& defaults) override;

  /// True if the session is to try stored results alone: its searches try these, whatever the
  /// course.
  bool is_only_tried() const noexcept { return session().only_listed; }
  /// The part of a session's time that a step gate leaves it, inverted: 1 without one.
  double stretch() const noexcept;
  /// The trials of the last search that has ended.
  const std::vector<trial>& trials() const noexcept { return trials_; }
  /// The configurations of the space that was searched last, without those that a limit of the
  /// device excludes; empty if they are more than guided_course::most_kept.
  const std::vector<std::vector<named_value>>& space() const noexcept { return space_; }

 private:
  std::size_t search_allowed(const search_problem& problem, const search_defaults& defaults);
  std::vector<std::size_t> shortlist(const search_problem& problem) const;
  void guide(tuning_options& options, const search_problem& problem);
  void read_failures(const search_problem& problem);
  std::size_t compare(const search_problem& problem, const tuning_options& options);

  guided_course course_;
  std::vector<trial> trials_;
  std::vector<std::vector<named_value>> space_;
};

}  // namespace tune::detail
