// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <vector>

#include "libtune/measure/race/final_round.hpp"
#include "libtune/measure/race/race_book.hpp"
#include "libtune/measure/timing/drift_monitor.hpp"
#include "libtune/measure/timing/samples.hpp"
#include "libtune/measure/timing/settings.hpp"

namespace tune {

/// The purpose of the runs that a race asks for.
enum class race_step : std::uint8_t { screening, sentinel, final_round };

/// The next measurement: a configuration, and the number of runs, one after the other.
struct race_task {
  std::size_t configuration;
  int runs;
  race_step step;

  friend bool operator==(const race_task&, const race_task&) = default;
};

/// Finds the fastest of many configurations with few runs. Fed with numbers only: it has neither
/// clock nor device. It returns what to measure, and takes the results:
///
///   race contest(settings);
///   contest.arrive(configuration);             // as each becomes ready, at any time
///   contest.close();                           // when no more will come
///   while (const auto task = contest.next()) {
///     ... measure task->configuration task->runs times ...
///     contest.add(times);                      // or contest.fail()
///   }
///   contest.winner();
///
/// Each that arrives is run twice, four times, and so on, until the interval of its median says
/// that it cannot win, or it has been run often enough to have converged. Runs that contradict each
/// other drop nothing. Meanwhile a sentinel, one of the fast ones, is measured again and again;
/// times are compared as multiples of its present time. If that moved, or another program used the
/// device, the measurements since are repeated, and nothing is measured while the device is
/// disturbed, unless that does not end. All that may still be the best then go into a final_round;
/// and the winner is run until its time is well known.
///
/// The times that configurations are compared by stay inside: the score is the median of a
/// configuration's times as they were measured.
///
/// Configurations that are measured more than once are not measured in one go: keeps() tells which
/// will be needed again soon; one that has been released all the same has to be made anew when a
/// task names it. The same numbers lead to the same tasks. Not thread-safe.
class race {
 public:
  /// @throws argument_error if the settings contradict themselves
  explicit race(const race_settings& settings = {});
  race(const race&) = delete;
  race& operator=(const race&) = delete;

  /// Adds a configuration that is ready to be measured.
  /// @param rank  its use of resources, in any unit: of two that are tied the one with the smaller
  ///              rank wins, and of those with the same rank the smaller number
  /// @param cost  turns a time, as if it had been measured on the device as it was at first, into
  ///              what configurations are compared by, less is better, over zero and finite; for
  ///              all configurations in one unit. Empty: the time itself
  /// @throws argument_error if it has arrived before, or the race has been closed
  void arrive(std::size_t configuration, double rank = 0, detail::race_cost cost = {});
  /// Takes a configuration that has been screened out of the race: it cannot win, whatever its
  /// times. Those that it has eliminated stay so. @throws argument_error if it has not arrived
  void exclude(std::size_t configuration);
  /// Declares that no more will arrive.
  void close() noexcept { closed_ = true; }

  /// The next measurement; the same again until add or fail is called. Empty while there is nothing
  /// to do before another configuration arrives or the race is closed, and when it has finished.
  std::optional<race_task> next();
  /// Takes the times of the task's runs. There may be fewer than were asked for: a mean of several
  /// runs counts as one sample. If a time is NaN, infinite, zero or negative, or there is none, the
  /// configuration fails. @throws argument_error if no task has been given
  void add(std::span<const run_time> times);
  /// Reports that the task's configuration cannot be measured. @throws argument_error as add
  void fail();

  bool finished() const noexcept { return finished_; }
  /// The winner once finished; empty if none could be measured.
  std::optional<std::size_t> winner() const noexcept { return winner_; }
  /// Those whose times were measured on a moving or disturbed device that did not calm down, and
  /// which may therefore be faster than they seem, or slower; the winner may be among them.
  std::vector<std::size_t> in_doubt() const;
  /// The winner; before the race has finished, the one that leads. Empty if none has converged.
  std::optional<std::size_t> leading();
  /// Those statistically tied with the winner, which is the first of them; once finished.
  const std::vector<std::size_t>& tied() const noexcept { return tied_; }
  /// Those that were in the final round, the one with the least score of the screening first.
  const std::vector<std::size_t>& finalists() const noexcept { return finalists_; }

  // The next functions throw argument_error for a configuration that has not arrived.

  race_state state(std::size_t configuration) const;
  /// True if it should be kept alive, because it is being measured or will probably be again. Never
  /// true for more than race_settings::live + 1 of those that have been measured.
  bool keeps(std::size_t configuration);
  /// Every measured time, in the order of the runs, except those that a drift of the device has
  /// spoilt; these too if there are no others.
  samples times(std::size_t configuration) const;
  /// The median of times(), as they were measured, not as they are compared. NaN if nothing was
  /// measured.
  run_time score(std::size_t configuration) const;
  /// The confidence interval of the score; from zero to infinity if there are no bounds.
  tune::interval interval(std::size_t configuration) const;

  const drift_report& drift() const noexcept { return book_.drift().report(); }
  /// The runs of all tasks that have been added.
  std::size_t runs() const noexcept { return runs_; }

 private:
  using entry = detail::race_entry;

  std::optional<race_task> decide();
  std::optional<race_task> screen();
  race_task screening_task(const entry& of) const;
  race_task sentinel_task(std::size_t place) const;

  void add_screening(entry& of);
  void judge(entry& of);
  void add_sentinel(entry& of, std::span<const run_time> times);
  void reopen(std::size_t block, double movement);
  void raise_alarm(double movement);
  void reopen_disturbed();
  void doubt(std::size_t block, double movement);
  bool is_full() const;
  bool may_win(entry& of, double movement);
  std::optional<std::size_t> leader();
  void choose_sentinel();
  void replace_sentinel();
  void begin_final_round();
  std::optional<race_task> final_task();
  void choose(const std::vector<std::size_t>& tied);
  std::optional<race_task> confirm();
  void add_final(const entry& of);
  void fail_final(const entry& of);
  void abandon_final_round();

  bool is_hopeless(entry& of, double margin);
  bool has_converged(entry& of);
  run_time best_upper();
  double margin() const;

  race_settings settings_;
  detail::race_book book_;
  std::deque<std::size_t> queue_;             // places of those that wait
  std::optional<std::size_t> active_;         // the one that is being screened
  std::optional<std::size_t> next_sentinel_;  // once visited
  bool closing_ = false;                      // the block waits for a visit to the sentinel
  bool alarmed_ = false;                      // the device has been found disturbed
  run_time visit_{0};  // what the latest visit to the sentinel took, all runs
  bool closed_ = false;
  bool finished_ = false;
  std::optional<race_task> task_;
  std::optional<run_time> best_upper_;  // until one converges or is corrected
  std::optional<detail::final_round> final_round_;
  std::vector<std::size_t> finalists_;
  std::optional<std::size_t> confirmed_;  // the one that has won, while its time is measured
  run_time confirming_{0};                // what was spent on that
  std::vector<std::size_t> tied_;
  std::optional<std::size_t> winner_;
  std::size_t runs_ = 0;
};

}  // namespace tune
