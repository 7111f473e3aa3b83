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

/// Names one order for a program; given by who orders it.
enum class program_order : std::uint64_t {};

/// A program that was ordered and has been made, or could not be.
struct delivered_program {
  program_order order{};
  prebuilt_program made;
  std::chrono::nanoseconds elapsed{0};  ///< that the compiler took; zero: not known
};

/// Where a search has programs compiled while it measures. Used by one thread.
class compile_service {
 public:
  using time_point = std::chrono::steady_clock::time_point;

  compile_service() = default;
  virtual ~compile_service() = default;
  compile_service(const compile_service&) = delete;
  compile_service& operator=(const compile_service&) = delete;

  /// How many programs it works on at once. Zero: none, so they are compiled where they are asked
  /// for.
  std::size_t capacity() const { return do_capacity(); }
  /// At most so many programs will be on order at once, so that it need not prepare for more.
  void expect(std::size_t programs) { do_expect(programs); }
  /// A program that has been made before; empty if it has to be ordered.
  std::optional<prebuilt_program> find(const wanted_program& wanted) { return do_find(wanted); }
  /// Starts to make one. @param cost  how long it will take, in any unit: the dearest come first
  void order(program_order order, const wanted_program& wanted, double cost) {
    do_order(order, wanted, cost);
  }
  /// What has been made since the last call, waiting for the first of them until then at most.
  /// Returns at once if nothing is on order.
  std::vector<delivered_program> deliver(time_point until) { return do_deliver(until); }
  /// Why programs are compiled where they are asked for though helpers were wanted, for people;
  /// empty if they are not.
  std::string shortcoming() const { return do_shortcoming(); }

 private:
  virtual std::size_t do_capacity() const = 0;
  virtual void do_expect(std::size_t /*programs*/) {}
  virtual std::optional<prebuilt_program> do_find(const wanted_program& wanted) = 0;
  virtual void do_order(program_order order, const wanted_program& wanted, double cost) = 0;
  virtual std::vector<delivered_program> do_deliver(time_point until) = 0;
  virtual std::string do_shortcoming() const { return {}; }
};

/// Has programs compiled by the workers of a pool, and keeps their binaries in the cache of
/// programs, where it also looks first. What no worker can compile after all is left to be compiled
/// where it is asked for. Its end gives up what is on order.
/// @param pool        outlives it
/// @param context     for which nearly all programs will be
/// @param time_limit  for one program
std::unique_ptr<compile_service> make_compile_service(compile_pool& pool, const context& context,
                                                      std::chrono::nanoseconds time_limit);

}  // namespace tune
