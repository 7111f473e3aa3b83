// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>
#include <unordered_map>
#include <vector>

#include "libtune/extra/deadline/contest.hpp"
#include "libtune/extra/deadline/rate_prediction.hpp"

namespace tune::detail {
namespace {

/// Longer tests of a player at a rate.
struct rate_test {
  double rate = 0;
  double frames = 0;
  double late = 0;
};

class rate_contest : contest {
 public:
  rate_contest(const pipeline_goal& goal, const std::vector<std::size_t>& configurations,
               const contest_settings& settings, const pipeline_runner& run)
      : contest(goal, configurations, settings, run) {
    for (const std::size_t number : configurations) {
      rates_.emplace(number, known_rates(goal.deadline.count()));
    }
  }

  contest_result find() {
    screen();
    halve();
    decide();
    if (!kept_level_) settle();
    return result();
  }

 private:
  static constexpr std::size_t most_finalists = 5;
  static constexpr int start_level = -2;

  void screen() {
    const double seconds = std::clamp(
        0.1 * settings_.budget.count() / static_cast<double>(players_.size()), 0.02, 0.4);
    for (player& each : players_) {
      // Runs of slow frames are longer than they should be.
      if (left() < 0.4 * settings_.budget.count()) return;
      if (const frame_record* const record = observe(each, 0, seconds)) {
        each.standing.throughput = record->units() / record->elapsed().count();
      }
      if (!each.is_out) observe(each, 0.7 * each.standing.throughput, seconds / 2);
      if (!each.is_out) predict(each);
    }
  }

  /// Runs a player for its prediction.
  const frame_record* observe(player& of, double rate, double seconds) {
    const frame_record* const record = run(of, rate, seconds);
    if (record == nullptr) return nullptr;
    rate_prediction& prediction = rates_of(of).prediction;
    if (rate > 0) {
      prediction.add_paced(*record);
    } else {
      prediction.add_saturated(*record, of.frame_units);
    }
    return record;
  }

  void predict(player& of) const {
    of.standing.predicted_rate = rates_of(of).prediction.highest_rate(late_);
  }

  static double predicted(const player& of) { return of.standing.predicted_rate; }

  /// The predicted rate, unless a test has shown that a lower one is too high.
  double promise(const player& of) const {
    double rate = predicted(of);
    for (const rate_test& each : rates_of(of).tests) {
      if (each.rate < rate && is_rejected(of, each.rate)) rate = each.rate;
    }
    return rate;
  }

  std::vector<player*> most_promising(std::size_t count) {
    std::vector<player*> in;
    for (player& each : players_) {
      if (!each.is_out && predicted(each) > 0) in.push_back(&each);
    }
    std::ranges::stable_sort(in, std::greater(), [&](const player* of) { return promise(*of); });
    if (in.size() > count) in.resize(count);
    return in;
  }

  /// Halves the field by the predicted rates, which more runs make more accurate.
  void halve() {
    std::size_t count = std::max(most_finalists, players_.size() / 2);
    for (int round = 0; round < 7 && left() > 0.2 * settings_.budget.count(); ++round) {
      const std::vector<player*> in = most_promising(count);
      const double seconds = 0.09 * settings_.budget.count() / static_cast<double>(in.size());
      for (int turn = 0; turn < 2; ++turn) {
        for (player* each : in) {
          if (!each->is_out) observe(*each, 0, 0.3 * seconds);
          if (!each->is_out) observe(*each, 0.8 * predicted(*each), 0.2 * seconds);
        }
      }
      for (player* each : in) {
        if (!each->is_out) predict(*each);
      }
      if (count == most_finalists) break;
      count = std::max(most_finalists, count / 2);
    }
    const std::vector<player*> in = most_promising(1);
    if (!in.empty()) best_ = predicted(*in.front());
  }

  /// The most promising players that may keep the deadline at a rate.
  std::vector<player*> candidates(double rate) {
    std::vector<player*> in = most_promising(most_finalists);
    std::erase_if(in, [&](const player* each) {
      return is_rejected(*each, rate) || predicted(*each) < 0.97 * rate;
    });
    return in;
  }

  /// The frames that count for a rate: those at this rate, those of a higher rate that was kept,
  /// and those of a lower rate that was not.
  struct evidence {
    double frames = 0;
    double late = 0;
  };
  evidence evidence_of(const player& of, double rate) const {
    evidence sum;
    for (const rate_test& each : rates_of(of).tests) {
      const bool keeps = each.late <= late_ * each.frames;
      const bool is_here = std::abs(each.rate / rate - 1) < 0.5 * settings_.tolerance;
      if (!is_here && keeps != (each.rate > rate)) continue;
      sum.frames += each.frames;
      sum.late += each.late;
    }
    return sum;
  }
  bool is_rejected(const player& of, double rate) const {
    const evidence now = evidence_of(of, rate);
    return now.late > late_ * std::max(now.frames, frames_needed(of, rate));
  }
  bool is_undecided(const player& of, double rate) const {
    return evidence_of(of, rate).frames < frames_needed(of, rate);
  }
  double frames_needed(const player& of, double rate) const {
    constexpr double least_seconds = 1;  // for disturbances that are rare
    return effort_ * std::max(1 / std::max(late_, 1e-3), least_seconds * rate / of.frame_units);
  }

  void add_evidence(player& of, double rate) {
    const double wanted = frames_needed(of, rate) * of.frame_units / rate / effort_ / 2;
    const double seconds =
        std::min(wanted, std::max(0.2 * left(), 0.02 * settings_.budget.count()));
    begin_test(of);
    if (!run(of, rate, seconds)) return;
    end_test(of);
    std::vector<rate_test>& tests = rates_of(of).tests;
    auto at = std::ranges::find(tests, rate, &rate_test::rate);
    if (at == tests.end()) at = tests.insert(at, {.rate = rate});
    at->frames += static_cast<double>(of.standing.frames);
    at->late += static_cast<double>(of.standing.late);
  }

  double rate_at(int level) const { return best_ * std::pow(1 + settings_.tolerance, level); }

  /// Finds the highest rate that a player keeps by longer tests of all in turn at common rates. If
  /// the best one is found within the tolerance and time is left, twice the evidence is demanded:
  /// a rate that was kept by luck is given up then.
  void decide() {
    int level = start_level;
    int high = std::numeric_limits<int>::max();  // all are rejected
    int step = 3;
    while (best_ > 0 && left() > 0.02 * settings_.budget.count() && level > -300) {
      const double rate = rate_at(level);
      const std::vector<player*> in = candidates(rate);
      if (run_undecided(in, rate)) continue;
      if (in.empty()) {
        high = level;
        if (kept_level_ && *kept_level_ >= level) kept_level_.reset();
        if (step == 12 && !kept_level_ && is_machine_late(rate / 2)) {
          step *= 2;
          continue;
        }
        if (!kept_level_) {
          level -= step;
          step *= 2;
          continue;
        }
      } else {
        kept_level_ = level;
        step = 1;
        if (high <= level) high = std::numeric_limits<int>::max();
      }
      if (high == std::numeric_limits<int>::max()) {
        level += 2;
      } else if (high - *kept_level_ > 1) {
        level = (high + *kept_level_) / 2;
      } else if (effort_ < 16) {
        effort_ *= 2;
        level = *kept_level_;
      } else {
        return;
      }
    }
  }

  /// The time has ended before a rate was kept: looks for one that the most promising keeps.
  void settle() {
    const std::vector<player*> in = most_promising(1);
    effort_ = 1;
    for (int tries = 0; !in.empty() && !in.front()->is_out && tries < 8; ++tries) {
      if (spent_ > 1.25 * settings_.budget.count()) return;
      const double rate = predicted(*in.front()) * std::pow(0.93, tries + 1);
      while (!is_rejected(*in.front(), rate)) {
        if (!is_undecided(*in.front(), rate)) return;
        add_evidence(*in.front(), rate);
        if (in.front()->is_out) return;
      }
    }
  }

  bool run_undecided(const std::vector<player*>& in, double rate) {
    bool ran = false;
    for (player* each : in) {
      if (!is_undecided(*each, rate)) continue;
      add_evidence(*each, rate);
      ran = true;
    }
    return ran;
  }

  /// True if the best player is late at a rate as low as this too: then the part that is allowed
  /// becomes what the machine causes.
  bool is_machine_late(double rate) {
    constexpr double rare = 0.05;  // more late frames are no matter of the machine
    const auto best = std::ranges::find_if(
        players_, [&](const player& each) { return !each.is_out && predicted(each) > rate; });
    if (best == players_.end()) return false;
    begin_test(*best);
    const double seconds = frames_needed(*best, rate) * best->frame_units / rate;
    if (!run(*best, rate, std::min(0.2 * left(), seconds))) return false;
    end_test(*best);
    if (late_part(*best) <= late_ || late_part(*best) > rare) return false;
    late_ = 2 * late_part(*best);
    return true;
  }

  void note_rates(player& of) const {
    for (const rate_test& each : rates_of(of).tests) {
      contest_standing& standing = of.standing;
      const bool is_less = standing.missed_rate == 0 || each.rate < standing.missed_rate;
      if (is_rejected(of, each.rate)) {
        if (is_less) standing.missed_rate = each.rate;
      } else if (!is_undecided(of, each.rate)) {
        standing.kept_rate = std::max(standing.kept_rate, each.rate);
      }
    }
  }

  contest_result result() {
    contest_result made{.late_allowed = late_, .spent = std::chrono::duration<double>(spent_)};
    // The last effort may have been demanded of few players.
    do {
      effort_ = std::max(1.0, effort_ / 2);
      for (player& each : players_) note_rates(each);
    } while (effort_ > 1 && std::ranges::none_of(players_, [](const player& each) {
               return each.standing.kept_rate > 0;
             }));
    std::vector<const player*> all;
    for (const player& each : players_) all.push_back(&each);
    std::ranges::stable_sort(all, [&](const player* a, const player* b) {
      if (a->standing.failed != b->standing.failed) return b->standing.failed;
      if (a->standing.kept_rate != b->standing.kept_rate) {
        return a->standing.kept_rate > b->standing.kept_rate;
      }
      if (promise(*a) != promise(*b)) return promise(*a) > promise(*b);
      return predicted(*a) > predicted(*b);
    });
    made.has_winner = !all.empty() && all.front()->standing.kept_rate > 0;
    for (const player* each : all) made.standings.push_back(each->standing);
    return made;
  }

  /// The prediction and the tests of a player.
  struct known_rates {
    explicit known_rates(double deadline) : prediction(deadline) {}
    rate_prediction prediction;
    std::vector<rate_test> tests{};
  };
  known_rates& rates_of(const player& of) { return rates_.at(of.standing.configuration); }
  const known_rates& rates_of(const player& of) const {
    return rates_.at(of.standing.configuration);
  }

  std::unordered_map<std::size_t, known_rates> rates_;  // by configuration
  double best_ = 0;                                     // the highest rate that was predicted
  std::optional<int> kept_level_;  // the highest one that a player has kept in longer tests
  double effort_ = 1;              // the evidence that is demanded, in units of the first
};

}  // namespace

contest_result find_highest_rate(const pipeline_goal& goal,
                                 const std::vector<std::size_t>& configurations,
                                 const contest_settings& settings, const pipeline_runner& run) {
  return rate_contest(goal, configurations, settings, run).find();
}

}  // namespace tune::detail
