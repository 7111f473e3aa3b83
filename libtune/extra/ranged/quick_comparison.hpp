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

/// The memory between quick comparisons.
struct quick_memory {
  loaded_programs programs{};  ///< shared with searches
  known_failures known{};
  std::optional<int> stage{};  ///< the session's stage for the members below
  /// Compiles the programs of later comparisons; null before the first request.
  std::unique_ptr<compile_service> ahead{};
  std::size_t compiled = 0;  ///< programs that the last comparison had to compile
};

/// Compares configurations at one of many sizes, at the price of a few runs of each: all once, or a
/// few times if they are short, then the nearly fastest ones in turn, so that a change of the
/// device's speed affects all of them. Stores nothing and checks no result; the caller checks the
/// configurations that it chooses. Used once, by one thread.
class quick_comparison {
 public:
  /// The parts that it works with. All must outlive it.
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
    /// The time after which no further configuration is begun; after twice the time those still
    /// being compiled are abandoned; empty: all are tried. The first two are always tried, and
    /// without a working one as many as a search needs to end.
    std::optional<std::chrono::nanoseconds> time{};
    bool checks = false;  ///< true: runs each once, and checks its result, instead of a comparison
  };

  explicit quick_comparison(const setting& setting);
  quick_comparison(const quick_comparison&) = delete;
  quick_comparison& operator=(const quick_comparison&) = delete;

  /// Returns a trial of each, in this order; those skipped for lack of time have no score, and are
  /// marked as dropped.
  /// @param numbers  configuration numbers, the most promising first
  /// @throws device_fault_error if the device's context is lost for good
  std::vector<trial> run(std::span<const std::size_t> numbers);
  /// The number of programs that were compiled for it.
  std::size_t compiled() const noexcept { return pipeline_.compiled(); }

 private:
  using attempt_pointer = std::unique_ptr<trial_attempt>;

  struct entry {
    attempt_pointer attempt{};  // null: completed or released
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

/// Requests the programs of configurations from the setting's service, for a later comparison, and
/// does not wait: those compiled by then are in the cache of programs. A configuration with several
/// programs is followed up to the first missing one. The service's deliveries need no attention:
/// these requests have no numbers.
void compile_ahead(const quick_comparison::setting& setting, std::span<const std::size_t> numbers);

}  // namespace tune::detail
