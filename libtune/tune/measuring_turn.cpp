// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tune/measuring_turn.hpp"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <fmt/format.h>
#include <map>
#include <mutex>

#include "libtune/base/fork_guard.hpp"
#include "libtune/base/log.hpp"

namespace tune {

// A turn is a flag, not a std::timed_mutex: the thread sanitizer does not see how that one waits.
struct measuring_turn::device_state {
  std::mutex mutex;
  std::condition_variable given_back;
  bool taken = false;
  std::atomic<bool> gave_up{false};

  bool take(std::chrono::milliseconds wait) {
    std::unique_lock lock(mutex);
    if (!given_back.wait_for(lock, wait, [&] { return !taken; })) return false;
    taken = true;
    return true;
  }
  void give_back() {
    {
      const std::lock_guard lock(mutex);
      taken = false;
    }
    given_back.notify_one();
  }
};

// Kept for ever: there are as many as devices.
measuring_turn::device_state& measuring_turn::state_of(const std::string& hardware) {
  static auto* const guard = new std::mutex;
  static auto* const states = new std::map<std::string, std::unique_ptr<device_state>>;
  const detail::fork_guard no_fork;
  const std::lock_guard lock(*guard);
  auto& state = (*states)[hardware];
  if (!state) state = std::make_unique<device_state>();
  return *state;
}

measuring_turn::measuring_turn(const device_info& device, std::chrono::milliseconds wait)
    : state_(state_of(hardware_name(device))) {
  const auto patience = state_.gave_up ? std::chrono::milliseconds(0) : wait;
  alone_ = take(hardware_name(device), patience);
  state_.gave_up = !alone_;
  if (alone_) return;
  warn_once(fmt::format(
      "device '{}' ({}) is measured although another thread or process has kept it for longer than "
      "LIBTUNE_WAIT allows: times may be too long",
      device.identity.name, hardware_name(device)));
}

measuring_turn::~measuring_turn() {
  lock_.reset();
  if (in_turn_) state_.give_back();
}

bool measuring_turn::take(const std::string& hardware, std::chrono::milliseconds wait) {
  const auto start = std::chrono::steady_clock::now();
  in_turn_ = state_.take(wait);
  if (!in_turn_) return false;
  const auto spent = std::chrono::duration_cast<std::chrono::milliseconds>(
      std::chrono::steady_clock::now() - start);
  lock_.emplace(hardware);
  return lock_->take(wait - spent);
}

std::string hardware_name(const device_info& device) {
  if (!device.hardware.pci_address.empty()) return "pci " + device.hardware.pci_address;
  if (!device.hardware.uuid.empty()) return "uuid " + device.hardware.uuid;
  return "name " + device.identity.name;
}

}  // namespace tune
