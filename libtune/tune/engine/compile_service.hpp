// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "libtune/kernel/compile_scope.hpp"

namespace tune {

class compile_pool;

/// The number of one order for a program, chosen by the caller.
enum class program_order : std::uint64_t {};

/// A program that was ordered and has been made, or could not be.
struct delivered_program {
  program_order order{};
  prebuilt_program made;
  std::chrono::nanoseconds elapsed{0};  ///< the compile time; zero: not known
};

/// The service that compiles the programs of a search while it measures. Used by one thread.
class compile_service {
 public:
  using time_point = std::chrono::steady_clock::time_point;

  compile_service() = default;
  virtual ~compile_service() = default;
  compile_service(const compile_service&) = delete;
  compile_service& operator=(const compile_service&) = delete;

  /// Returns the number of programs that it compiles at once. Zero: it compiles none, so each is
  /// compiled on the spot, by the call that asks for it.
  std::size_t capacity() const { return do_capacity(); }
  /// Announces that at most so many programs will be on order at once, so that it prepares for no
  /// more.
  void expect(std::size_t programs) { do_expect(programs); }
  /// Returns a program that has been compiled before; empty if it has to be ordered.
  std::optional<prebuilt_program> find(const wanted_program& wanted) { return do_find(wanted); }
  /// Starts to compile one. @param cost  its expected time in any unit: the greatest comes first
  void order(program_order order, const wanted_program& wanted, double cost) {
    do_order(order, wanted, cost);
  }
  /// Returns the programs made since the last call. If there are none, waits for the first until
  /// the given time at most; returns at once if nothing is on order.
  std::vector<delivered_program> deliver(time_point until) { return do_deliver(until); }
  /// Returns the reason, for people, why programs are compiled on the spot although helpers were
  /// wanted; empty if helpers compile them.
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
/// left to be compiled on the spot. Its destructor cancels what is on order.
/// @param pool        outlives it
/// @param context     for which nearly all programs will be
/// @param time_limit  for one program
std::unique_ptr<compile_service> make_compile_service(compile_pool& pool, const context& context,
                                                      std::chrono::nanoseconds time_limit);

}  // namespace tune
