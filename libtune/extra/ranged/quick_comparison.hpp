// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "libtune/measure/measure.hpp"
#include "libtune/tune/engine/compile_pipeline.hpp"
#include "libtune/tune/engine/prior_knowledge.hpp"
#include "libtune/tune/engine/step_hooks.hpp"
#include "libtune/tune/engine/trial_attempt.hpp"
#include "libtune/tune/observer.hpp"
#include "libtune/tune/search_problem.hpp"

namespace tune::detail {

/// The memory of quick comparisons, from one to the next.
struct quick_memory {
  loaded_programs programs{};  ///< of searches too
  known_failures known{};
  std::optional<int> stage{};  ///< of the session, for which these are known
  /// Compiles the programs of comparisons to come; null: none was asked for.
  std::unique_ptr<compile_service> ahead{};
  std::size_t compiled = 0;  ///< programs of the last comparison that were not there before
};

/// Compares configurations at one size of many, at the price of a few runs of each: all once, or a
/// few times if they are short, then those that are nearly the fastest in turn, so that a change of
/// the device's speed meets all of them. Nothing is stored, and no result is checked; the caller
/// checks the configurations that it chooses. Used once, by one thread.
class quick_comparison {
 public:
  /// The parts that it works with. All of them outlive it.
  struct setting {
    const search_problem& problem;
    const tuning_subject& subject;
    const tune::device& device;
    std::span<const std::shared_ptr<observer>> observers;
    const measure_settings& measure;
    const wall_clock& now;
    compile_service& service;
    const step_hooks& hooks;
    const known_failures& known;
    /// After so long no further configuration is begun, and after twice as long those that are
    /// still compiled are left; empty: all are tried. So are the first two in any case, and where
    /// none works as many as a search needs to end.
    std::optional<std::chrono::nanoseconds> time{};
    bool checks = false;  ///< true: runs each once, and checks its result, in place of a comparison
  };

  explicit quick_comparison(const setting& setting);
  quick_comparison(const quick_comparison&) = delete;
  quick_comparison& operator=(const quick_comparison&) = delete;

  /// Returns a trial of each, in this order; those for which there was no time have no score, and
  /// are dropped.
  /// @param numbers  of configurations, the most promising first
  /// @throws device_fault_error if the device's context is lost for good
  std::vector<trial> run(std::span<const std::size_t> numbers);
  /// The number of programs that were compiled for it.
  std::size_t compiled() const noexcept { return pipeline_.compiled(); }

 private:
  using attempt_pointer = std::unique_ptr<trial_attempt>;

  struct entry {
    attempt_pointer attempt{};  // null: it is over, or was released
    trial result{};
    std::vector<double> times{};  // ns
    double least = 0;
    bool is_done = false;
  };

  bool is_late(int times = 1) const;
  void begin(std::size_t place, std::size_t number);
  void enter(attempt_pointer attempt);
  bool generate(trial_attempt& attempt) const;
  void with_room(trial_attempt& attempt, const std::function<void()>& step);
  void try_once(trial_attempt& attempt);
  void add_times(trial_attempt& of, std::vector<double>& times, int runs);
  void screen(entry& of);
  void keep_best();
  bool release_all();
  void yield_memory() const;
  void compare_best();
  void finish(entry& of);

  setting setting_;
  compile_pipeline pipeline_;
  std::chrono::steady_clock::time_point start_;
  std::vector<entry> entries_;
  std::unordered_map<std::size_t, std::size_t> places_;  // by configuration
  std::vector<std::size_t> live_;                        // places
  std::size_t tried_ = 0;
  double best_ = 0;  // the least time so far, ns; 0: none
};

/// Orders the programs of configurations from the setting's service, for a comparison to come, and
/// does not wait: those that have been compiled by then are in the cache of programs. A
/// configuration with several is taken as far as the first that is not there. What the service
/// delivers needs no attention: its orders have no numbers.
void compile_ahead(const quick_comparison::setting& setting, std::span<const std::size_t> numbers);

}  // namespace tune::detail
