// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "libtune/device/device.hpp"
#include "libtune/device/kernel.hpp"
#include "libtune/testing/fake_device.hpp"

namespace tune::testing {

/// A kernel of one program: the registered kernel, its name, and the program's macros.
struct fake_kernel_instance {
  std::string name;
  std::shared_ptr<const fake_kernel> kernel;
  std::shared_ptr<const fake_macros> macros;
};

/// The state shared by a fake device and all objects made from it. Thread-safe.
class fake_state {
 public:
  explicit fake_state(fake_device_options options);

  device_info info() const;
  const device_limits& limits() const noexcept { return options_.limits; }
  const fake_times& times() const noexcept { return options_.times; }
  fake_clock& clock() noexcept { return clock_; }
  fake_failures& failures() noexcept { return failures_; }

  /// Counts a call. @throws device_error, or build_error for a compile, if it must fail
  /// @param subject  the object of the call, for the message
  void begin(fake_call call, std::string_view subject, const fake_macros* macros = nullptr);
  /// @throws device_error if a sticky failure has happened
  void check_alive() const;
  /// @throws device_error, always
  [[noreturn]] void fail(const std::string& call, const std::string& reason,
                         device_failure failure) const;

  void hold_events(bool held) noexcept { holds_events_ = held; }
  bool holds_events() const noexcept { return holds_events_; }

  void add_kernel(const std::string& name, fake_kernel kernel);
  /// The kernel of this name. @throws device_error if the name is unknown
  std::shared_ptr<const fake_kernel> find_kernel(const std::string& name) const;

  void set_time(std::function<std::chrono::nanoseconds(const fake_launch&)> time);
  std::chrono::nanoseconds time_of(const fake_launch& launch) const;

  void record(std::shared_ptr<const fake_kernel_instance> kernel, const nd_range& range);
  std::vector<fake_launch_record> launches() const;

  /// Reserves memory for one buffer. @throws device_error (out_of_memory)
  void reserve(std::size_t bytes);
  void release(std::size_t bytes) noexcept { live_bytes_ -= bytes; }
  std::size_t live_bytes() const noexcept { return live_bytes_; }
  void set_foreign_bytes(std::size_t bytes) noexcept { foreign_bytes_ = bytes; }
  std::size_t foreign_bytes() const noexcept { return foreign_bytes_; }

  void set_foreign_capture(bool on) noexcept { foreign_capture_ = on; }
  bool has_foreign_capture() const noexcept { return foreign_capture_; }

 private:
  using time_function = std::function<std::chrono::nanoseconds(const fake_launch&)>;
  struct launched {
    std::shared_ptr<const fake_kernel_instance> kernel;
    nd_range range;
  };

  const fake_device_options options_;
  fake_clock clock_;
  fake_failures failures_;
  std::atomic<std::size_t> live_bytes_{0};
  std::atomic<std::size_t> foreign_bytes_{0};  // bytes used by other processes
  std::atomic<bool> foreign_capture_{false};   // a capture by the application, outside of libtune
  std::atomic<bool> holds_events_{false};

  mutable std::mutex mutex_;  // guards all members below
  std::map<std::string, std::shared_ptr<const fake_kernel>> kernels_;
  std::shared_ptr<const time_function> time_;
  std::vector<launched> launches_;
};

/// The checks of a fake device's compiler: a line "#error TEXT" outside of all conditions is an
/// error, at the place given by the preceding "#line" directives.
/// @throws build_error with a log in the style of clang ("name:line:1: error: TEXT")
void check_source(const program_source& source, const device_info& device);

}  // namespace tune::testing
