// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tune/engine/held_up_time.hpp"

#include <algorithm>

#include "libtune/base/never_destroyed.hpp"

namespace tune::detail {

held_up_time::interval::interval(held_up_time& of) : of_(of) {
  const std::lock_guard lock(of_.mutex_);
  if (of_.intervals_++ == 0) of_.begin_ = of_.now_();
}

held_up_time::interval::~interval() {
  const std::lock_guard lock(of_.mutex_);
  if (--of_.intervals_ == 0) of_.ended_ += of_.now_() - of_.begin_;
}

std::chrono::nanoseconds held_up_time::total() const {
  const std::lock_guard lock(mutex_);
  return intervals_ == 0 ? ended_ : ended_ + (now_() - begin_);
}

held_up_time& held_up() {
  static never_destroyed<held_up_time> of_process{wall_clock(std::chrono::steady_clock::now)};
  return *of_process;
}

std::optional<std::chrono::nanoseconds> part_of_total(std::chrono::nanoseconds total,
                                                      std::chrono::nanoseconds used) {
  constexpr int part_of_rest = 4;
  constexpr int part_of_whole = 20;
  const std::chrono::nanoseconds left = total - used;
  if (left.count() <= 0) return std::nullopt;
  return std::min(left, std::max(left / part_of_rest, total / part_of_whole));
}

}  // namespace tune::detail
