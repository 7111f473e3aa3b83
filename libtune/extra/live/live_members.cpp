// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/live/live_members.hpp"

#include <algorithm>
#include <iterator>

namespace tune::detail {

bool has_ended(const std::optional<event>& end) noexcept {
  try {
    return !end || end->is_complete();
  } catch (...) {
    return true;
  }
}

void wait_for(const std::optional<event>& end) noexcept {
  try {
    if (end) end->wait();
  } catch (...) {  // a failed wait is an end too
  }
}

void live_members::add(key_pointer key) {
  const std::lock_guard lock(mutex_);
  keys_.push_back(std::move(key));
}

void live_members::add(node_pointer node) {
  const std::lock_guard lock(mutex_);
  nodes_.push_back(std::move(node));
  generation_.fetch_add(1, std::memory_order_release);
}

void live_members::take(live_key& key, const better_tuning& found) {
  {
    const std::lock_guard lock(mutex_);
    key.found = found;
    has_news_ = true;
  }
  changed_.notify_all();
}

void live_members::put_back(live_key& key, better_tuning found) {
  const std::lock_guard lock(mutex_);
  if (!key.found) key.found = std::move(found);
}

std::optional<std::pair<live_members::key_pointer, better_tuning>> live_members::next() {
  const std::lock_guard lock(mutex_);
  const auto next = std::ranges::find_if(keys_, [&](const auto& each) {
    return each->found && !each->gone && !waits_for_arrays(*each);
  });
  if (next == keys_.end()) return std::nullopt;
  return std::pair(*next, *std::exchange((*next)->found, std::nullopt));
}

// Called under the lock. True if the key has instances, and none of them can be swapped.
bool live_members::waits_for_arrays(const live_key& key) const {
  bool any = false;
  for (const auto& node : nodes_) {
    const bool is_of_key =
        std::ranges::any_of(node->keys(), [&](const auto& each) { return each.get() == &key; });
    if (node->gone || !is_of_key) continue;
    if (!node->passed_over.load(std::memory_order_acquire)) return false;
    any = true;
  }
  return any;
}

std::vector<live_members::key_pointer> live_members::keys() {
  const std::lock_guard lock(mutex_);
  return keys_;
}

live_members::selection live_members::instances_of(const key_pointer& key) {
  const std::lock_guard lock(mutex_);
  selection found{.nodes = {}, .generation = generation()};
  std::ranges::copy_if(nodes_, std::back_inserter(found.nodes), [&](const node_pointer& node) {
    return !node->gone && std::ranges::find(node->keys(), key) != node->keys().end();
  });
  return found;
}

live_members::selection live_members::stale() {
  const std::lock_guard lock(mutex_);
  selection found{.nodes = {}, .generation = generation()};
  std::ranges::copy_if(nodes_, std::back_inserter(found.nodes), [](const node_pointer& node) {
    return !node->gone && !node->passed_over.load(std::memory_order_acquire) &&
           !std::ranges::equal(node->built_with, node->keys(), {}, {}, &live_key::current);
  });
  return found;
}

std::vector<live_members::node_pointer> live_members::drifted() {
  const std::lock_guard lock(mutex_);
  std::vector<node_pointer> found;
  std::ranges::copy_if(nodes_, std::back_inserter(found), [](const node_pointer& node) {
    return node->has_drifted.load(std::memory_order_acquire);
  });
  return found;
}

// Destroyed without the lock: the end of a subscription waits for its publisher.
void live_members::tidy() {
  const auto is_gone = [](const auto& each) { return each->gone.load(std::memory_order_acquire); };
  std::vector<node_pointer> nodes;
  std::vector<key_pointer> keys;
  {
    const std::lock_guard lock(mutex_);
    std::erase_if(nodes_, [&](const node_pointer& each) {
      const bool is_over = is_gone(each) && has_ended(each->end);
      if (is_over) nodes.push_back(each);
      return is_over;
    });
    std::erase_if(keys_, [&](const key_pointer& each) {
      if (is_gone(each)) keys.push_back(each);
      return is_gone(each);
    });
  }
  for (const auto& key : keys) key->news.reset();
}

bool live_members::wait_for_news(std::chrono::milliseconds longest) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, longest, [&] { return stopping_ || has_news_; });
  has_news_ = false;
  return !stopping_;
}

void live_members::stop() noexcept {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
}

void live_members::end() noexcept {
  for (const auto& key : keys_) key->news.reset();
  for (const auto& node : nodes_) wait_for(node->end);
}

}  // namespace tune::detail
