// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tune/ahead/search_pace.hpp"

namespace tune {
namespace {

constexpr std::size_t enough_trials = 8;

}  // namespace

std::optional<search_outlook> search_pace::look(std::size_t left, clock::time_point now) {
  if (!first_left_) first_left_ = left;
  if (!first_trial_) {
    if (left < *first_left_) first_trial_ = moment{left, now};
    return std::nullopt;
  }
  if (left + enough_trials > first_trial_->left) return std::nullopt;
  const std::chrono::duration<double> elapsed = now - first_trial_->time;
  const auto rest =
      elapsed / static_cast<double>(first_trial_->left - left) * static_cast<double>(left);
  return search_outlook{.start = first_trial_->time - start_,
                        .rest = std::chrono::duration_cast<std::chrono::nanoseconds>(rest)};
}

}  // namespace tune
