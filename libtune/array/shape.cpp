// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/array/shape.hpp"

#include <algorithm>

#include "libtune/base/error.hpp"

namespace tune {

shape::shape(std::initializer_list<std::size_t> extents)
    : shape(std::span<const std::size_t>(extents.begin(), extents.size())) {}

shape::shape(std::span<const std::size_t> extents) : rank_(extents.size()) {
  if (rank_ > max_rank) {
    throw argument_error("an array has at most " + std::to_string(max_rank) + " axes, not " +
                         std::to_string(rank_));
  }
  std::copy(extents.begin(), extents.end(), extents_.begin());
}

std::string to_string(const shape& s) {
  std::string text = "(";
  for (std::size_t axis = 0; axis < s.rank(); ++axis) {
    text += (axis == 0 ? "" : ", ") + std::to_string(s[axis]);
  }
  return text + (s.rank() == 1 ? ",)" : ")");
}

bool fits_in(const shape& inner, const shape& padded) noexcept {
  return inner.rank() == padded.rank() &&
         std::equal(inner.begin(), inner.end(), padded.begin(),
                    [](std::size_t a, std::size_t b) { return a <= b; });
}

}  // namespace tune
