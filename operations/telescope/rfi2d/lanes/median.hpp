// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "operations/telescope/rfi2d/lanes/lanes.hpp"

// Medians of sixteen lists at once, of numbers that are not negative. Excluded numbers are
// +infinity, so that they come last, and each list has its own count.
namespace tune::operations {
namespace {

/// Lists up to this length are sorted by a network; longer ones are searched.
constexpr std::size_t longest_sorted = 96;

/// Batcher's merge exchange (Knuth, The Art of Computer Programming, 5.2.2, algorithm M).
RFI2D_INLINE void sort_lanes(lanes* x, std::size_t n) {
  if (n < 2) return;
  std::size_t top = 1;
  while (2 * top < n) top *= 2;
  for (std::size_t p = top; p > 0; p /= 2) {
    std::size_t q = top, r = 0, distance = p;
    for (;;) {
      for (std::size_t i = 0; i + distance < n; ++i) {
        if ((i & p) != r) continue;
        const lanes a = x[i], b = x[i + distance];
        x[i] = smaller(a, b);
        x[i + distance] = larger(a, b);
      }
      if (q == p) break;
      distance = q - p;
      q /= 2;
      r = p;
    }
  }
}

RFI2D_INLINE lanes median_by_sorting(lanes* x, std::size_t n, int_lanes count) {
  sort_lanes(x, n);
  lanes result = infinite_lanes;
  for (std::size_t i = 0; i < lane_count; ++i) {
    if (count[i] == 0) continue;
    const lanes* const middle = x + (count[i] - 1) / 2;
    result[i] = count[i] % 2 != 0 ? (*middle)[i] : ((*middle)[i] + middle[1][i]) * 0.5F;
  }
  return result;
}

/// The number of elements of each list below a limit. Floats that are not negative have the order
/// of their bits.
RFI2D_INLINE int_lanes count_below(const lanes* x, std::size_t n, int_lanes limit) {
  int_lanes even{}, odd{};
  std::size_t i = 0;
  for (; i + 2 <= n; i += 2) {
    even = count_less(even, bits_of(x[i]), limit);
    odd = count_less(odd, bits_of(x[i + 1]), limit);
  }
  if (i < n) even = count_less(even, bits_of(x[i]), limit);
  return even + odd;
}

/// The next value to test between low and high, with `below` and `above` numbers below them: the
/// position of number `rank` for evenly spread numbers, shifted a little to either side in turn so
/// that both ends approach it; sometimes the middle, which needs log2 steps for any numbers.
RFI2D_INLINE int_lanes next_pivot(int_lanes low, int_lanes high, int_lanes below, int_lanes above,
                                  int_lanes rank, unsigned step) {
  int_lanes pivot = low + ((high - low) >> 1);
  if (step % 4 != 3) {
    const lanes aside = step == 0 ? zero_lanes : zero_lanes + (step % 2 != 0 ? 0.06F : -0.06F);
    const lanes part = (__builtin_convertvector(rank - below, lanes) + 0.5F) /
                           __builtin_convertvector(above - below, lanes) +
                       aside;
    const lanes from = float_of(low);
    const lanes value = from + (float_of(high) - from) * part;
    const int_lanes there = bits_of(value);
    pivot = ((there > low) & (there < high)) ? there : pivot;
  }
  return pivot;
}

RFI2D_INLINE lanes median_by_search(const lanes* x, std::size_t n, int_lanes count) {
  int_lanes rank = (count - 1) >> 1;
  rank = rank < 0 ? int_lanes{} : rank;
  constexpr std::int32_t infinite_bits = 0x7F800000;
  int_lanes least = int_lanes{} + infinite_bits, most{};
  for (std::size_t i = 0; i < n; ++i) {
    const int_lanes here = bits_of(x[i]);
    least = here < least ? here : least;
    most = ((here > most) & (here < infinite_bits)) ? here : most;
  }
  // The number of this rank is in [low, high). In a list of infinities alone no number is finite.
  int_lanes low = least, below{};
  int_lanes high = most + 1, above = count;
  high = low < high ? high : low + 1;
  for (unsigned step = 0;; ++step) {
    const int_lanes open = (above - below > 1) & (high - low > 1);
    if (!any(open)) break;
    const int_lanes pivot = next_pivot(low, high, below, above, rank, step);
    const int_lanes found = count_below(x, n, pivot);
    const int_lanes up = open & (found <= rank);
    const int_lanes down = open & (found > rank);
    low = up ? pivot : low;
    below = up ? found : below;
    high = down ? pivot : high;
    above = down ? found : above;
  }
  // The least number from low on has the rank, and numbers equal to it may have the next.
  const int_lanes none = int_lanes{} + 0x7FFFFFFF;
  int_lanes first = none;
  for (std::size_t i = 0; i < n; ++i) {
    const int_lanes here = bits_of(x[i]);
    first = ((here >= low) & (here < first)) ? here : first;
  }
  int_lanes up_to{}, next = none;
  for (std::size_t i = 0; i < n; ++i) {
    const int_lanes here = bits_of(x[i]);
    up_to = count_less(up_to, here, first + 1);
    next = ((here > first) & (here < next)) ? here : next;
  }
  const lanes a = float_of(first);
  const lanes b = float_of(up_to > rank + 1 ? first : next);
  const lanes middle = (count & 1) != 0 ? a : (a + b) * 0.5F;
  return count == 0 ? infinite_lanes : middle;
}

/// The median of the first `count` numbers, in ascending order, of each list; the mean of the
/// middle two for an even count; +infinity if count is 0. Overwrites x.
RFI2D_INLINE lanes median(lanes* x, std::size_t n, int_lanes count) {
  return n <= longest_sorted ? median_by_sorting(x, n, count) : median_by_search(x, n, count);
}

}  // namespace
}  // namespace tune::operations
