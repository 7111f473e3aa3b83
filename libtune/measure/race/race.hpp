// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <vector>

#include "libtune/measure/race/play_off.hpp"
#include "libtune/measure/race/race_book.hpp"
#include "libtune/measure/timing/confidence_interval.hpp"
#include "libtune/measure/timing/drift_monitor.hpp"
#include "libtune/measure/timing/measure_settings.hpp"
#include "libtune/measure/timing/samples.hpp"

namespace tune {

/// Why a race asks for runs.
enum class race_step : std::uint8_t { screening, sentinel, play_off };

/// What to measure next: a configuration, and how often to run it, one run after the other.
struct race_task {
  std::size_t configuration;
  int runs;
  race_step step;

  friend bool operator==(const race_task&, const race_task&) = default;
};

/// Finds the fastest of many configurations with few runs. Fed with numbers only: it has neither
/// clock nor device. It is asked what to measure, and told what came of it:
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
/// that it cannot win, or it has been run often enough to be settled. Runs that contradict each
/// other drop nothing. Meanwhile a sentinel, one of the fast ones, is measured again and again;
/// times are compared as multiples of what it takes at the time. Where it moved, or somebody else
/// had the device, what was measured meanwhile is measured again, and nothing is measured while the
/// device is disturbed, unless that does not end. What may still be the best then goes into a
/// play_off; and the winner is run until its time is well known.
///
/// What a configuration is compared by stays inside: its score is the median of its times as they
/// were measured.
///
/// Configurations that are measured more than once are not measured at one go: keeps() tells which
/// will be needed again soon; what has been released all the same has to be made anew when a task
/// names it. The same numbers lead to the same tasks. Not thread-safe.
class race {
 public:
  /// @throws argument_error if the settings contradict themselves
  explicit race(const race_settings& settings = {});
  race(const race&) = delete;
  race& operator=(const race&) = delete;

  /// A configuration is ready to be measured.
  /// @param rank  its use of resources, in any unit: of two that cannot be told apart the one with
  ///              the smaller rank wins, and of those with the same rank the smaller number
  /// @throws argument_error if it has arrived before, or the race has been closed
  void arrive(std::size_t configuration, double rank = 0);
  /// No more will arrive.
  void close() noexcept { closed_ = true; }

  /// What to measure now; the same again until add or fail is called. Empty while there is nothing
  /// to do before another configuration arrives or the race is closed, and when it has finished.
  std::optional<race_task> next();
  /// The times of the task's runs. Fewer than were asked for will do: a mean of several runs counts
  /// as one sample. Where a time is NaN, infinite, zero or negative, or there is none, the
  /// configuration fails. @throws argument_error if no task has been given
  void add(std::span<const run_time> times);
  /// The task's configuration cannot be measured. @throws argument_error as add
  void fail();

  bool finished() const noexcept { return finished_; }
  /// Once finished; empty if none could be measured.
  std::optional<std::size_t> winner() const noexcept { return winner_; }
  /// Those whose times were measured while the device moved, or was disturbed, and did not settle,
  /// and which may therefore be faster than they seem, or slower; the winner among them.
  std::vector<std::size_t> in_doubt() const;
  /// The winner; before the race has finished, the one that leads. Empty if none is settled.
  std::optional<std::size_t> leading();
  /// Those that cannot be told apart from the winner, which is the first of them; once finished.
  const std::vector<std::size_t>& tied() const noexcept { return tied_; }
  /// Those that were in the play-off, the one with the least score of the screening first.
  const std::vector<std::size_t>& finalists() const noexcept { return finalists_; }

  /// What follows throws argument_error for a configuration that has not arrived.

  race_state state(std::size_t configuration) const;
  /// Whether to keep it alive, because it is being measured or will probably be again. Never true
  /// for more than race_settings::live + 1 of those that have been measured.
  bool keeps(std::size_t configuration);
  /// Every time that was measured, in the order of the runs, but for those that a drift of the
  /// device has spoilt; these too if there are no others.
  samples times(std::size_t configuration) const;
  /// The median of times(), as they were measured: what it took, not what it is compared by. NaN if
  /// nothing was measured.
  run_time score(std::size_t configuration) const;
  /// The confidence interval of the score; from zero to infinity if nothing is known.
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
  void begin_play_off();
  std::optional<race_task> play();
  void choose(const std::vector<std::size_t>& tied);
  std::optional<race_task> confirm();
  void add_final(const entry& of);
  void fail_final(const entry& of);
  void abandon_play_off();

  bool is_hopeless(entry& of, double margin);
  bool is_settled(entry& of);
  run_time best_upper();
  double margin() const;

  race_settings settings_;
  detail::race_book book_;
  std::deque<std::size_t> queue_;      // places of those that wait
  std::optional<std::size_t> active_;  // the one that is being screened
  std::optional<std::size_t> heir_;    // the one that will be the sentinel, once visited
  bool closing_ = false;               // the block waits for a visit to the sentinel
  bool alarmed_ = false;               // the device has been found disturbed
  run_time visit_{0};                  // what the latest visit to the sentinel took, all runs
  bool closed_ = false;
  bool finished_ = false;
  std::optional<race_task> task_;
  std::optional<run_time> best_upper_;  // until something is settled or corrected
  std::optional<detail::play_off> play_off_;
  std::vector<std::size_t> finalists_;
  std::optional<std::size_t> confirmed_;  // the one that has won, while its time is measured
  run_time confirming_{0};                // what was spent on that
  std::vector<std::size_t> tied_;
  std::optional<std::size_t> winner_;
  std::size_t runs_ = 0;
};

}  // namespace tune
