// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "libtune/base/cxx20.hpp"

namespace tune::operations::rfi {

/// Minima and maxima that find the medians of several consecutive windows, which share most of
/// their elements: window i has the elements i to i + width - 1. Windows of one half of them share
/// more than all of them do, and so on. So the elements common to all are sorted once, by Batcher's
/// odd-even merge sort; each half adds its other elements; and elements that are too small or too
/// large to become a median are dropped on the way.
///
/// Eight windows of 13 take 17.5 operations each; replacing one element of a sorted window takes
/// about 50. A value; the functions are thread-safe.
class median_network {
 public:
  /// @param width      of a window, odd
  /// @param windows    their number, at least 1
  /// @param neighbours true to find the elements before and after the median too
  median_network(std::size_t width, std::size_t windows, bool neighbours);

  /// The number of elements: width + windows - 1.
  std::size_t inputs() const noexcept { return inputs_; }
  /// The number of minima and maxima.
  std::size_t operations() const noexcept { return used_.size(); }

  /// Statements of a kernel that read window[0] to window[inputs() - 1] and set middle[i] for each
  /// window, and with neighbours lower[i] and upper[i] too.
  std::string text() const;

  /// For each window the lower neighbour, the median and the upper neighbour; without neighbours
  /// all three are the median. No element may be NaN.
  /// @param elements  inputs() elements
  std::vector<float> evaluate(std::span<const float> elements) const;

 private:
  using node = std::uint32_t;
  using nodes = std::vector<node>;
  struct operation {
    bool is_maximum;
    node a;
    node b;
  };
  /// Consecutive elements of a sorted sequence.
  struct sorted_part {
    nodes elements;
    std::size_t skipped = 0;  // number of elements before these
  };

  node combine(bool is_maximum, node a, node b);
  void exchange(node& a, node& b);
  nodes sort(nodes elements);
  nodes merge(nodes a, nodes b);
  sorted_part select(const nodes& a, const nodes& b, std::size_t begin, std::size_t end);
  void solve(std::size_t begin, std::size_t end, const sorted_part& outer, std::size_t outer_begin,
             std::size_t outer_end);
  void find_used();
  std::string name(node of) const;

  std::size_t width_;
  std::size_t windows_;
  std::size_t inputs_;
  std::size_t rank_begin_;  // the first rank of the wanted elements of a window
  std::size_t rank_end_;
  std::vector<operation> operations_;  // operation i makes node inputs_ + i
  std::vector<node> results_;          // lower, middle and upper of each window
  std::vector<std::size_t> used_;      // operations that results depend on, in order
};

}  // namespace tune::operations::rfi
