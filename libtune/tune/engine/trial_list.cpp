// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tune/engine/trial_list.hpp"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include "libtune/base/plain_text.hpp"

namespace tune {

const trial& trial_list::put(trial item) {
  const auto [place, is_new] = places_.emplace(item.index, trials_.size());
  if (is_new) {
    trials_.push_back(std::move(item));
  } else {
    count(trials_[place->second], static_cast<std::size_t>(-1));
    trials_[place->second] = std::move(item);
  }
  const trial& kept = trials_[place->second];
  count(kept, 1);
  if (is_new) {
    compare(kept);
  } else {
    best_.reset();
    best_made_.reset();
    for (const trial& each : trials_) compare(each);
  }
  return kept;
}

const trial* trial_list::find(std::size_t configuration) const {
  const auto place = places_.find(configuration);
  return place == places_.end() ? nullptr : &trials_[place->second];
}

std::vector<trial> trial_list::take() {
  std::vector<trial> all = std::move(trials_);
  *this = {};
  return all;
}

// A step of -1, as an unsigned number that wraps round, removes the trial from the counts.
void trial_list::count(const trial& item, std::size_t step) {
  if (item.origin == trial_origin::resumed) counts_.taken_over += step;
  (item.score ? counts_.measured : counts_.failed) += step;
  if (item.dropped) counts_.dropped += step;
  if (is_skipped(item)) counts_.skipped += step;
}

void trial_list::compare(const trial& item) {
  if (!item.score) return;
  if (!best_ || *item.score < *best_) best_ = item.score;
  if (item.origin != trial_origin::made) return;
  if (!best_made_ || *item.score < *best_made_) best_made_ = item.score;
}

bool is_skipped(const trial& item) noexcept {
  if (item.score) return false;
  return item.outcome == outcome::skipped || item.outcome == outcome::over_limit ||
         item.origin == trial_origin::cached;
}

run_time score_at_begin(const trial& of) noexcept { return *of.score / of.level; }

bool is_better(const trial& candidate, const trial& best) noexcept {
  if (*candidate.score != *best.score) return *candidate.score < *best.score;
  return candidate.index < best.index;
}

namespace {

using detail::is_digit;

/// The text with each number (12, 1.5, 1e-05) replaced by one mark.
std::string without_numbers(std::string_view text) {
  std::string kept;
  while (!text.empty()) {
    if (!is_digit(text.front())) {
      kept += text.front();
      text.remove_prefix(1);
      continue;
    }
    kept += '#';
    const auto skip_digits = [&] {
      text.remove_prefix(
          static_cast<std::size_t>(std::ranges::find_if_not(text, is_digit) - text.begin()));
    };
    skip_digits();
    if (text.size() > 1 && text[0] == '.' && is_digit(text[1])) {
      text.remove_prefix(1);
      skip_digits();
    }
    if (text.size() > 2 && text[0] == 'e' && (text[1] == '-' || text[1] == '+') &&
        is_digit(text[2])) {
      text.remove_prefix(2);
      skip_digits();
    }
  }
  return kept;
}

}  // namespace

std::vector<reason_group> group_reasons(const std::vector<trial>& trials) {
  std::vector<reason_group> groups;
  std::map<std::pair<outcome, std::string>, std::size_t> places;
  for (std::size_t i = 0; i < trials.size(); ++i) {
    const trial& item = trials[i];
    if (item.score) continue;
    std::string reason = item.reason.substr(0, item.reason.find('\n'));
    const auto [place, is_new] =
        places.try_emplace({item.outcome, without_numbers(reason)}, groups.size());
    if (is_new) groups.push_back({.outcome = item.outcome, .reason = reason, .example = i});
    reason_group& group = groups[place->second];
    group.differs = group.differs || group.reason != reason;
    ++group.count;
  }
  std::ranges::stable_sort(groups, std::ranges::greater{}, &reason_group::count);
  return groups;
}

}  // namespace tune
