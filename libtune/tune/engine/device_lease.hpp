// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <sys/types.h>

#include "libtune/device/device.hpp"
#include "libtune/store/files/named_lock.hpp"

namespace tune {

/// The exclusive right to measure on a device: no other thread of this process has it, through any
/// backend, and no other process of any user that uses libtune. Its destructor releases it, on the
/// thread that made it, in the reverse order. It is advisory: after the longest wait a thread
/// measures without it, with a warning, and no thread of this process waits for the device again
/// until it has been free once.
///
/// A thread that already has the lease of a device gets it again at once.
class [[nodiscard]] device_lease {
 public:
  /// Called during a wait, with the time so far and the process that has the device, if known. Its
  /// exceptions end the wait.
  using look_function = std::function<void(std::chrono::nanoseconds, std::optional<::pid_t>)>;

  /// @param wait  the longest wait for the lease
  /// @throws forked_process_error
  device_lease(const device_info& device, std::chrono::milliseconds wait, look_function look = {});
  ~device_lease();
  device_lease(const device_lease&) = delete;
  device_lease& operator=(const device_lease&) = delete;

  /// True if no other thread or process can have the lease now; false after a wait that reached its
  /// limit.
  bool is_alone() const noexcept { return alone_; }

  /// Returns the total time that this thread has waited for leases, for callers with a time limit.
  static std::chrono::nanoseconds waited() noexcept;

  /// Releases the leases of this thread during its life, for work other than measuring, or for a
  /// tuning with leases of its own. Its destructor waits for them again.
  class [[nodiscard]] pause {
   public:
    pause();
    ~pause();
    pause(const pause&) = delete;
    pause& operator=(const pause&) = delete;

   private:
    device_lease* paused_;
  };

 private:
  struct device_state;

  static device_state& state_of(const std::string& hardware);
  static device_lease*& innermost() noexcept;
  static std::chrono::nanoseconds& waited_here() noexcept;
  void begin();
  void end();
  bool take(std::chrono::milliseconds wait);

  std::string hardware_;
  std::string name_;  // name of the device
  std::chrono::milliseconds wait_;
  look_function look_;
  device_state& state_;
  device_lease* outer_;       // the outer lease of this thread
  bool is_repeated_ = false;  // this thread has it already
  std::optional<device_lock> lock_;
  bool in_turn_ = false;  // has the turn among the threads of this process
  bool alone_ = false;
};

/// Returns the name that identifies a piece of hardware, the same for all backends: its PCI
/// address, else its UUID, else its name.
std::string hardware_name(const device_info& device);

}  // namespace tune
