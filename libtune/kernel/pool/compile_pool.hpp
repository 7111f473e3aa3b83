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
  std::chrono::nanoseconds time = std::chrono::minutes(1);  ///< from when a worker takes it up
  int priority = 0;  ///< the greater the earlier; equal ones in the order of submission
};

struct compile_pool_options {
  std::string program = {};  ///< the helper; empty: none, nothing is available
  /// All arguments of a program whose main begins with serve_if_worker; empty: those of the helper.
  std::vector<std::string> arguments = {};
  std::string absence = {};  ///< why there is none, for people; empty if nobody wants any
  int workers = 1;           ///< most that run at once; 0: nothing is available
  std::uint64_t memory_bytes = std::uint64_t{2} << 30;  ///< of one worker, resident
  std::chrono::milliseconds idle_time{10'000};   ///< a worker without work for so long is ended
  std::chrono::milliseconds start_time{20'000};  ///< for a worker to report for work
};

/// Compiles programs in helper processes, for CUDA and OpenCL. A compiler that crashes, hangs or
/// takes too much memory takes down its process alone. Workers are started when they are first
/// needed, stay for the next program, and are ended when idle. Thread-safe.
class compile_pool {
 public:
  /// The pool that LIBTUNE_WORKER and LIBTUNE_WORKERS ask for now, as large as the cores and the
  /// memory that this process may use allow. Its workers are this program, if that began with
  /// serve_if_worker and can be started again, or else the helper libtune-worker. It lives to the
  /// end of the process. Where there is no helper, a warning says so, once. @throws
  /// environment_error
  static compile_pool& shared();
  /// True if workers of that pool run. Makes no pool. @throws environment_error
  static bool shared_runs();

  explicit compile_pool(compile_pool_options options);
  /// Ends the workers; programs under way are done as unavailable.
  ~compile_pool();
  compile_pool(const compile_pool&) = delete;
  compile_pool& operator=(const compile_pool&) = delete;

  /// True if workers can run, as far as is known: there is a program, and it has not failed to
  /// start or turned out to be of another version (which has been logged, once).
  bool is_available() const;
  /// The reason why no workers can run, for people: there is no program, or it cannot be used.
  /// Empty if they can, or none are wanted.
  std::string why_unavailable() const;
  /// True if workers compile for such contexts at all: the backend is CUDA or OpenCL.
  static bool is_for(const context& context);
  /// True if they can compile for this context: is_available and is_for.
  bool can_compile(const context& context) const;

  /// Most that run at once.
  int workers() const noexcept;
  /// Those that run now, also while they start.
  int running() const;

  /// Starts workers before they are needed, each with the compiler of this context loaded; where
  /// that has to open a GPU (OpenCL), one alone: the others follow in turn when they find work.
  /// Returns at once. @param count  how many are to run, at most workers(); negative: that many
  /// @throws seal_broken_error on a sealed thread
  void warm_up(const context& context, int count = -1);

  /// Has a program compiled. The same program for the same device that is under way already is
  /// shared. Never waits; never throws for the outcome of the program.
  /// @param launches  shapes that kernels of the program will be launched with. The worker does the
  ///                  driver's work of the first such launch too, where that is possible
  ///                  (PoCL). A local size of 0, 0, 0 is the one that the kernel requires; if there
  ///                  are no launches that size is meant with any global size, which takes longer
  ///                  than named launches. It serves a program of the same source, too, that was
  ///                  made before this one is done.
  /// @throws seal_broken_error on a sealed thread
  compile_future submit(const context& context, const program_source& source,
                        compile_limits limits = {}, std::vector<nd_range> launches = {});

  /// The number of programs that have been done in the life of this pool.
  std::uint64_t completed() const;
  /// Waits until completed() is no longer what the caller has seen, or the time has come.
  /// @returns completed()
  std::uint64_t wait_any(std::uint64_t seen, std::chrono::steady_clock::time_point deadline) const;

 private:
  void end() noexcept;

  std::unique_ptr<detail::worker_pool> workers_;
};

/// Has programs compiled by workers, and waits for them; where workers cannot, by another compiler.
/// A program that crashed a worker, or took too much time or memory there, is not tried again: it
/// is a build_error that says so.
class pooled_compiler final : public compiler {
 public:
  enum class use_pool : bool {
    always,
    /// If workers run already, or another program is being compiled through this object at the same
    /// time. One program alone is compiled sooner by the process itself.
    when_busy,
  };

  /// @param inner  outlives this
  /// @param pool  outlives this; null: compile_pool::shared()
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
