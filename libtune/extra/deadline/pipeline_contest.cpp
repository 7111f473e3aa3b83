// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/deadline/pipeline_contest.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <limits>
#include <utility>

#include "libtune/base/error.hpp"
#include "libtune/extra/deadline/rate_prediction.hpp"
#include "libtune/extra/deadline/tail_statistics.hpp"

namespace tune {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// Longer tests of a player at a rate.
struct rate_test {
  double rate = 0;
  double frames = 0;
  double late = 0;
};

struct player {
  contest_standing standing;
  double frame_units = 0;
  detail::frame_blocks blocks{};  // of the present test
  std::vector<double> figures{};  // of the present test, one for each run
  bool is_out = false;            // cannot win any more
  std::vector<rate_test> tests{};
  detail::rate_prediction prediction{};
};

/// Players, time and runs, for both kinds of contest.
class contest {
 public:
  contest(const pipeline_goal& goal, const std::vector<std::size_t>& configurations,
          const contest_settings& settings, const pipeline_runner& run)
      : goal_(goal), settings_(settings), run_(run), late_(goal.late) {
    for (const std::size_t number : configurations) {
      players_.push_back({.standing = {.configuration = number},
                          .prediction = detail::rate_prediction(goal.deadline.count())});
    }
  }

 protected:
  double left() const { return std::max(0.0, settings_.budget.count() - spent_); }
  double deadline() const { return goal_.deadline.count(); }

  /// Runs a player once and adds the frames to its present test. False if it failed.
  bool run(player& of, double rate, double seconds) {
    const auto record = run_(of.standing.configuration,
                             {.rate = rate, .duration = std::chrono::duration<double>(seconds)});
    const bool is_valid = record && !record->latencies().empty() && record->units() > 0 &&
                          record->elapsed().count() > 0;
    if (record) spent_ += std::max(0.0, record->elapsed().count());
    if (!is_valid) {
      of.standing.failed = of.is_out = true;
      return false;
    }
    last_rate_ = record->units() / record->elapsed().count();
    of.frame_units =
        record->units() / static_cast<double>(record->latencies().size() + record->excused());
    of.blocks.add(record->latencies());
    if (rate > 0) {
      of.prediction.add_paced(*record);
    } else {
      of.prediction.add_saturated(*record, of.frame_units);
    }
    if (const metric* figure = find_metric(record->figures(), goal_.figure)) {
      of.figures.push_back(figure->value);
    }
    return true;
  }

  static void begin_test(player& of) {
    of.blocks = {};
    of.figures.clear();
  }

  void end_test(player& of) const {
    contest_standing& standing = of.standing;
    standing.frames = of.blocks.frames();
    standing.late = of.blocks.above(deadline());
    const detail::bounded_quantile tail = of.blocks.quantile(goal_.quantile);
    standing.value = tail.value;
    standing.lower = tail.lower;
    standing.upper = tail.upper;
  }

  static double late_part(const player& of) {
    return static_cast<double>(of.standing.late) /
           static_cast<double>(std::max<std::size_t>(of.standing.frames, 1));
  }

  pipeline_goal goal_;
  contest_settings settings_;
  const pipeline_runner& run_;
  std::vector<player> players_;
  double late_;  // the part that is allowed
  double spent_ = 0;
  double last_rate_ = 0;
};

class rate_contest : contest {
 public:
  using contest::contest;

  contest_result find() {
    screen();
    halve();
    decide();
    if (finalists_.empty()) settle();
    return result();
  }

 private:
  static constexpr std::size_t most_finalists = 3;
  static constexpr int start_level = -2;

  void screen() {
    const double seconds = std::clamp(
        0.1 * settings_.budget.count() / static_cast<double>(players_.size()), 0.02, 0.4);
    for (player& each : players_) {
      // Runs of slow frames are longer than they should be.
      if (left() < 0.4 * settings_.budget.count()) return;
      if (run(each, 0, seconds)) each.standing.throughput = last_rate_;
      if (!each.is_out) run(each, 0.7 * each.standing.throughput, seconds / 2);
      if (!each.is_out) predict(each);
    }
  }

  void predict(player& of) const { of.standing.predicted_rate = of.prediction.highest_rate(late_); }

  static double predicted(const player& of) { return of.standing.predicted_rate; }

  /// The predicted rate, unless a test has shown that a lower one is too high.
  double promise(const player& of) const {
    double rate = predicted(of);
    for (const rate_test& each : of.tests) {
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
          if (!each->is_out) run(*each, 0, 0.3 * seconds);
          if (!each->is_out) run(*each, 0.8 * predicted(*each), 0.2 * seconds);
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
    for (const rate_test& each : of.tests) {
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
    auto at = std::ranges::find(of.tests, rate, &rate_test::rate);
    if (at == of.tests.end()) at = of.tests.insert(at, {.rate = rate});
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
      const bool has_low = !finalists_.empty();
      if (in.empty()) {
        high = level;
        if (has_low && finalists_level_ >= level) finalists_.clear();
        if (step == 12 && finalists_.empty() && is_machine_late(rate / 2)) {
          step *= 2;
          continue;
        }
        if (finalists_.empty()) {
          level -= step;
          step *= 2;
          continue;
        }
      } else {
        finalists_ = in;
        finalists_level_ = level;
        step = 1;
        if (high <= level) high = std::numeric_limits<int>::max();
      }
      if (high == std::numeric_limits<int>::max()) {
        level += 2;
      } else if (high - finalists_level_ > 1) {
        level = (high + finalists_level_) / 2;
      } else if (effort_ < 16) {
        effort_ *= 2;
        level = finalists_level_;
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
        if (!is_undecided(*in.front(), rate)) {
          finalists_ = in;
          return;
        }
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
    for (const rate_test& each : of.tests) {
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
    effort_ = std::max(1.0, effort_ / 2);  // the last one may have been demanded of few
    for (player& each : players_) note_rates(each);
    std::vector<const player*> all;
    for (const player& each : players_) all.push_back(&each);
    std::ranges::stable_sort(all, [&](const player* a, const player* b) {
      if (a->standing.failed != b->standing.failed) return b->standing.failed;
      if (a->standing.kept_rate != b->standing.kept_rate) {
        return a->standing.kept_rate > b->standing.kept_rate;
      }
      return promise(*a) > promise(*b);
    });
    made.has_winner = !all.empty() && all.front()->standing.kept_rate > 0;
    for (const player* each : all) made.standings.push_back(each->standing);
    return made;
  }

  double best_ = 0;                 // the highest rate that was predicted
  std::vector<player*> finalists_;  // they have kept the highest rate in a longer test
  int finalists_level_ = 0;
  double effort_ = 1;  // the evidence that is demanded, in units of the first
};

/// The least latency, or figure, at a rate.
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
        note_missed(each);
      } else {
        in_.push_back(&each);
      }
    }
    rank();
  }

  void note_missed(player& of) const {
    of.is_out = true;
    of.standing.missed_rate = goal_.rate;
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

contest_result find_best_pipeline(const pipeline_goal& goal,
                                  const std::vector<std::size_t>& configurations,
                                  const contest_settings& settings, const pipeline_runner& run) {
  const auto is_part = [](double x) { return x >= 0 && x <= 1; };
  if (!(goal.deadline.count() > 0) || !is_part(goal.late) || !is_part(goal.quantile) ||
      !(goal.rate >= 0) || !std::isfinite(goal.rate)) {
    throw argument_error(fmt::format(
        "a pipeline's goal needs a deadline above 0 s, parts from 0 to 1 and a rate of at least 0; "
        "given are {} s, {} late, the quantile {} and {} units/s",
        goal.deadline.count(), goal.late, goal.quantile, goal.rate));
  }
  if (configurations.empty()) throw argument_error("a pipeline needs a configuration to be tuned");
  if (!(settings.budget.count() > 0) || !(settings.tolerance > 0)) {
    throw argument_error("a contest of pipelines needs a budget and a tolerance above 0");
  }
  if (!goal.figure.empty() && goal.rate == 0) {
    throw argument_error("the figure '" + goal.figure +
                         "' of a pipeline is minimised at a rate; set the rate of the goal");
  }
  if (goal.rate > 0) return tail_contest(goal, configurations, settings, run).find();
  return rate_contest(goal, configurations, settings, run).find();
}

}  // namespace tune
