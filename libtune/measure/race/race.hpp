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
#include "libtune/measure/race/jump_watch.hpp"
#include "libtune/measure/race/paired_round.hpp"
#include "libtune/measure/race/race_book.hpp"
#include "libtune/measure/timing/drift_monitor.hpp"
#include "libtune/measure/timing/samples.hpp"
#include "libtune/measure/timing/settings.hpp"

namespace tune {

/// The purpose of the runs of a task.
enum class race_step : std::uint8_t { screening, sentinel, final_round };

/// The next measurement: a configuration, and the number of runs, one after the other.
struct race_task {
  std::size_t configuration;
  int runs;
  race_step step;

  friend bool operator==(const race_task&, const race_task&) = default;
};

/// Finds the fastest of many configurations with few runs. It has neither clock nor device: it
/// returns the next measurement, and takes the results:
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
/// Each configuration is run twice, four times, and so on, until the interval of its median shows
/// that it cannot win, or it has had enough runs to count as converged. Contradictory runs
/// eliminate nothing. Meanwhile a sentinel, one of the fast configurations, is measured repeatedly;
/// times are compared as multiples of its present time. If that time has changed, or another
/// program used the device, the measurements since its last visit are repeated, and no others are
/// made while the device is disturbed, unless the disturbance persists. All configurations that may
/// still be the best then enter a final_round; and the winner is run until its time is accurate.
///
/// If the device's clock jumps so often that jumps between two visits to the sentinel may be
/// missed, there are no more such visits: the configurations that may be the best if their runs
/// were made in a slow state are compared in a paired_round.
///
/// Adjusted times for comparisons stay internal: the score is the median of a configuration's
/// measured times.
///
/// A configuration is measured several times with pauses: keeps() is true for those that will be
/// needed again soon; one that was released has to be made again when a task names it. The same
/// numbers lead to the same tasks. Not thread-safe.
class race {
 public:
  /// @throws argument_error if the settings contradict each other
  explicit race(const race_settings& settings = {});
  race(const race&) = delete;
  race& operator=(const race&) = delete;

  /// Adds a configuration that is ready to be measured.
  /// @param rank  its use of resources, in any unit: among tied configurations the smallest rank
  /// wins, and among equal ranks the smallest number
  /// @param cost  converts a time, adjusted to the initial speed of the device, to the quantity for
  /// comparisons: smaller is better, positive and finite, in the same unit for all configurations.
  /// Empty: the time itself
  /// @param times  of runs that it has made since the last task, such as those of a check; they
  /// count as its first runs of the screening
  /// @throws argument_error if it has arrived before, or the race has been closed
  void arrive(std::size_t configuration, double rank = 0, detail::race_cost cost = {},
              std::span<const run_time> times = {});
  /// True if a configuration whose only run took this long would be dropped, see
  /// race_settings::sure_after.
  bool is_surely_slower(run_time time);
  /// Excludes a configuration that has been screened: it cannot win, whatever its times.
  /// Configurations that it has eliminated stay eliminated. @throws argument_error if it has not
  /// arrived
  void exclude(std::size_t configuration);
  /// Declares that no more configurations will arrive.
  void close() noexcept { closed_ = true; }

  /// Returns the next measurement, and the same one until add or fail is called. Empty if it has
  /// finished, or has to wait until another configuration arrives or the race is closed.
  std::optional<race_task> next();
  /// Takes the times of the task's runs. There may be fewer than requested: a mean of several runs
  /// counts as one sample. If a time is NaN, infinite, zero or negative, or there are no times, the
  /// configuration fails. @throws argument_error without a task
  void add(std::span<const run_time> times);
  /// Reports that the task's configuration cannot be measured. @throws argument_error as add
  void fail();

  bool finished() const noexcept { return finished_; }
  /// The winner after the end; empty if no configuration could be measured.
  std::optional<std::size_t> winner() const noexcept { return winner_; }
  /// The configurations that were measured while the device changed its speed persistently, and may
  /// therefore be faster or slower than measured; the winner may be among them. On a device whose
  /// clock jumps, those that may be faster than the winner by more than 1 %.
  std::vector<std::size_t> in_doubt() const;
  /// The winner; before the race has finished, the leader. Empty if none has converged.
  std::optional<std::size_t> leading();
  /// The configurations statistically tied with the winner, which is the first; after the end.
  const std::vector<std::size_t>& tied() const noexcept { return tied_; }
  /// The configurations of the final round, the smallest score of the screening first.
  const std::vector<std::size_t>& finalists() const noexcept { return finalists_; }

  // The next functions throw argument_error for a configuration that has not arrived.

  race_state state(std::size_t configuration) const;
  /// True if it should be kept in memory, because it is being measured or will probably be measured
  /// again. Among measured configurations, true for at most race_settings::live + 1.
  bool keeps(std::size_t configuration);
  /// All measured times, in the order of the runs, except those distorted by drift of the device;
  /// these too if there are no others.
  samples times(std::size_t configuration) const;
  /// The median of times(), without adjustment. NaN without times.
  run_time score(std::size_t configuration) const;
  /// The confidence interval of the score; from zero to infinity if there are no bounds.
  tune::interval interval(std::size_t configuration) const;

  const drift_report& drift() const noexcept { return book_.drift().report(); }
  /// The number of runs in all tasks with added results.
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

  void watch(const entry& of);
  void watch_winner(const entry& of);
  bool has_jumping_finalists();
  void start_jumping();
  double admitted_jump() const;
  run_time least_cost_of_all() const;
  void screen_jumping(entry& of);
  void spare(entry& of);
  bool look_again();
  void add_look(entry& of);
  bool begin_paired_round();
  std::optional<race_task> paired_task();
  void settle(const std::vector<std::size_t>& undecided);

  bool is_hopeless(entry& of, double margin);
  bool is_surely_slower(run_time time, double margin);
  bool has_converged(entry& of);
  run_time best_upper();
  double margin() const;

  race_settings settings_;
  detail::race_book book_;
  std::deque<std::size_t> queue_;             // places of waiting configurations
  std::optional<std::size_t> active_;         // the one in screening
  std::optional<std::size_t> next_sentinel_;  // becomes the sentinel after a visit
  bool closing_ = false;                      // the block waits for a visit to the sentinel
  bool alarmed_ = false;                      // a disturbance of the device was found
  run_time visit_{0};                         // the total time of the latest visit to the sentinel
  bool closed_ = false;
  bool finished_ = false;
  std::optional<race_task> task_;
  std::optional<run_time> best_upper_;  // unset when one converges or is corrected
  std::optional<detail::final_round> final_round_;
  detail::jump_watch jumps_;
  std::optional<std::size_t> look_;   // a dropped one that is run once more
  std::optional<std::size_t> spare_;  // the best of the dropped ones, kept for that
  bool has_looked_ = false;
  bool jumping_ = false;       // from now on there are no more visits to a sentinel
  run_time jumping_least_{0};  // the least cost of one run, meanwhile
  std::optional<detail::paired_round> paired_round_;
  std::vector<std::size_t> finalists_;
  std::optional<std::size_t> confirmed_;  // the winner, while its time is measured
  run_time confirming_{0};                // time spent on that
  std::vector<std::size_t> tied_;
  std::optional<std::size_t> winner_;
  std::size_t runs_ = 0;
};

}  // namespace tune
