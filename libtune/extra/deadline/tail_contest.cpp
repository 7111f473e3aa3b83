// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "libtune/extra/deadline/contest.hpp"

namespace tune::detail {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

class tail_contest : contest {
 public:
  using contest::contest;

  contest_result find() {
    screen();
    while (in_.size() > 1 && left() > 0.02 * settings_.budget.count()) {
      if (!round()) break;
    }
    return result();
  }

 private:
  void screen() {
    const double seconds = 0.25 * settings_.budget.count() / static_cast<double>(players_.size());
    for (player& each : players_) {
      const double wanted = std::clamp(seconds, 0.02, 0.5);
      if (!run(each, goal_.rate, wanted)) continue;
      end_test(each);
      if (late_part(each) > std::max(0.3, late_)) {
        each.is_out = true;
        each.standing.missed_rate = goal_.rate;
      } else {
        in_.push_back(&each);
      }
    }
    rank();
  }

  /// The value of the goal, with its interval.
  void evaluate(player& of) const {
    end_test(of);
    contest_standing& standing = of.standing;
    if (goal_.figure.empty()) return;
    const auto n = static_cast<double>(of.figures.size());
    double sum = 0;
    for (const double each : of.figures) sum += each;
    double squares = 0;
    for (const double each : of.figures) squares += (each - sum / n) * (each - sum / n);
    const double error = n > 1 ? 2 * std::sqrt(squares / (n - 1) / n) : infinity;
    standing.value = n > 0 ? sum / n : infinity;
    standing.lower = standing.value - error;
    standing.upper = standing.value + error;
  }

  bool is_in_time(const player& of) const { return !of.is_out && late_part(of) <= late_; }

  void rank() {
    for (player* each : in_) evaluate(*each);
    std::ranges::stable_sort(in_, [&](const player* a, const player* b) {
      if (is_in_time(*a) != is_in_time(*b)) return is_in_time(*a);
      return a->standing.value < b->standing.value;
    });
  }

  /// One round of runs in turn. False if it cannot decide more.
  bool round() {
    const double rounds = std::max(1.0, std::ceil(std::log2(static_cast<double>(in_.size()))));
    const double seconds = left() / rounds / static_cast<double>(in_.size());
    constexpr int turns = 4;
    for (int turn = 0; turn < turns; ++turn) {
      for (player* each : in_) {
        if (!each->is_out) run(*each, goal_.rate, seconds / turns);
      }
    }
    std::erase_if(in_, [](const player* each) { return each->is_out; });
    rank();
    if (in_.size() < 2) return false;
    drop_worse();
    return true;
  }

  void drop_worse() {
    const contest_standing& best = in_.front()->standing;
    const std::size_t half = (in_.size() + 1) / 2;
    std::vector<player*> kept;
    for (std::size_t i = 0; i < in_.size(); ++i) {
      const contest_standing& one = in_[i]->standing;
      const bool is_worse = one.lower > best.upper;
      const bool may_win = i < half || one.lower <= best.value;
      if (i == 0 || (!is_worse && may_win)) kept.push_back(in_[i]);
    }
    const bool is_stuck = kept.size() == in_.size();
    if (is_stuck) kept.resize(std::max<std::size_t>(1, (kept.size() * 2 + 2) / 3));
    in_ = std::move(kept);
  }

  contest_result result() {
    contest_result made{.late_allowed = late_, .spent = std::chrono::duration<double>(spent_)};
    const auto place = [&](const player* of) {
      const auto at = std::ranges::find(in_, of);
      return at == in_.end() ? in_.size() : static_cast<std::size_t>(at - in_.begin());
    };
    std::vector<const player*> all;
    for (const player& each : players_) all.push_back(&each);
    std::ranges::stable_sort(all, [&](const player* a, const player* b) {
      if (is_in_time(*a) != is_in_time(*b)) return is_in_time(*a);
      if (place(a) != place(b)) return place(a) < place(b);
      return a->standing.value < b->standing.value;
    });
    made.has_winner = !all.empty() && is_in_time(*all.front());
    for (const player* each : all) {
      made.standings.push_back(each->standing);
      if (is_in_time(*each)) made.standings.back().kept_rate = goal_.rate;
    }
    return made;
  }

  std::vector<player*> in_;
};

}  // namespace

contest_result find_least_tail(const pipeline_goal& goal,
                               const std::vector<std::size_t>& configurations,
                               const contest_settings& settings, const pipeline_runner& run) {
  return tail_contest(goal, configurations, settings, run).find();
}

}  // namespace tune::detail
