// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "libtune/base/value.hpp"
#include "libtune/tune/search_problem.hpp"
#include "libtune/tune/session.hpp"
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

/// Searches of a session that are made for a reason of the library, in place of what the options
/// and the strategy decide: while one lives, it holds for all searches of the session, and has the
/// trials of the last one. For functions that compare configurations at several sizes.
class guided_search {
 public:
  struct course {
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
    std::function<std::optional<std::size_t>(const search_problem&,
                                             const std::vector<named_value>&)>
        find{};
    /// Values for find of each of the configurations that values stand for (search_problem::parts).
    std::function<std::vector<std::vector<named_value>>(const std::vector<named_value>&)> parts{};
    /// False for a configuration that must not be launched: it is skipped; empty: all may be.
    std::function<bool(const std::vector<named_value>&)> may_run{};
  };

  guided_search(tuning_session& session, course guided);
  ~guided_search();
  guided_search(const guided_search&) = delete;
  guided_search& operator=(const guided_search&) = delete;

  const course& guided() const noexcept { return guided_; }
  /// True if the session is to try stored results alone: its searches try these, whatever the
  /// course.
  bool is_only_tried() const noexcept { return session_.is_only_tried(); }
  /// The part of a session's time that a step gate leaves it, inverted: 1 without one.
  double stretch() const noexcept;
  /// The trials of the last search that has ended.
  const std::vector<trial>& trials() const noexcept { return trials_; }
  void keep(std::vector<trial> trials) { trials_ = std::move(trials); }
  /// The configurations of the space that was searched last, without those that a limit of the
  /// device excludes; empty if they are more than course::most_kept.
  const std::vector<std::vector<named_value>>& space() const noexcept { return space_; }
  void keep_space(std::vector<std::vector<named_value>> space) { space_ = std::move(space); }

 private:
  tuning_session& session_;
  course guided_;
  guided_search* outer_;
  std::vector<trial> trials_;
  std::vector<std::vector<named_value>> space_;
};

}  // namespace tune::detail
