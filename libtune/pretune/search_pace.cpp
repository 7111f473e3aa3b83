// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/pretune/search_pace.hpp"

#include <cstdint>

namespace tune {
namespace {

constexpr std::size_t enough_trials = 8;

}  // namespace

std::optional<std::chrono::nanoseconds> search_pace::expect(std::size_t left,
                                                            clock::time_point now) {
  if (!first_left_) first_left_ = left;
  if (!begin_) {
    if (left < *first_left_) begin_ = moment{left, now};
    return std::nullopt;
  }
  if (left + enough_trials > begin_->left) return std::nullopt;
  const std::chrono::duration<double, std::nano> elapsed = now - begin_->time;
  const double each = elapsed.count() / static_cast<double>(begin_->left - left);
  return std::chrono::nanoseconds(static_cast<std::int64_t>(each * static_cast<double>(left)));
}

}  // namespace tune
