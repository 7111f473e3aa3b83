// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "libtune/base/cxx20.hpp"
#include "libtune/tune/engine/compile_service.hpp"
#include "libtune/tune/engine/trial_attempt.hpp"

namespace tune {

/// A model of compile times, learned from the programs that have been compiled: the cost of a
/// configuration is a product of one factor for each of its candidates. Accurate enough to start
/// with the most expensive, so that none of them is left when the others are done. Takes numbers
/// only.
class compile_cost {
 public:
  /// Adds a measured compile time. @param choice  for each parameter the index of its candidate
  void learn(std::span<const std::size_t> choice, std::chrono::nanoseconds elapsed);

  /// Returns the predicted compile time in ns; zero before the first one has been learned.
  double predict(std::span<const std::size_t> choice) const;

 private:
  double factor(std::size_t parameter, std::size_t candidate) const;

  std::vector<std::vector<double>> factors_;  // logarithms, by parameter and candidate
  double first_ = 0;                          // the logarithm of the first compile time
  bool knows_any_ = false;
};

/// Configurations whose programs are being compiled while others are measured.
///
/// To learn what a configuration compiles, the author's function is called for it as far as the
/// first program that is not there; that program is ordered from the service. When it has arrived,
/// take() returns the configuration, and its caller generates it. Used by one thread, that of the
/// search, so that no other thread calls the author's function.
class compile_pipeline {
 public:
  using time_point = compile_service::time_point;

  /// @param service  outlives this
  /// @param depth    the number of configurations to hold for each program that the service
  ///                 compiles at once: two keep it busy; more let it start with the most expensive
  /// @param apart    true if the service uses the cores that are measured: then take() waits until
  ///                 it is idle, and all configurations are taken before more are added
  compile_pipeline(compile_service& service, std::size_t depth, bool apart = false)
      : service_(service), depth_(depth), apart_(apart) {}

  /// Takes a configuration in, or again if it turned out to need another program.
  void add(std::unique_ptr<trial_attempt> attempt);

  /// Returns the next configuration that is over, live, or has all programs that it has asked for,
  /// in the order in which they were compiled. Waits for one until the given time at most; null if
  /// there is none by then.
  std::unique_ptr<trial_attempt> take(time_point until);

  /// True if more configurations would keep the service busy. One at a time while the latest one
  /// has not asked for a program.
  bool has_room() const;

  /// Removes all configurations. Programs that are being compiled are ignored when they arrive.
  void abandon() noexcept;

  bool empty() const noexcept { return compiling_.empty() && done_.empty(); }
  /// The number of configurations that wait for a program.
  std::size_t compiling() const noexcept { return compiling_.size(); }
  /// The number of programs that the service has compiled.
  std::size_t compiled() const noexcept { return compiled_; }

 private:
  void order_or_finish(std::unique_ptr<trial_attempt> attempt);
  void receive(time_point until);

  compile_service& service_;
  std::size_t depth_;
  bool apart_;
  compile_cost cost_;
  std::map<program_order, std::unique_ptr<trial_attempt>> compiling_;
  std::deque<std::unique_ptr<trial_attempt>> done_;
  std::uint64_t orders_ = 0;
  std::size_t compiled_ = 0;
  bool compiles_ahead_ = false;  // false: the latest one asked for no program
};

}  // namespace tune
