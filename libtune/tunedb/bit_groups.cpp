// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tunedb/bit_groups.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <functional>
#include <map>
#include <numeric>

#include "libtune/measure/measure.hpp"

namespace tune::cli {
namespace {

std::vector<std::optional<double>> digests_of(const std::vector<stored_trial>& search) {
  std::vector<std::optional<double>> digests;
  for (const stored_trial& trial : search) {
    const metric* const own = find_metric(trial.metrics, bits_metric);
    digests.push_back(own != nullptr ? std::optional(own->value) : std::nullopt);
  }
  return digests;
}

}  // namespace

bit_groups::bit_groups(const std::vector<std::optional<double>>& digests)
    : groups_(digests.size()) {
  std::map<double, std::size_t> numbers;  // in the order of their first trials
  std::vector<std::size_t> sizes;
  for (std::size_t i = 0; i < digests.size(); ++i) {
    if (!digests[i] || std::isnan(*digests[i])) continue;
    const auto [place, is_new] = numbers.try_emplace(*digests[i], sizes.size());
    if (is_new) sizes.push_back(0);
    groups_[i] = place->second;
    ++sizes[place->second];
  }
  std::vector<std::size_t> order(sizes.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::ranges::greater{}, [&](std::size_t g) { return sizes[g]; });
  std::vector<std::size_t> rank(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    rank[order[i]] = i;
    sizes_.push_back(sizes[order[i]]);
  }
  for (auto& group : groups_) {
    if (group) group = rank[*group];
  }
}

std::string bit_groups::text() const {
  if (sizes_.empty()) return {};
  constexpr std::size_t most = 8;
  const bool is_long = sizes_.size() > most;
  const auto end = is_long ? sizes_.begin() + most : sizes_.end();
  const bool is_one = sizes_.size() == 1;
  return fmt::format("{} {} of bits: {}{} {}", sizes_.size(), is_one ? "group" : "groups",
                     fmt::join(sizes_.begin(), end, ", "), is_long ? ", ..." : "",
                     is_one && sizes_.front() == 1 ? "trial" : "trials");
}

result_bits::result_bits(const std::vector<stored_trial>& search, const record& result)
    : all(digests_of(search)) {
  std::optional<double> best;
  for (std::size_t i = 0; i < search.size(); ++i) {
    if (search[i].configuration == result.values) {
      of_result = all.groups()[i];
    } else if (search[i].score_ns && all.groups()[i] && (!best || *search[i].score_ns < *best)) {
      best = search[i].score_ns;
      of_runner_up = all.groups()[i];
    }
  }
}

std::string result_bits::text() const {
  std::string text = all.text();
  if (of_result) text += fmt::format("; the result is in group {}", *of_result + 1);
  if (!of_result || !of_runner_up) return text;
  return text + (of_result == of_runner_up ? ", and so is the next one"
                                           : fmt::format(", the next one in group {}: its results "
                                                         "have other bits",
                                                         *of_runner_up + 1));
}

}  // namespace tune::cli
