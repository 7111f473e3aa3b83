// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "libtune/base/cxx20.hpp"
#include "libtune/base/error.hpp"
#include "libtune/device/device.hpp"
#include "libtune/testing/fake_kernel.hpp"

namespace tune::testing {

/// A clock that moves only by calls of advance, so that tests of timing need not wait. Its time
/// points have the type of std::chrono::steady_clock: pass now() in place of that clock.
/// Thread-safe.
class fake_clock {
 public:
  /// A point of std::chrono::steady_clock; the clock starts at its epoch.
  using time_point = std::chrono::steady_clock::time_point;

  /// The epoch plus all spans of advance.
  time_point now() const noexcept {
    return time_point(std::chrono::nanoseconds(now_.load(std::memory_order_relaxed)));
  }

  /// Advances the clock and returns the time before. A negative span does not move it, because a
  /// steady clock never goes back.
  time_point advance(std::chrono::nanoseconds span) noexcept {
    const auto ticks = span.count() > 0 ? span.count() : 0;
    return time_point(std::chrono::nanoseconds(now_.fetch_add(ticks, std::memory_order_relaxed)));
  }

 private:
  std::atomic<std::chrono::nanoseconds::rep> now_{0};
};

/// The calls that a fake device counts, and can be set to fail.
enum class fake_call : std::size_t {
  compile,        ///< compilation of one program
  create_kernel,  ///< creation of a kernel of a program, by its name
  allocate,       ///< allocation of one buffer
  launch,         ///< launch of one kernel
  copy,           ///< copy between buffers or with the host
  fill,           ///< fill of a region of a buffer
  finish,         ///< command_queue::finish and event::wait
  load,           ///< context::create_program_from_binary
  capture,        ///< capture of commands into a graph
  launch_graph,   ///< launch of all commands of a graph
};

/// The failure of a call.
struct fake_failure {
  std::string reason = "it was told to fail";      ///< text of the error; the log of a build_error
  device_failure failure = device_failure::other;  ///< a compile throws build_error instead
  bool sticky = false;  ///< every later call fails too, as in CUDA after an illegal access
};

/// Failures on demand, and the count of calls. Thread-safe.
class fake_failures {
 public:
  /// True if a program with these macros must fail. Called under a lock, so it must make no device
  /// call.
  using predicate = std::function<bool(const fake_macros&)>;

  /// Fails the nth call of this kind from now; 1 is the next. @throws argument_error if nth is 0
  void fail_next(fake_call call, std::size_t nth = 1, fake_failure failure = {});

  /// Fails every call of this kind for a program with fitting macros, until clear().
  /// @throws argument_error unless the call is compile, create_kernel or launch: only these have a
  ///         program
  void fail_when(fake_call call, predicate fits, fake_failure failure = {});

  /// Removes all requested failures, including a sticky one.
  void clear();

  /// The number of calls of this kind, failed ones included.
  std::size_t calls(fake_call call) const;

  /// Counts a call and returns its failure, if any. macros is null if the call has no program.
  /// Allocates nothing without a failure.
  std::optional<fake_failure> count(fake_call call, const fake_macros* macros);

  /// The sticky failure that has occurred, if any.
  std::optional<fake_failure> stuck() const;

 private:
  static constexpr std::size_t call_kinds = 10;

  struct rule {
    fake_call call;
    std::size_t countdown;  ///< calls until it fails; unused if fits is set
    predicate fits;
    fake_failure failure;
  };

  const rule* find_due(fake_call call, const fake_macros* macros);

  mutable std::mutex mutex_;
  std::array<std::size_t, call_kinds> calls_{};
  std::vector<rule> rules_;
  std::optional<fake_failure> stuck_;
};

class fake_state;

/// The time by which each command moves the clock of a fake device.
struct fake_times {
  std::chrono::nanoseconds kernel{1000};        ///< unless set by set_time
  std::chrono::nanoseconds copy{1000};          ///< the time for any number of bytes
  std::chrono::nanoseconds fill{1000};          ///< the time for any number of bytes
  std::chrono::nanoseconds compile{1'000'000};  ///< the time for one program
};

/// The properties of a fake device.
struct fake_device_options {
  /// The identity of stored results: name, platform and driver version.
  device_identity identity{"fake device", "fake platform", "1.0"};
  std::string backend = "fake";         ///< the name of its API
  device_kind kind = device_kind::gpu;  ///< such as a GPU
  /// A launch or an allocation that exceeds one of these limits fails.
  device_limits limits{.max_work_group_size = 1024,
                       .max_work_group_extent = {1024, 1024, 64},
                       .local_memory_bytes = std::size_t{48} << 10,
                       .global_memory_bytes = std::size_t{1} << 30,
                       .max_allocation_bytes = std::size_t{256} << 20,
                       .buffer_alignment_bytes = 64,
                       .compute_units = 4,
                       .simd_group_size = 32,
                       .max_dynamic_local_memory_bytes = std::size_t{64} << 10};
  fake_times times = {};       ///< virtual time of each command
  bool command_graphs = true;  ///< true if its queues can capture
  /// The access of the host to managed memory.
  managed_memory_kind managed_memory = managed_memory_kind::direct;
  device_hardware hardware = {};  ///< its identifiers, and the generation of an NVIDIA device
};

/// One launch that succeeded.
struct fake_launch_record {
  std::string kernel;  ///< its name
  nd_range range;      ///< global and local size in work items
  fake_macros macros;  ///< the macros of its program
};

/// A device that exists on the host alone, for tests: kernels are host functions, time is virtual,
/// and every kind of call can be made to fail. It speaks OpenCL C: a program is any text; a line
/// "#error" outside of all conditions makes it fail to compile. Commands run when they are
/// enqueued, on the calling thread; fresh buffers are filled with poison. A handle: copies refer to
/// the same device. Thread-safe; add kernels before their first use.
class fake_device {
 public:
  /// The value of every byte of a fresh buffer.
  static constexpr std::byte poison{0xCD};

  /// Makes a device without kernels, with its clock at the epoch.
  explicit fake_device(fake_device_options options = {});

  /// The device for libtune, always the same one.
  tune::device device() const;

  /// Registers a kernel for every program of this device, or replaces it for later kernel objects.
  void add_kernel(const std::string& name, fake_kernel kernel) const;
  /// Registers a kernel that checks its arguments only when it reads them.
  void add_kernel(const std::string& name, std::size_t argument_count,
                  std::function<void(fake_launch&)> run) const;

  /// Sets the duration of later launches. Zero and negative times are reported unchanged, but the
  /// clock does not go back. An empty function restores the default.
  void set_time(std::function<std::chrono::nanoseconds(const fake_launch&)> time) const;

  /// The virtual time: the sum of all commands and of advance().
  fake_clock::time_point now() const noexcept;
  /// Advances the virtual time; a negative span does not change it.
  void advance(std::chrono::nanoseconds span) const noexcept;
  /// now() as a function, which keeps the device alive.
  std::function<fake_clock::time_point()> clock() const;

  /// While true, event::is_complete is false, as if the device still had commands to run. A wait
  /// for an event does not block.
  void hold_events(bool held) const noexcept;

  /// See fake_failures::fail_next.
  void fail_next(fake_call call, std::size_t nth = 1, fake_failure failure = {}) const;
  /// See fake_failures::fail_when.
  void fail_when(fake_call call, fake_failures::predicate fits, fake_failure failure = {}) const;
  /// See fake_failures::clear.
  void clear_failures() const;

  /// The number of calls of this kind, failed ones included. A captured launch counts once at the
  /// capture, and not again when its graph is launched.
  std::size_t calls(fake_call call) const;
  /// The launches that ran, in order, graphs included. Recording the first thousand allocates
  /// nothing.
  std::vector<fake_launch_record> launches() const;
  /// The bytes of all buffers that exist.
  std::size_t live_bytes() const noexcept;
  /// Sets the bytes of the device's memory that other processes use; less memory is then free.
  void set_foreign_bytes(std::size_t bytes) const noexcept;
  /// Sets if autotuners see a stream capture of the application outside of libtune. No call is
  /// refused for it.
  void set_foreign_capture(bool on) const noexcept;

 private:
  std::shared_ptr<fake_state> state_;
  std::shared_ptr<const detail::device_interface> device_;
};

}  // namespace tune::testing
