// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/array/layout.hpp"

#include <algorithm>
#include <cstdint>
#include <string>

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

namespace {

// The largest distance of pointers into one array.
constexpr std::size_t max_bytes = PTRDIFF_MAX;

bool fits_in_memory(const shape& padded, std::size_t element_bytes) noexcept {
  if (std::find(padded.begin(), padded.end(), std::size_t{0}) != padded.end()) return true;
  std::size_t bytes = element_bytes;
  for (const std::size_t extent : padded) {
    if (bytes > max_bytes / extent) return false;
    bytes *= extent;
  }
  return true;
}

}  // namespace

array_layout::array_layout(element_type type, const shape& size, const shape& padded)
    : type_(type), size_(size), padded_(padded) {
  if (!fits_in(size, padded)) {
    throw argument_error("the shape " + to_string(size) + " does not fit in the padded shape " +
                         to_string(padded));
  }
  if (!fits_in_memory(padded, element_bytes())) {
    throw argument_error("an array of " + std::string(type.name()) + " of the shape " +
                         to_string(padded) + " is larger than any memory");
  }
}

std::size_t array_layout::stride_bytes(std::size_t axis) const noexcept {
  std::size_t stride = element_bytes();
  for (std::size_t inner = axis + 1; inner < padded_.rank(); ++inner) stride *= padded_[inner];
  return stride;
}

const array_layout& detail::checked_layout(const array_layout& layout, element_type type) {
  if (layout.type() == type) return layout;
  throw type_error("a layout of " + std::string(layout.type().name()) +
                   " cannot be that of an array of " + std::string(type.name()));
}

}  // namespace tune
