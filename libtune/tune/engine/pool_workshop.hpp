// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "libtune/kernel/pool/compile_pool.hpp"
#include "libtune/tune/engine/program_workshop.hpp"

namespace tune {

/// Has programs compiled by the helper processes of a pool, and keeps what they make in the cache
/// of programs, where it also looks first. What no helper can make after all is left to be compiled
/// where it is asked for.
class pool_workshop final : public program_workshop {
 public:
  /// @param pool        outlives this
  /// @param context     for which nearly all programs will be
  /// @param time_limit  for one program
  pool_workshop(compile_pool& pool, const context& context, std::chrono::nanoseconds time_limit);
  /// Gives up what is on order.
  ~pool_workshop() override;

 private:
  struct pending {
    program_order order;
    wanted_program wanted;
    compile_ticket ticket;
  };

  std::size_t do_capacity() const override { return capacity_; }
  void do_expect(std::size_t programs) override { expected_ = programs; }
  std::optional<supplied_program> do_find(const wanted_program& wanted) override;
  void do_order(program_order order, const wanted_program& wanted, double cost) override;
  std::vector<delivered_program> do_deliver(time_point until) override;
  std::string do_shortcoming() const override;

  std::vector<delivered_program> collect();

  compile_pool& pool_;
  compile_limits limits_;
  bool is_for_pools_;
  std::size_t capacity_;
  std::size_t expected_;
  bool started_ = false;
  std::vector<pending> pending_;
};

}  // namespace tune
