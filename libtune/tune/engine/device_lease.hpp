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

/// The right to measure on a device while nobody else does: no thread of this process, through
/// whichever backend, and no other process of any user that uses libtune. Given back at the end of
/// its life, on the thread that made it, in the reverse order. It is courtesy, not safety: who has
/// waited in vain measures all the same, with a warning, and does not wait again until the device
/// has been free once.
///
/// A thread that has the turn and asks for it again has it at once.
class [[nodiscard]] device_lease {
 public:
  /// Called while others are waited for, with the time waited so far and the process that has the
  /// device, where that is known. Does not throw.
  using look_function = std::function<void(std::chrono::nanoseconds, std::optional<::pid_t>)>;

  /// @param wait  for others, at most
  device_lease(const device_info& device, std::chrono::milliseconds wait, look_function look = {});
  ~device_lease();
  device_lease(const device_lease&) = delete;
  device_lease& operator=(const device_lease&) = delete;

  /// Whether nobody else can have a turn on the device now.
  bool is_alone() const noexcept { return alone_; }

  /// While one lives, others have the turns of this thread: it does something else than to measure,
  /// or tunes something that takes turns of its own. At its end the thread waits for them anew.
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
  void begin();
  void end();
  bool take(std::chrono::milliseconds wait);

  std::string hardware_;
  std::string name_;  // of the device
  std::chrono::milliseconds wait_;
  look_function look_;
  device_state& state_;
  device_lease* outer_;       // of this thread
  bool is_repeated_ = false;  // this thread has it already
  std::optional<device_lock> lock_;
  bool in_turn_ = false;  // among the threads of this process
  bool alone_ = false;
};

/// What tells a piece of hardware from others, the same for all backends: its PCI address, else its
/// UUID, else its name.
std::string hardware_name(const device_info& device);

}  // namespace tune
