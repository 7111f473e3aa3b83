// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "libtune/base/file_descriptor.hpp"
#include "libtune/base/sha256.hpp"
#include "libtune/kernel/pool/compile_future.hpp"
#include "libtune/kernel/pool/compile_pool.hpp"
#include "libtune/kernel/pool/worker.hpp"
#include "libtune/kernel/pool/worker_message.hpp"

namespace tune::detail {

/// The implementation of a compile_pool: its workers, and the thread that starts them, sends them
/// orders, takes their reports and ends them. The thread lives while there is a worker or an order.
/// Thread-safe.
class worker_pool {
 public:
  explicit worker_pool(compile_pool_options options);
  /// Calls stop().
  ~worker_pool();
  worker_pool(const worker_pool&) = delete;
  worker_pool& operator=(const worker_pool&) = delete;

  const compile_pool_options& options() const noexcept { return options_; }
  completion_board& board() const noexcept { return *board_; }

  bool is_available() const;
  /// See compile_pool.
  std::string why_unavailable() const;
  int running() const;
  void warm_up(compile_target target, int count);
  std::shared_ptr<compile_job> submit(const sha256_digest& key, compile_order order,
                                      compile_limits limits);
  /// Ends the thread and all workers for good; programs under way end as unavailable.
  void stop() noexcept;

 private:
  /// Orders by priority, then by submission.
  using place_in_queue = std::pair<int, std::uint64_t>;

  struct missing_workers {
    int count = 0;  ///< no workers if it is not positive
    std::optional<compile_target> prepare = {};
  };

  // For callers from any thread.
  void need_thread();
  void wake() const noexcept;

  // For the pool's thread.
  void run();
  bool run_once();
  void start_workers();
  /// Call this without the board's mutex, which it locks.
  missing_workers look_for_work();
  int missing_in_turn(int waiting) const;
  int count(worker::state which) const;
  int staying() const;
  void give_orders();
  void take_reports();
  void drop_ended();
  std::string describe_failure(const std::string& reason) const;
  void fail(const std::string& reason);
  void finish_all(const std::string& reason);
  std::chrono::milliseconds time_to_wait() const;

  const compile_pool_options options_;
  const std::shared_ptr<completion_board> board_;
  file_descriptor wake_;

  // Guarded by the board's mutex.
  std::map<place_in_queue, worker_task> queue_;
  std::map<sha256_digest, std::weak_ptr<compile_job>> under_way_;
  std::uint64_t submitted_ = 0;
  compile_target warm_target_;
  int warm_count_ = 0;
  int running_ = 0;
  bool available_;
  std::string why_unavailable_;
  bool stopping_ = false;
  bool thread_runs_ = false;
  std::thread thread_;

  // Used by the pool's thread only.
  std::vector<std::unique_ptr<worker>> workers_;
  int failed_starts_ = 0;
};

}  // namespace tune::detail
