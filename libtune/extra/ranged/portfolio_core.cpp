// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/ranged/portfolio_core.hpp"

#include <algorithm>
#include <bit>
#include <exception>
#include <utility>

#include "libtune/base/forked_process.hpp"
#include "libtune/base/log.hpp"
#include "libtune/extra/ranged/portfolio.hpp"

namespace tune::detail {
namespace {

std::uint64_t hash_of(std::span<const std::uint64_t> sizes) noexcept {
  std::uint64_t hash = sizes.size();
  for (const std::uint64_t size : sizes) {
    hash = (hash ^ size) * 0x9E3779B97F4A7C15U;
    hash ^= hash >> 32;
  }
  return hash;
}

}  // namespace

bool size_tally::count(std::span<const std::uint64_t> sizes, std::uint64_t times) noexcept {
  if (sizes.size() > most_ranges) return true;
  const std::uint64_t hash = hash_of(sizes);
  const std::uint32_t tag = static_cast<std::uint32_t>(hash) | 1;
  for (std::size_t tries = 0; tries < most_tries; ++tries) {
    const std::size_t place = ((hash >> 32) + tries) % most;
    slot& at = slots_[place];
    std::uint32_t found = tags_[place].load(std::memory_order_relaxed);
    if (found == 0 && tags_[place].compare_exchange_strong(found, tag, std::memory_order_relaxed)) {
      at.length = static_cast<std::uint8_t>(sizes.size());
      std::ranges::copy(sizes, at.sizes.begin());
      at.count.store(times, std::memory_order_relaxed);
      at.is_ready.store(true, std::memory_order_release);
      return true;
    }
    if (found != tag) continue;
    // Another thread may be writing it; a count never waits.
    if (!at.is_ready.load(std::memory_order_acquire)) return true;
    bool is_same = at.length == sizes.size();
    for (std::size_t d = 0; d < sizes.size(); ++d) is_same = is_same && at.sizes[d] == sizes[d];
    if (is_same) {
      at.count.fetch_add(times, std::memory_order_relaxed);
      return true;
    }
  }
  return false;
}

std::vector<asked_sizes> size_tally::take() {
  std::vector<asked_sizes> counted;
  for (slot& each : slots_) {
    if (!each.is_ready.load(std::memory_order_acquire)) continue;
    const std::uint64_t count = each.count.exchange(0, std::memory_order_relaxed);
    if (count == 0) continue;
    counted.push_back(
        {.sizes = {each.sizes.begin(), each.sizes.begin() + each.length}, .count = count});
  }
  return counted;
}

std::optional<std::size_t> choice_cache::find(std::span<const std::uint64_t> sizes,
                                              std::uint64_t hash) noexcept {
  for (const std::size_t place : places_of(hash)) {
    entry& at = entries_[place];
    const std::uint32_t version = at.version.load(std::memory_order_acquire);
    if (version == 0 || version % 2 != 0) continue;
    bool is_same = true;
    for (std::size_t d = 0; d < sizes.size(); ++d) {
      is_same = is_same && at.sizes[d].load(std::memory_order_acquire) == sizes[d];
    }
    if (!is_same) continue;
    const std::uint32_t choice = at.choice.load(std::memory_order_acquire);
    if (at.version.load(std::memory_order_relaxed) != version) continue;
    at.count.fetch_add(1, std::memory_order_relaxed);
    return choice;
  }
  return std::nullopt;
}

// The entry that was written less often: a displaced entry goes to its other place the next time,
// and so each finds one, while there are enough (cuckoo hashing, Pagh and Rodler, 2004).
choice_cache::entry& choice_cache::entry_for(std::uint64_t hash) noexcept {
  const auto [one, other] = places_of(hash);
  const auto version = [&](std::size_t place) {
    return entries_[place].version.load(std::memory_order_relaxed);
  };
  return entries_[version(other) < version(one) ? other : one];
}

choice_cache::counted choice_cache::remember(std::span<const std::uint64_t> sizes,
                                             std::uint64_t hash, std::size_t choice) noexcept {
  counted left;
  entry& at = entry_for(hash);
  std::uint32_t version = at.version.load(std::memory_order_relaxed);
  if (version % 2 != 0 ||
      !at.version.compare_exchange_strong(version, version + 1, std::memory_order_acq_rel)) {
    std::ranges::copy(sizes, left.sizes.begin());
    left.count = 1;
    return left;
  }
  for (std::size_t d = 0; d < sizes.size(); ++d) {
    left.sizes[d] = at.sizes[d].load(std::memory_order_relaxed);
    at.sizes[d].store(sizes[d], std::memory_order_release);
  }
  // Not an exchange, which takes longer.
  left.count = at.count.load(std::memory_order_relaxed);
  at.count.store(1, std::memory_order_relaxed);
  at.choice.store(static_cast<std::uint32_t>(choice), std::memory_order_release);
  at.version.store(version + 2, std::memory_order_release);
  return left;
}

std::vector<choice_cache::counted> choice_cache::take() {
  std::vector<counted> all;
  for (entry& at : entries_) {
    const std::uint32_t version = at.version.load(std::memory_order_acquire);
    if (version == 0 || version % 2 != 0) continue;
    counted each;
    for (std::size_t d = 0; d < each.sizes.size(); ++d) {
      each.sizes[d] = at.sizes[d].load(std::memory_order_acquire);
    }
    if (at.version.load(std::memory_order_relaxed) != version) continue;
    each.count = at.count.exchange(0, std::memory_order_relaxed);
    if (each.count > 0) all.push_back(each);
  }
  return all;
}

portfolio_core::portfolio_core(stored_portfolio stored, size_features features, listener asked)
    : stored_(std::move(stored)), features_(std::move(features)), asked_(std::move(asked)) {
  for (const proven_sizes& each : stored_.proven) {
    has_proven_.set(hash_of(each.sizes) % has_proven_.size());
  }
}

portfolio_core::~portfolio_core() {
  try {
    note_sizes();
  } catch (const std::exception& failure) {
    log(log_level::debug, std::string("requested sizes are lost: ") + failure.what());
  }
}

// A forked process has inherited its parent's counts, which the parent writes itself.
void portfolio_core::note_sizes() const {
  if (!asked_ || is_forked()) return;
  // The room is limited: the most requested sizes come first.
  std::vector<choice_cache::counted> last = chosen_.take();
  std::ranges::stable_sort(last, std::ranges::greater(), &choice_cache::counted::count);
  for (const choice_cache::counted& each : last) {
    count(std::span(each.sizes).first(stored_.ranges.size()), each.count);
  }
  std::vector<asked_sizes> asked = exact_.take();
  for (asked_sizes& each : rounded_.take()) asked.push_back(std::move(each));
  if (!asked.empty()) asked_(*this, asked);
}

// For sizes within the ranges their neighbours give as much information.
void portfolio_core::count(std::span<const std::uint64_t> sizes,
                           std::uint64_t times) const noexcept {
  if (!asked_ || times == 0) return;
  if (exact_.count(sizes, times) || !are_inside(stored_.ranges, sizes)) return;
  std::array<std::uint64_t, most_ranges> rounded{};
  for (std::size_t d = 0; d < sizes.size(); ++d) {
    const size_range& range = stored_.ranges[d];
    const int dropped = std::max(static_cast<int>(std::bit_width(sizes[d])) - 2, 0);
    const std::uint64_t near = sizes[d] >> dropped << dropped;
    const std::uint64_t multiple = range.multiple();
    rounded[d] = std::max(multiple == 1 ? near : near / multiple * multiple, range.low());
  }
  rounded_.count(std::span(rounded).first(sizes.size()), times);
}

bool portfolio_core::is_proven(std::span<const std::uint64_t> sizes) const noexcept {
  return find_proven(sizes, hash_of(sizes)) != nullptr;
}

const proven_sizes* portfolio_core::find_proven(std::span<const std::uint64_t> sizes,
                                                std::uint64_t hash) const noexcept {
  if (!has_proven_[hash % has_proven_.size()]) return nullptr;
  const auto found = std::ranges::lower_bound(
      stored_.proven, sizes,
      [](const auto& a, const auto& b) {
        return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end());
      },
      [](const proven_sizes& each) { return std::span(each.sizes); });
  const bool is_found = found != stored_.proven.end() && std::ranges::equal(found->sizes, sizes);
  return is_found ? &*found : nullptr;
}

// A choice takes from some tens to some hundreds of nanoseconds, so the latest are cached.
std::size_t portfolio_core::choose(std::span<const std::uint64_t> sizes,
                                   const std::function<bool(std::size_t)>& fits,
                                   std::span<const cost_function> costs) const noexcept {
  // The functions expect one size for each range.
  if (sizes.size() != stored_.ranges.size()) return stored_.configurations.size() - 1;
  const std::uint64_t hash = hash_of(sizes);
  if (const auto known = chosen_.find(sizes, hash)) return *known;
  const std::size_t chosen = find_choice(sizes, hash, fits, costs);
  const choice_cache::counted left = chosen_.remember(sizes, hash, chosen);
  count(std::span(left.sizes).first(sizes.size()), left.count);
  return chosen;
}

// Sizes with measurements need no prediction. A choice that does not fit is replaced by the others
// in the order of the leaf, and at last by the fallback. Outside of the ranges it must be proven:
// by a measurement there, or by fits.
std::size_t portfolio_core::find_choice(std::span<const std::uint64_t> sizes, std::uint64_t hash,
                                        const std::function<bool(std::size_t)>& fits,
                                        std::span<const cost_function> costs) const noexcept {
  const std::size_t fallback = stored_.configurations.size() - 1;
  const auto first_of = [&](places all) -> std::size_t {
    for (const std::uint32_t place : all) {
      if (!fits || fits(place)) return place;
    }
    return fallback;
  };
  if (const proven_sizes* const known = find_proven(sizes, hash)) return first_of(known->order);
  if (!fits && !are_inside(stored_.ranges, sizes)) return fallback;
  const bool has_costs = !stored_.factors.empty() && costs.size() == stored_.factors.size();
  if (has_costs) {
    return find_cheapest(
               stored_.factors, stored_.corrections.at(sizes),
               [&](std::size_t place) { return costs[place](sizes); },
               [&](std::size_t place) { return !fits || fits(place); })
        .value_or(fallback);
  }
  const std::size_t leaf = stored_.tree.leaf(point_of(sizes, features_));
  const std::uint32_t chosen = stored_.tree.nodes()[leaf].below;
  if (!fits || fits(chosen)) return chosen;
  if (!stored_.orders.empty()) return first_of(stored_.orders[leaf]);
  for (std::size_t other = 0; other < fallback; ++other) {
    if (fits(other)) return other;
  }
  return fallback;
}

void note_sizes(const portfolio_core& core) { core.note_sizes(); }

std::size_t choose(const portfolio_core& core, std::span<const std::uint64_t> sizes,
                   const std::function<bool(std::size_t)>& fits,
                   std::span<const cost_function> costs) noexcept {
  return core.choose(sizes, fits, costs);
}

}  // namespace tune::detail
