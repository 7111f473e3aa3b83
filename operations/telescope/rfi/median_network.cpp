// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "operations/telescope/rfi/median_network.hpp"

#include <algorithm>
#include <bit>
#include <fmt/format.h>
#include <iterator>
#include <limits>
#include <utility>

namespace tune::operations::rfi {
namespace {

// A placeholder above all elements: it pads sequences to a power of two.
constexpr std::uint32_t above = std::numeric_limits<std::uint32_t>::max();

}  // namespace

median_network::median_network(std::size_t width, std::size_t windows, bool neighbours)
    : width_(width),
      windows_(windows),
      inputs_(width + windows - 1),
      rank_begin_(width / 2),
      rank_end_(width / 2 + 1),
      results_(3 * windows) {
  if (neighbours && width > 1) {
    --rank_begin_;
    ++rank_end_;
  }
  solve(0, windows, {}, 0, 0);
  find_used();
}

median_network::node median_network::combine(bool is_maximum, node a, node b) {
  if (a == b) return a;
  if (a == above || b == above) return is_maximum ? above : std::min(a, b);
  operations_.push_back({is_maximum, a, b});
  return static_cast<node>(inputs_ + operations_.size() - 1);
}

void median_network::exchange(node& a, node& b) {
  const node lesser = combine(false, a, b);
  b = combine(true, a, b);
  a = lesser;
}

median_network::nodes median_network::sort(nodes elements) {
  if (elements.size() < 2) return elements;
  const auto half = elements.begin() + static_cast<std::ptrdiff_t>((elements.size() + 1) / 2);
  return merge(sort({elements.begin(), half}), sort({half, elements.end()}));
}

// Batcher's odd-even merge of two sorted sequences.
median_network::nodes median_network::merge(nodes a, nodes b) {
  const std::size_t count = a.size() + b.size();
  const std::size_t half = std::bit_ceil(std::max(a.size(), b.size()));
  a.resize(half, above);
  b.resize(half, above);
  nodes all = a;
  all.insert(all.end(), b.begin(), b.end());
  for (std::size_t step = half; step > 0; step /= 2) {
    if (step == half) {
      for (std::size_t i = 0; i < half; ++i) exchange(all[i], all[i + half]);
      continue;
    }
    for (std::size_t from = step; from + step < 2 * half; from += 2 * step) {
      for (std::size_t i = from; i < from + step; ++i) exchange(all[i], all[i + step]);
    }
  }
  all.resize(count);
  return all;
}

// Selects the elements of ranks [begin, end) of two sorted sequences together. The element of rank
// k is the minimum, over all ways to take k + 1 elements from the fronts, of the larger of the two
// last taken. That takes fewer operations than merging if one sequence is short.
median_network::sorted_part median_network::select(const nodes& a, const nodes& b,
                                                   std::size_t begin, std::size_t end) {
  sorted_part selected{{}, begin};
  if (b.size() > 2) {
    const nodes all = merge(a, b);
    selected.elements.assign(all.begin() + static_cast<std::ptrdiff_t>(begin),
                             all.begin() + static_cast<std::ptrdiff_t>(end));
    return selected;
  }
  for (std::size_t rank = begin; rank < end; ++rank) {
    node least = above;
    for (std::size_t from_b = 0; from_b <= std::min(rank + 1, b.size()); ++from_b) {
      const std::size_t from_a = rank + 1 - from_b;
      if (from_a > a.size()) continue;
      const node last = from_b == 0   ? a[from_a - 1]
                        : from_a == 0 ? b[from_b - 1]
                                      : combine(true, a[from_a - 1], b[from_b - 1]);
      least = combine(false, least, last);
    }
    selected.elements.push_back(least);
  }
  return selected;
}

// Windows begin to end - 1 have the elements end - 1 to begin + width - 1 in common; outer has
// those from outer_begin to outer_end - 1 in order.
void median_network::solve(std::size_t begin, std::size_t end, const sorted_part& outer,
                           std::size_t outer_begin, std::size_t outer_end) {
  const std::size_t common_begin = end - 1;
  const std::size_t common_end = std::max(begin + width_, common_begin);
  nodes added;
  for (std::size_t i = common_begin; i < common_end; ++i) {
    if (i < outer_begin || i >= outer_end) added.push_back(static_cast<node>(i));
  }
  // Other elements will be added, some below and some above these. That bounds the relevant ranks.
  const std::size_t count = common_end - common_begin;
  const std::size_t later = width_ - count;
  const std::size_t first = rank_begin_ > later ? rank_begin_ - later : 0;
  const std::size_t last = std::min(count, rank_end_);
  sorted_part inner;
  if (first < last) {
    inner =
        select(outer.elements, sort(std::move(added)), first - outer.skipped, last - outer.skipped);
    inner.skipped = first;
  }
  if (end - begin == 1) {
    const std::size_t middle = width_ / 2 - inner.skipped;
    results_[3 * begin] = inner.elements.front();
    results_[3 * begin + 1] = inner.elements[middle];
    results_[3 * begin + 2] = inner.elements.back();
    return;
  }
  const std::size_t half = (begin + end) / 2;
  solve(begin, half, inner, common_begin, common_end);
  solve(half, end, inner, common_begin, common_end);
}

void median_network::find_used() {
  std::vector<bool> needed(operations_.size());
  const auto need = [&](node of) {
    if (of >= inputs_) needed[of - inputs_] = true;
  };
  for (const node result : results_) need(result);
  for (std::size_t i = operations_.size(); i-- > 0;) {
    if (!needed[i]) continue;
    need(operations_[i].a);
    need(operations_[i].b);
  }
  for (std::size_t i = 0; i < operations_.size(); ++i) {
    if (needed[i]) used_.push_back(i);
  }
}

std::string median_network::name(node of) const {
  return of < inputs_ ? fmt::format("window[{}]", of) : fmt::format("n{}", of - inputs_);
}

std::string median_network::text() const {
  std::string text;
  for (const std::size_t i : used_) {
    const operation& made = operations_[i];
    text += fmt::format("  const float n{} = {}({}, {});\n", i, made.is_maximum ? "fmax" : "fmin",
                        name(made.a), name(made.b));
  }
  const bool neighbours = rank_end_ - rank_begin_ > 1;
  for (std::size_t i = 0; i < windows_; ++i) {
    if (neighbours) text += fmt::format("  lower[{}] = {};\n", i, name(results_[3 * i]));
    text += fmt::format("  middle[{}] = {};\n", i, name(results_[3 * i + 1]));
    if (neighbours) text += fmt::format("  upper[{}] = {};\n", i, name(results_[3 * i + 2]));
  }
  return text;
}

std::vector<float> median_network::evaluate(std::span<const float> elements) const {
  std::vector<float> values(elements.begin(), elements.end());
  for (const operation& made : operations_) {
    values.push_back(made.is_maximum ? std::max(values[made.a], values[made.b])
                                     : std::min(values[made.a], values[made.b]));
  }
  std::vector<float> found;
  for (const node result : results_) found.push_back(values[result]);
  return found;
}

}  // namespace tune::operations::rfi
