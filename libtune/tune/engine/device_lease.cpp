// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tune/engine/device_lease.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <fmt/format.h>
#include <map>
#include <mutex>
#include <unistd.h>
#include <utility>

#include "libtune/base/forked_process.hpp"
#include "libtune/base/log.hpp"
#include "libtune/base/timed_mutex.hpp"

namespace tune {

struct device_lease::device_state {
  detail::timed_mutex mutex;
  std::atomic<bool> gave_up{false};

  bool take(std::chrono::milliseconds wait, const look_function& look) {
    constexpr std::chrono::milliseconds between_looks{50};
    detail::wait_clock clock;
    std::chrono::nanoseconds step{0};
    while (!mutex.try_lock_for(step)) {
      const auto waited = clock.elapsed();
      if (waited >= wait) return false;
      if (look) look(waited, ::getpid());
      step = std::min<std::chrono::nanoseconds>(between_looks, wait - waited);
    }
    return true;
  }
  void give_back() {
    if (!detail::is_forked()) mutex.unlock();
  }
};

// Never destroyed: at most one exists for each device.
device_lease::device_state& device_lease::state_of(const std::string& hardware) {
  static auto* const guard = new std::mutex;
  static auto* const states = new std::map<std::string, std::unique_ptr<device_state>>;
  const std::lock_guard lock(*guard);
  auto& state = (*states)[hardware];
  if (!state) state = std::make_unique<device_state>();
  return *state;
}

device_lease*& device_lease::innermost() noexcept {
  thread_local device_lease* turn = nullptr;
  return turn;
}

std::chrono::nanoseconds& device_lease::waited_here() noexcept {
  thread_local std::chrono::nanoseconds all{0};
  return all;
}

std::chrono::nanoseconds device_lease::waited() noexcept { return waited_here(); }

device_lease::device_lease(const device_info& device, std::chrono::milliseconds wait,
                           look_function look)
    : hardware_(hardware_name(device)),
      name_(device.identity.name),
      wait_(wait),
      look_(std::move(look)),
      state_(state_of(hardware_)),
      outer_(innermost()) {
  // In a forked process, the turns and locks of the parent's threads are never released.
  detail::refuse_if_forked([&] { return "measure on device '" + name_ + "'"; });
  for (const device_lease* turn = outer_; turn != nullptr; turn = turn->outer_) {
    if (&turn->state_ != &state_) continue;
    is_repeated_ = true;
    alone_ = turn->alone_;
  }
  if (!is_repeated_) begin();
  innermost() = this;
}

device_lease::~device_lease() {
  innermost() = outer_;
  if (!is_repeated_) end();
}

namespace {

/// @param lock  empty while another thread of this process has the turn
std::string describe_holder(const std::optional<device_lock>& lock) {
  if (!lock) return "another thread of this process";
  const std::optional<::pid_t> holder = lock->holder();
  return holder && *holder > 0 ? fmt::format("process {}", *holder) : "another process";
}

}  // namespace

void device_lease::begin() {
  if (detail::is_forked()) return;
  const auto start = std::chrono::steady_clock::now();
  alone_ = take(state_.gave_up ? std::chrono::milliseconds(0) : wait_);
  waited_here() += std::chrono::steady_clock::now() - start;
  state_.gave_up = !alone_;
  if (alone_) return;
  warn_once(
      fmt::format("device '{}' ({}) is measured although {} has kept it for longer than "
                  "LIBTUNE_WAIT or the budget allows: times may be too long",
                  name_, hardware_, describe_holder(lock_)));
}

void device_lease::end() {
  lock_.reset();
  if (std::exchange(in_turn_, false)) state_.give_back();
}

bool device_lease::take(std::chrono::milliseconds wait) {
  const auto start = std::chrono::steady_clock::now();
  in_turn_ = state_.take(wait, look_);
  if (!in_turn_) return false;
  const auto spent = std::chrono::duration_cast<std::chrono::milliseconds>(
      std::chrono::steady_clock::now() - start);
  lock_.emplace(hardware_);
  wait_look look;
  if (look_) {
    look = [&](std::chrono::nanoseconds waited) { look_(spent + waited, lock_->holder()); };
  }
  try {
    return lock_->take(wait - spent, look);
  } catch (...) {
    end();
    throw;
  }
}

device_lease::pause::pause() : paused_(std::exchange(innermost(), nullptr)) {
  for (device_lease* turn = paused_; turn != nullptr; turn = turn->outer_) {
    if (!turn->is_repeated_) turn->end();
  }
}

// A wait that ends by an exception here has no lease; the stop request is checked again before the
// next step.
device_lease::pause::~pause() {
  for (device_lease* turn = paused_; turn != nullptr; turn = turn->outer_) {
    try {
      if (!turn->is_repeated_) turn->begin();
    } catch (const std::exception&) {
      turn->alone_ = false;
    }
  }
  innermost() = paused_;
}

std::string hardware_name(const device_info& device) {
  if (!device.hardware.pci_address.empty()) return "pci " + device.hardware.pci_address;
  if (!device.hardware.uuid.empty()) return "uuid " + device.hardware.uuid;
  return "name " + device.identity.name;
}

}  // namespace tune
