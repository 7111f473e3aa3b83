// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/device/memory_quota.hpp"

#include <algorithm>
#include <atomic>
#include <fmt/format.h>
#include <string>
#include <utility>
#include <vector>

#include "libtune/base/error.hpp"
#include "libtune/base/forked_process.hpp"
#include "libtune/base/never_destroyed.hpp"
#include "libtune/device/device_memory.hpp"

namespace tune {

struct memory_reclaimer::entry {
  entry(std::string of, holds_function tells, give_back_function gives)
      : hardware(std::move(of)), holds(std::move(tells)), give_back(std::move(gives)) {}

  std::string hardware;
  holds_function holds;
  give_back_function give_back;
  std::mutex running;  // held while one of its functions is called
  bool ended = false;
};

namespace {

struct reclaimer_registry {
  std::mutex mutex;
  std::vector<std::shared_ptr<memory_reclaimer::entry>> entries;
};

// Releases by searches on any device, and ends of searches. Incremented before the held size
// changes.
std::atomic<std::size_t> releases{0};

reclaimer_registry& registry() {
  static detail::never_destroyed<reclaimer_registry> all;
  return *all;
}

// Several backends may offer the same device.
std::string name_of(const detail::device_interface& device) {
  const device_hardware& hardware = device.info().hardware;
  if (!hardware.pci_address.empty()) return "pci " + hardware.pci_address;
  if (!hardware.uuid.empty()) return "uuid " + hardware.uuid;
  return fmt::format("device {}", static_cast<const void*>(&device.whole()));
}

}  // namespace

memory_reclaimer::memory_reclaimer(const device& device, holds_function holds,
                                   give_back_function give_back)
    : entry_(std::make_shared<entry>(name_of(*device.impl()), std::move(holds),
                                     std::move(give_back))) {
  const std::lock_guard lock(registry().mutex);
  registry().entries.push_back(entry_);
}

memory_reclaimer::~memory_reclaimer() {
  if (detail::is_forked()) return;
  ++releases;
  {
    const std::lock_guard lock(registry().mutex);
    std::erase(registry().entries, entry_);
  }
  const std::lock_guard lock(entry_->running);
  entry_->ended = true;
}

}  // namespace tune

namespace tune::detail {
namespace {

thread_local memory_quota_scope* innermost = nullptr;

using reclaimer = std::shared_ptr<memory_reclaimer::entry>;

/// Returns the reclaimers of a device.
std::vector<reclaimer> find_all(const device_interface& device) {
  const std::string hardware = name_of(device);
  std::vector<reclaimer> found;
  const std::lock_guard lock(registry().mutex);
  for (const reclaimer& each : registry().entries) {
    if (each->hardware == hardware) found.push_back(each);
  }
  return found;
}

/// Returns the one that holds the most among those not asked yet; null if these hold nothing.
reclaimer find_holder(const std::vector<reclaimer>& all, const std::vector<reclaimer>& asked) {
  std::size_t most = 0;
  reclaimer holder;
  for (const reclaimer& each : all) {
    if (std::ranges::find(asked, each) != asked.end()) continue;
    const std::lock_guard lock(each->running);
    const std::size_t bytes = each->ended ? 0 : each->holds();
    if (bytes <= most) continue;
    most = bytes;
    holder = each;
  }
  return holder;
}

}  // namespace

// Meanwhile, a search may start and take memory that another has given back, and memory held at an
// earlier attempt may have been released since. Each holder is asked once, so the loop ends.
bool make_reclaiming(const device_interface& device, std::size_t bytes,
                     const std::function<bool()>& make) {
  std::vector<std::shared_ptr<const void>> kept;  // until the allocation has succeeded
  std::vector<reclaimer> asked;
  bool is_last = false;
  while (true) {
    const std::size_t before = releases.load();
    if (make()) return true;
    const std::vector<reclaimer> all = find_all(device);
    if (const reclaimer holder = find_holder(all, asked)) {
      asked.push_back(holder);
      const std::lock_guard lock(holder->running);
      if (!holder->ended) kept.push_back(holder->give_back(bytes));
      is_last = false;
      continue;
    }
    const bool has_released = releases.load() != before;
    // Reclaimers of the application may release memory that is not counted.
    if (!has_released && (is_last || all.empty())) return false;
    is_last = !has_released;
  }
}

std::shared_ptr<const void> reclaim_gate::ask(const std::shared_ptr<reclaim_gate>& gate) {
  std::unique_lock lock(gate->mutex_);
  if (gate->closed_) return nullptr;
  ++gate->waiting_;
  std::shared_ptr<const void> kept(gate.get(), [gate](const void*) { gate->let_go(); });
  if (gate->is_free_) return kept;
  gate->wanted_.store(true, std::memory_order_relaxed);
  const std::size_t before = gate->rounds_;
  gate->changed_.wait_for(lock, patience, [&] { return gate->closed_ || gate->rounds_ != before; });
  return kept;
}

void reclaim_gate::let_go() noexcept {
  const std::lock_guard lock(mutex_);
  if (--waiting_ > 0) return;
  wanted_.store(false, std::memory_order_relaxed);
  changed_.notify_all();
}

void reclaim_gate::give_back() {
  std::unique_lock lock(mutex_);
  ++rounds_;
  is_free_ = true;
  changed_.notify_all();
  changed_.wait_for(lock, patience, [&] { return waiting_ == 0; });
  is_free_ = false;
  wanted_.store(false, std::memory_order_relaxed);
}

void reclaim_gate::close() noexcept {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  changed_.notify_all();
}

std::shared_ptr<buffer_interface> memory_quota::allocate(
    std::size_t bytes, const context_interface& context,
    const std::function<std::shared_ptr<buffer_interface>()>& make) {
  take(bytes, context);
  try {
    return make();
  } catch (const device_error& failure) {
    give(bytes);
    if (failure.failure() == device_failure::out_of_memory) note_failure(bytes, context);
    throw;
  } catch (...) {
    give(bytes);
    throw;
  }
}

void memory_quota::take(std::size_t bytes, const context_interface& context) {
  std::size_t before = held();
  do {
    if (before <= limit_ && bytes <= limit_ - before) continue;
    refuse(bytes, context,
           fmt::format("a tuning may hold {} bytes of device memory and holds {}; let it have more "
                       "(LIBTUNE_TUNING_MEMORY, tuning_options::memory), or tune on smaller arrays",
                       limit_, before));
  } while (!held_.compare_exchange_weak(before, before + bytes, std::memory_order_relaxed));
  const memory_figures now = reserve_ > 0 ? context.memory() : memory_figures{};
  if (now.is_measured && now.free_bytes < bytes + reserve_ / 2) {
    give(bytes);
    refuse(bytes, context,
           fmt::format("of its {} bytes {} are free, and a tuning leaves {} of them to the "
                       "application",
                       now.total_bytes, now.free_bytes, reserve_ / 2));
  }
  std::size_t most = most_held();
  while (most < before + bytes &&
         !most_.compare_exchange_weak(most, before + bytes, std::memory_order_relaxed)) {
  }
}

void memory_quota::refuse(std::size_t bytes, const context_interface& context,
                          const std::string& reason) {
  note_failure(bytes, context);
  throw device_error(fmt::format("allocation of {} bytes", bytes), context.info().identity.name,
                     reason, device_failure::out_of_memory);
}

void memory_quota::note_failure(std::size_t bytes, const context_interface& context) {
  const device_limits& limits = context.info().limits;
  if (bytes > limits.max_allocation_bytes || bytes > limits.global_memory_bytes) return;
  reach_at_refusal_.store(reach(context), std::memory_order_relaxed);
  refusals_.fetch_add(1, std::memory_order_relaxed);
}

void memory_quota::give(std::size_t bytes) noexcept {
  ++releases;
  held_.fetch_sub(bytes, std::memory_order_release);
}

std::size_t memory_quota::reach(const context_interface& context) const {
  const memory_figures now = context.memory();
  const std::size_t left = now.free_bytes - std::min(now.free_bytes, reserve_ / 2);
  return std::min(limit_, held() + left);
}

memory_quota_scope::memory_quota_scope(std::shared_ptr<const device_interface> device,
                                       std::shared_ptr<memory_quota> quota)
    : device_(std::move(device)),
      quota_(std::move(quota)),
      outer_(std::exchange(innermost, this)) {}

memory_quota_scope::~memory_quota_scope() { innermost = outer_; }

std::shared_ptr<memory_quota> memory_quota_scope::find(const device_interface& device) noexcept {
  for (const memory_quota_scope* scope = innermost; scope != nullptr; scope = scope->outer_) {
    if (scope->device_.get() == &device) return scope->quota_;
  }
  return nullptr;
}

}  // namespace tune::detail
