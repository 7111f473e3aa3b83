// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "libtune/base/cxx20.hpp"

namespace tune {

/// What became of a program that was given to a compile_pool.
struct compile_result {
  enum class status : std::uint8_t {
    built,          ///< binary is what context::create_program_from_binary takes
    build_failed,   ///< text is the compiler's log, as building in this process would have it
    crashed,        ///< the compiler took its process down
    timed_out,      ///< it was stopped at the time limit
    out_of_memory,  ///< it was stopped at the memory limit, or by the system
    unavailable,    ///< nothing was compiled: no worker can, or the ticket was cancelled
  };

  status what = status::unavailable;
  std::vector<std::byte> binary = {};
  std::string text = {};                ///< the log, or the reason; of built: empty
  std::chrono::nanoseconds elapsed{0};  ///< in the worker, from taking it up
};

/// "built", "build failed", "crashed" and so on.
std::string_view status_name(compile_result::status status) noexcept;

namespace detail {
class compile_job;
}

/// A program under way in a compile_pool. A handle: copies mean the same request. Thread-safe.
class compile_ticket {
 public:
  explicit compile_ticket(std::shared_ptr<detail::compile_job> job);

  bool done() const;

  /// Waits. Never throws for what became of the program. The reference lives as long as a copy of
  /// this ticket.
  const compile_result& result() const;

  /// Waits until it is done or the time has come. @returns done()
  bool wait_until(std::chrono::steady_clock::time_point deadline) const;

  /// Nobody with this ticket wants the result any more. If no other submission shares the program
  /// it is not begun, and is done as unavailable; one that has been begun is finished.
  void cancel() const;

  /// Calls the function once when it is done, on the pool's thread and at once if it is done
  /// already. It has to be short, not to throw and not to wait for another ticket.
  void on_done(std::function<void()> function) const;

 private:
  std::shared_ptr<detail::compile_job> job_;
  std::shared_ptr<std::atomic<bool>> cancelled_;
};

}  // namespace tune
