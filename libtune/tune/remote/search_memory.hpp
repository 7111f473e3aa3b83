// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "libtune/tune/engine/prior_knowledge.hpp"
#include "libtune/tune/engine/trial_list.hpp"
#include "libtune/tune/observer.hpp"
#include "libtune/tune/remote/tuner_message.hpp"

namespace tune::detail {

/// What this process knows of one search that a child makes, so that another child can go on with
/// it where the first was lost, and observers hear nothing twice. Fed with messages and times.
class search_memory {
 public:
  using time_point = std::chrono::steady_clock::time_point;

  /// What an observer is to be told of a trial.
  enum class story : std::uint8_t { nothing, taken_over, finished, refined };

  /// @param known  what earlier searches know
  search_memory(search_identity identity, prior_knowledge known, time_point now)
      : identity_(std::move(identity)), known_(std::move(known)), begin_(now) {}

  const search_identity& identity() const noexcept { return identity_; }
  /// What a child is told that begins with this search, or goes on with it.
  prior_knowledge read_prior(time_point now) const;

  /// Whether it is news.
  bool start(std::size_t taken_over);
  story take_over(trial taken);
  story add(trial made, bool refined);
  /// The trial that the last story is about; there has been one.
  const trial& latest() const { return *latest_; }
  /// How far it is, seen from its beginning.
  search_progress progress(search_progress now_in_child, time_point now) const;
  /// Its end; empty if it has been told before. Without a subject.
  std::optional<search_finished_event> finish(const finished_news& news, time_point now);

  std::optional<run_time> best_score() const noexcept { return trials_.best_score(); }
  const std::vector<trial>& trials() const noexcept { return trials_.all(); }

 private:
  search_identity identity_;
  prior_knowledge known_;
  time_point begin_;
  trial_list trials_;
  const trial* latest_ = nullptr;  // of trials_
  std::size_t taken_over_ = 0;
  std::size_t made_ = 0;
  bool started_ = false;
  bool finished_ = false;
};

}  // namespace tune::detail
