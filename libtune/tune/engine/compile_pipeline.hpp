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
#include <string>
#include <vector>

#include "libtune/base/cxx20.hpp"
#include "libtune/kernel/compile_scope.hpp"
#include "libtune/tune/engine/trial_attempt.hpp"

namespace tune {

class compile_pool;

/// The number of one request for a program, chosen by the caller.
enum class program_order : std::uint64_t {};

/// A requested program after its compilation, successful or not.
struct delivered_program {
  program_order order{};
  prebuilt_program made;
  std::chrono::nanoseconds elapsed{0};  ///< the compile time; zero if unknown
};

/// The service that compiles the programs of a search during measurements. Used by one thread.
class compile_service {
 public:
  using time_point = std::chrono::steady_clock::time_point;

  compile_service() = default;
  virtual ~compile_service() = default;
  compile_service(const compile_service&) = delete;
  compile_service& operator=(const compile_service&) = delete;

  /// Returns the number of programs that it compiles at once. Zero: it compiles none, so the call
  /// that needs a program compiles it on the spot.
  std::size_t capacity() const { return do_capacity(); }
  /// Announces the greatest number of programs on order at once, so that it prepares for no more.
  void expect(std::size_t programs) { do_expect(programs); }
  /// Returns a program that is already compiled; empty if it must be ordered.
  std::optional<prebuilt_program> find(const wanted_program& wanted) { return do_find(wanted); }
  /// Starts to compile a program. @param cost  its expected time in any unit: the greatest comes
  /// first
  void order(program_order order, const wanted_program& wanted, double cost) {
    do_order(order, wanted, cost);
  }
  /// Returns the programs made since the last call. Without any, waits for the first until the
  /// given time at most; returns at once if nothing is on order.
  std::vector<delivered_program> deliver(time_point until) { return do_deliver(until); }
  /// Returns the reason, for users, why programs are compiled on the spot although helpers were
  /// requested; empty if helpers compile them.
  std::string shortcoming() const { return do_shortcoming(); }

 private:
  virtual std::size_t do_capacity() const = 0;
  virtual void do_expect(std::size_t /*programs*/) {}
  virtual std::optional<prebuilt_program> do_find(const wanted_program& wanted) = 0;
  virtual void do_order(program_order order, const wanted_program& wanted, double cost) = 0;
  virtual std::vector<delivered_program> do_deliver(time_point until) = 0;
  virtual std::string do_shortcoming() const { return {}; }
};

/// Returns a service that has programs compiled by the workers of a pool, and keeps their binaries
/// in the cache of programs, where it also looks first. A program that no worker can compile is
/// left to be compiled on the spot. Its destructor cancels all requests.
/// @param pool        must outlive it
/// @param context     the context of nearly all programs
/// @param time_limit  for one program
std::unique_ptr<compile_service> make_compile_service(compile_pool& pool, const context& context,
                                                      std::chrono::nanoseconds time_limit);

/// A model of compile times, learned from the compiled programs: the cost of a configuration is a
/// product of one factor for each of its candidates. It is accurate enough to start with the most
/// expensive programs, so that none of them remains at the end. It uses numbers only.
class compile_cost {
 public:
  /// Adds a measured compile time. @param choice  for each parameter the index of its candidate
  void learn(std::span<const std::size_t> choice, std::chrono::nanoseconds elapsed);

  /// Returns the predicted compile time in ns; zero before the first measurement.
  double predict(std::span<const std::size_t> choice) const;

 private:
  double factor(std::size_t parameter, std::size_t candidate) const;

  std::vector<std::vector<double>> factors_;  // logarithms, by parameter and candidate
  double first_ = 0;                          // the logarithm of the first compile time
  bool knows_any_ = false;
};

/// The mean of times, the latest counting most.
class recent_mean {
 public:
  void add(std::chrono::nanoseconds time) {
    constexpr double share_of_latest = 0.2;
    const auto ns = static_cast<double>(time.count());
    mean_ = mean_ == 0 ? ns : mean_ + share_of_latest * (ns - mean_);
  }
  /// Returns the mean in ns; zero without times.
  double get() const noexcept { return mean_; }

 private:
  double mean_ = 0;
};

/// Configurations whose programs are being compiled while others are measured.
///
/// To find out the programs of a configuration, the author's function is called for it up to the
/// first missing program, which is ordered from the service. When it has arrived, take() returns
/// the configuration, and its caller generates it. If nothing else is to be measured before it and
/// the service has all its programs, that first call generates it. Used by one thread, the
/// search's, so that no other thread calls the author's function.
class compile_pipeline {
 public:
  using time_point = compile_service::time_point;

  /// @param service  must outlive this
  /// @param depth    the number of configurations to hold for each program that the service
  ///                 compiles at once: two keep it busy; with more it can start with the most
  ///                 expensive
  /// @param apart    true if the service uses the cores that are measured: then take() waits until
  ///                 it is idle, and all configurations are taken before more are added
  /// @param few      true to hold no more than keep either the service or the caller busy, the
  ///                 slower one of the two, because the caller chooses better with more results.
  ///                 Without effect if apart
  compile_pipeline(compile_service& service, std::size_t depth, bool apart = false,
                   bool few = false)
      : service_(service), depth_(depth), apart_(apart), few_(few && !apart) {}

  /// Adds a configuration, or adds it again if it needs another program.
  void add(std::unique_ptr<trial_attempt> attempt);

  /// Returns the next configuration that is over, live, or has all its requested programs, in the
  /// order of their compilation. Waits until the given time at most; null if none is available by
  /// then.
  std::unique_ptr<trial_attempt> take(time_point until);

  /// True if more configurations would keep the service busy. Until the latest configuration has
  /// requested a program, one at a time. May receive programs from the service.
  bool has_room();

  /// Removes all configurations. Programs that are still being compiled are ignored on arrival.
  void abandon() noexcept;

  bool empty() const noexcept { return compiling_.empty() && done_.empty(); }
  /// The number of configurations that wait for a program.
  std::size_t compiling() const noexcept { return compiling_.size(); }
  /// The number of programs that the service has compiled.
  std::size_t compiled() const noexcept { return compiled_; }

 private:
  void order_or_finish(std::unique_ptr<trial_attempt> attempt, bool has_looked);
  void receive(time_point until);
  std::size_t most_held() const;

  compile_service& service_;
  std::size_t depth_;
  bool apart_;
  bool few_;
  recent_mean compile_time_;
  recent_mean turn_time_;  // of the caller, from the return of take() to the next call
  std::optional<time_point> returned_;
  compile_cost cost_;
  std::map<program_order, std::unique_ptr<trial_attempt>> compiling_;
  std::deque<std::unique_ptr<trial_attempt>> done_;
  std::uint64_t orders_ = 0;
  std::size_t compiled_ = 0;
  bool compiles_ahead_ = false;  // false: the latest configuration requested no program
};

}  // namespace tune
