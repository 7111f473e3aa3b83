// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tune/engine/reason_groups.hpp"

#include <algorithm>
#include <cctype>
#include <map>
#include <string_view>
#include <utility>

namespace tune {
namespace {

bool is_digit(char c) noexcept { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

/// The text with one mark for each number: 12, 1.5, 1e-05.
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
