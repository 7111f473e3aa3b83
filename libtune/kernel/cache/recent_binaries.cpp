// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/kernel/cache/recent_binaries.hpp"

#include <algorithm>
#include <utility>

namespace tune {

recent_binaries::binary recent_binaries::find(const detail::sha256_digest& key) {
  const std::lock_guard lock(mutex_);
  const auto found = position(key);
  if (found == entries_.end()) return nullptr;
  entries_.splice(entries_.begin(), entries_, found);
  return found->bytes;
}

void recent_binaries::add(const detail::sha256_digest& key, std::vector<std::byte> bytes) {
  if (bytes.size() > cap_bytes_) return;
  auto kept = std::make_shared<const std::vector<std::byte>>(std::move(bytes));
  const std::lock_guard lock(mutex_);
  if (const auto known = position(key); known != entries_.end()) erase(known);
  bytes_ += kept->size();
  entries_.push_front({key, std::move(kept)});
  while (bytes_ > cap_bytes_) erase(std::prev(entries_.end()));
}

void recent_binaries::remove(const detail::sha256_digest& key) {
  const std::lock_guard lock(mutex_);
  if (const auto known = position(key); known != entries_.end()) erase(known);
}

std::list<recent_binaries::entry>::iterator recent_binaries::position(
    const detail::sha256_digest& key) {
  return std::find_if(entries_.begin(), entries_.end(),
                      [&](const entry& item) { return item.key == key; });
}

void recent_binaries::erase(std::list<entry>::iterator which) {
  bytes_ -= which->bytes->size();
  entries_.erase(which);
}

}  // namespace tune
