// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <random>
#include <span>
#include <vector>

#include "libtune/array/layout.hpp"
#include "libtune/array/region.hpp"

namespace tune::testing {

/// The same numbers with every standard library.
class random_numbers {
 public:
  explicit random_numbers(unsigned seed) : engine_(seed) {}

  std::size_t below(std::size_t limit) { return engine_() % limit; }
  bool coin() { return below(2) == 1; }

 private:
  std::mt19937 engine_;
};

/// The shape of a region: up to eight axes, the fewer the longer.
inline std::vector<std::size_t> random_extents(random_numbers& random) {
  const std::size_t rank = random.below(shape::max_rank + 1);
  const std::size_t longest = rank > 5 ? 2 : rank > 3 ? 3 : 6;
  std::vector<std::size_t> extents;
  for (std::size_t i = 0; i < rank; ++i) extents.push_back(1 + random.below(longest));
  return extents;
}

/// A region of a shape that was asked for, in some array, and where its elements are. It is made
/// from the indices to the way in which they are written, on purpose not as the library reads it.
class random_region {
 public:
  region selected;
  shape size;
  shape padded;
  std::vector<std::size_t> places;  ///< in C order, counted in elements of the padded array

  /// In an array of any size.
  random_region(random_numbers& random, const std::vector<std::size_t>& extents) : random_(random) {
    std::vector<std::size_t> sizes;
    for (std::size_t i = 0; i < extents.size(); ++i) {
      const std::size_t axes_left = extents.size() - i;
      if (sizes.size() + axes_left < shape::max_rank && random_.below(5) == 0) {
        sizes.push_back(1 + random_.below(3));
        add_index(sizes.back());
      }
      if (extents[i] == 1 && random_.below(4) == 0) {
        items_.emplace_back(new_axis);
      } else {
        sizes.push_back(add_axis(extents[i], extents.size() > 4));
      }
    }
    finish(sizes);
  }

  /// In an array of a given size, which has as many axes.
  random_region(random_numbers& random, const std::vector<std::size_t>& extents, const shape& whole,
                const shape& whole_padded)
      : size(whole), padded(whole_padded), random_(random) {
    for (std::size_t i = 0; i < extents.size(); ++i) {
      const std::size_t steps = extents[i] - 1;
      const std::size_t step = 1 + random_.below(steps == 0 ? 3 : (whole[i] - 1) / steps);
      const std::size_t first = random_.below(whole[i] - steps * step);
      add_range(first, extents[i], step, whole[i]);
    }
    select();
  }

 private:
  void finish(const std::vector<std::size_t>& sizes) {
    std::vector<std::size_t> padded_sizes = sizes;
    for (std::size_t& extent : padded_sizes) extent += random_.below(3) == 0 ? 1 : 0;
    size = shape(sizes);
    padded = shape(padded_sizes);
    select();
  }

  void select() {
    selected = region(std::span<const axis_selection>(items_));
    places.push_back(0);
    for (std::size_t axis = 0; axis < size.rank(); ++axis) {
      std::vector<std::size_t> next;
      for (const std::size_t place : places) {
        for (const std::size_t index : indices_[axis]) next.push_back(place * padded[axis] + index);
      }
      places = next;
    }
  }

  void add_index(std::size_t extent) {
    const std::size_t index = random_.below(extent);
    indices_.push_back({index});
    items_.emplace_back(written(index, extent));
  }

  /// Returns the extent of the array's axis.
  std::size_t add_axis(std::size_t count, bool is_small) {
    if (random_.below(4) == 0) {
      indices_.emplace_back();
      for (std::size_t i = 0; i < count; ++i) indices_.back().push_back(i);
      items_.emplace_back(all);
      return count;
    }
    const std::size_t step = 1 + random_.below(is_small ? 2 : 3);
    const std::size_t first = random_.below(is_small ? 2 : 3);
    const std::size_t extent = first + (count - 1) * step + 1 + random_.below(is_small ? 2 : 3);
    add_range(first, count, step, extent);
    return extent;
  }

  void add_range(std::size_t first, std::size_t count, std::size_t step, std::size_t extent) {
    indices_.emplace_back();
    for (std::size_t i = 0; i < count; ++i) indices_.back().push_back(first + i * step);
    const std::size_t past_last = indices_.back().back() + 1;
    const std::size_t latest_end = indices_.back().back() + step;
    const auto begin = written(first, extent);
    if (latest_end >= extent && random_.coin()) {
      items_.emplace_back(from(begin, step));
      return;
    }
    const std::size_t end = random_.coin() ? past_last : latest_end;
    if (end < extent) {
      items_.emplace_back(range(begin, written(end, extent), step));
    } else {
      items_.emplace_back(range(begin, end, step));
    }
  }

  /// An index by one of its two names.
  std::ptrdiff_t written(std::size_t index, std::size_t extent) {
    const auto value = static_cast<std::ptrdiff_t>(index);
    return random_.coin() ? value : value - static_cast<std::ptrdiff_t>(extent);
  }

  random_numbers& random_;
  std::vector<axis_selection> items_;
  std::vector<std::vector<std::size_t>> indices_;  // of each axis of the array
};

inline bool overlap(const random_region& a, const random_region& b) {
  return std::any_of(a.places.begin(), a.places.end(), [&](std::size_t place) {
    return std::find(b.places.begin(), b.places.end(), place) != b.places.end();
  });
}

}  // namespace tune::testing
