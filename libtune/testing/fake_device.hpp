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
/// points are those of std::chrono::steady_clock: give now() to whatever would ask that clock.
/// Thread-safe.
class fake_clock {
 public:
  /// A point of std::chrono::steady_clock; the clock starts at its epoch.
  using time_point = std::chrono::steady_clock::time_point;

  /// The epoch and every span by which the clock was moved.
  time_point now() const noexcept {
    return time_point(std::chrono::nanoseconds(now_.load(std::memory_order_relaxed)));
  }

  /// Moves the clock on and returns the time before. A negative span leaves it where it is, for a
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
  compile,        ///< of one program
  create_kernel,  ///< from a program, by its name
  allocate,       ///< of one buffer
  launch,         ///< of one kernel
  copy,           ///< between buffers or with the host
  fill,           ///< of a region of a buffer
  finish,         ///< command_queue::finish and event::wait
  load,           ///< context::create_program_from_binary
  capture,        ///< of commands into a graph
  launch_graph,   ///< one for all the commands of a graph
};

/// The failure of a call.
struct fake_failure {
  std::string reason = "it was told to fail";      ///< told by the error; the log of a build_error
  device_failure failure = device_failure::other;  ///< a compile throws build_error instead
  bool sticky = false;  ///< every later call fails too, as in CUDA after an illegal access
};

/// Failures on demand, and the count of calls. Thread-safe.
class fake_failures {
 public:
  /// True if a program with these macros is to fail. Called under a lock: it makes no device call.
  using predicate = std::function<bool(const fake_macros&)>;

  /// Fails the nth such call from now; 1 is the next. @throws argument_error if nth is 0
  void fail_next(fake_call call, std::size_t nth = 1, fake_failure failure = {});

  /// Fails every such call of a program whose macros fit, until clear().
  /// @throws argument_error unless the call is compile, create_kernel or launch: no other has a
  ///         program
  void fail_when(fake_call call, predicate fits, fake_failure failure = {});

  /// Forgets every failure that was asked for, a sticky one included.
  void clear();

  /// The number of such calls, failed ones included.
  std::size_t calls(fake_call call) const;

  /// Counts a call and says how it has to fail, if it has to. macros is null where the call has no
  /// program. Allocates nothing where nothing fails.
  std::optional<fake_failure> count(fake_call call, const fake_macros* macros);

  /// The sticky failure that has happened, if any.
  std::optional<fake_failure> stuck() const;

 private:
  static constexpr std::size_t call_kinds = 10;

  struct rule {
    fake_call call;
    std::size_t countdown;  ///< calls until it fails; unused where fits is set
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
  std::chrono::nanoseconds kernel{1000};        ///< unless set_time says otherwise
  std::chrono::nanoseconds copy{1000};          ///< of any number of bytes
  std::chrono::nanoseconds fill{1000};          ///< of any number of bytes
  std::chrono::nanoseconds compile{1'000'000};  ///< of one program
};

/// The properties of a fake device.
struct fake_device_options {
  /// Under which results are stored: name, platform and driver version.
  device_identity identity{"fake device", "fake platform", "1.0"};
  std::string backend = "fake";         ///< the name of its API
  device_kind kind = device_kind::gpu;  ///< such as a GPU
  /// A launch or an allocation that is over one of the maxima fails.
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
  /// When the host may access managed memory.
  managed_memory_kind managed_memory = managed_memory_kind::direct;
  device_hardware hardware = {};  ///< its identifiers, and the generation of an NVIDIA device
};

/// One launch that succeeded.
struct fake_launch_record {
  std::string kernel;  ///< its name
  nd_range range;      ///< global and local size in work items
  fake_macros macros;  ///< of its program
};

/// A device that exists on the host alone, for tests: kernels are host functions, time is virtual,
/// and every kind of call fails on demand. It speaks OpenCL C: a program is any text; a
/// line "#error" outside of all conditions makes it fail to compile. Commands run while they are
/// enqueued, on the calling thread; fresh buffers are full of poison. A handle: copies mean the
/// same device. Thread-safe; add kernels before they are needed.
class fake_device {
 public:
  /// The value of every byte of a fresh buffer.
  static constexpr std::byte poison{0xCD};

  /// Makes a device without kernels, with its clock at the epoch.
  explicit fake_device(fake_device_options options = {});

  /// The device as libtune sees it, always the same one.
  tune::device device() const;

  /// Registers a kernel that every program of this device has, or replaces it for kernel objects
  /// that are yet to be made.
  void add_kernel(const std::string& name, fake_kernel kernel) const;
  /// The same, for a kernel that checks its arguments only when it reads them.
  void add_kernel(const std::string& name, std::size_t argument_count,
                  std::function<void(fake_launch&)> run) const;

  /// Sets how long launches take from now on. Zero and negative times are reported as they are,
  /// though the clock does not go back. An empty function restores the default.
  void set_time(std::function<std::chrono::nanoseconds(const fake_launch&)> time) const;

  /// The virtual time: the sum of what has been enqueued, and what advance() added.
  fake_clock::time_point now() const noexcept;
  /// Moves the virtual time on; a negative span leaves it where it is.
  void advance(std::chrono::nanoseconds span) const noexcept;
  /// now() as a function, which keeps the device alive.
  std::function<fake_clock::time_point()> clock() const;

  /// While true, event::is_complete is false, as if the device had commands to run yet. A wait for
  /// an event does not block.
  void hold_events(bool held) const noexcept;

  /// See fake_failures::fail_next.
  void fail_next(fake_call call, std::size_t nth = 1, fake_failure failure = {}) const;
  /// See fake_failures::fail_when.
  void fail_when(fake_call call, fake_failures::predicate fits, fake_failure failure = {}) const;
  /// See fake_failures::clear.
  void clear_failures() const;

  /// The number of such calls, failed ones included. A launch that is captured counts as one
  /// then, and no more when its graph is launched.
  std::size_t calls(fake_call call) const;
  /// The launches that ran, in order, those of graphs included. Recording the first thousand
  /// allocates nothing.
  std::vector<fake_launch_record> launches() const;
  /// The bytes of all buffers that exist.
  std::size_t live_bytes() const noexcept;
  /// Sets the bytes of the device's memory that other processes use: there is so much less.
  void set_foreign_bytes(std::size_t bytes) const noexcept;
  /// Sets whether the application captures one of its streams past libtune, as far as
  /// autotuners see it. No call is refused for it.
  void set_foreign_capture(bool on) const noexcept;

 private:
  std::shared_ptr<fake_state> state_;
  std::shared_ptr<const detail::device_interface> device_;
};

}  // namespace tune::testing
