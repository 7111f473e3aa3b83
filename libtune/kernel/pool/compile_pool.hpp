// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "libtune/device/context.hpp"
#include "libtune/device/kernel.hpp"
#include "libtune/kernel/compiler.hpp"
#include "libtune/kernel/pool/compile_future.hpp"

namespace tune {

namespace detail {
class worker_pool;
}

/// The limits and the priority of a program that a pool compiles.
struct compile_limits {
  std::chrono::nanoseconds time = std::chrono::minutes(1);  ///< from the start in a worker
  int priority = 0;  ///< larger ones first; equal ones in the order of submission
};

struct compile_pool_options {
  std::string program = {};  ///< the helper's path; empty: nothing is available
  /// All arguments of a program whose main begins with serve_if_worker; empty: the helper's.
  std::vector<std::string> arguments = {};
  std::string absence = {};  ///< the reason for an empty program, for people; empty if none is
                             ///< wanted
  int workers = 1;           ///< the most that run at once; 0: nothing is available
  std::uint64_t memory_bytes = std::uint64_t{2} << 30;  ///< resident memory of one worker
  std::chrono::milliseconds idle_time{10'000};   ///< a worker that is idle for this long is ended
  std::chrono::milliseconds start_time{20'000};  ///< for a worker to report that it is ready
};

/// Compiles programs in helper processes, for CUDA and OpenCL. A compiler that crashes, hangs or
/// takes too much memory only affects its process. Workers are started on demand, are reused, and
/// end when idle. Thread-safe.
class compile_pool {
 public:
  /// The pool according to the present LIBTUNE_WORKER and LIBTUNE_WORKERS, with a size that fits
  /// the cores and the memory that this process may use. Its workers are this program, if it began
  /// with serve_if_worker and can be started again, or else the helper libtune-worker. It lives to
  /// the end of the process. A missing helper causes one warning. @throws environment_error
  static compile_pool& shared();
  /// True if workers of that pool are running. Does not create the pool. @throws environment_error
  static bool shared_runs();

  explicit compile_pool(compile_pool_options options);
  /// Ends the workers; programs under way end as unavailable.
  ~compile_pool();
  compile_pool(const compile_pool&) = delete;
  compile_pool& operator=(const compile_pool&) = delete;

  /// True if workers can presumably run: there is a program, and it has not failed to start or
  /// turned out to have another version (which has been logged, once).
  bool is_available() const;
  /// The reason why workers cannot run, for people: there is no program, or it is not usable. Empty
  /// if they can, or are not wanted.
  std::string why_unavailable() const;
  /// True if workers can compile for this kind of context: the backend is CUDA or OpenCL.
  static bool is_for(const context& context);
  /// True if they can compile for this context: is_available and is_for.
  bool can_compile(const context& context) const;

  /// The most workers that run at once.
  int workers() const noexcept;
  /// The number of running workers, including starting ones.
  int running() const;

  /// Starts workers before they are needed, each with the compiler of this context loaded. If that
  /// opens a GPU (OpenCL), only one: the others follow in turn when there is work. Returns at once.
  /// @param count  the wanted number of running workers, at most workers(); negative: workers()
  /// @throws seal_broken_error on a sealed thread
  void warm_up(const context& context, int count = -1);

  /// Submits a program. If the same program for the same device is under way, it is shared. Never
  /// waits; a failed program is not an exception.
  /// @param launches  expected launches of the program's kernels. If possible (PoCL), the worker
  /// also does
  ///                 the driver's work of the first launch with each of these shapes. A local size
  ///                 of
  ///                 0, 0, 0 is the one that the kernel requires; without launches, that size is
  ///                 assumed with any global size, which takes longer than given launches. A
  ///                 program
  ///                 of the same source that was made before this one is done also benefits.
  /// @throws seal_broken_error on a sealed thread
  compile_future submit(const context& context, const program_source& source,
                        compile_limits limits = {}, std::vector<nd_range> launches = {});

  /// The number of programs that this pool has finished.
  std::uint64_t completed() const;
  /// Waits until completed() differs from the given value, or the deadline has passed.
  /// @returns completed()
  std::uint64_t wait_any(std::uint64_t seen, std::chrono::steady_clock::time_point deadline) const;

 private:
  void end() noexcept;

  std::unique_ptr<detail::worker_pool> workers_;
};

/// Compiles programs by workers, and waits for them; if workers cannot, by another compiler. A
/// program that crashed a worker, or exceeded its time or memory, is not tried again: that is a
/// build_error.
class pooled_compiler final : public compiler {
 public:
  enum class use_pool : bool {
    always,
    /// If workers run already, or this object is compiling another program at the same time. A
    /// single program is compiled faster by the process itself.
    when_busy,
  };

  /// @param inner  has to outlive this object
  /// @param pool  has to outlive this object; null: compile_pool::shared()
  explicit pooled_compiler(const compiler& inner, use_pool use = use_pool::always,
                           compile_pool* pool = nullptr) noexcept
      : inner_(inner), pool_(pool), use_(use) {}

 private:
  program do_build(const context& context, const program_source& source) const override;

  const compiler& inner_;
  compile_pool* pool_;
  use_pool use_;
  mutable std::atomic<int> under_way_{0};
};

}  // namespace tune
