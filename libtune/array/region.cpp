// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/array/region.hpp"

#include <algorithm>
#include <span>
#include <string>

#include "libtune/base/error.hpp"

namespace tune {
namespace {

std::string to_string(const range& indices) {
  std::string text = indices.first() == 0 ? ":" : std::to_string(indices.first()) + ":";
  if (const auto end = indices.end()) text += std::to_string(*end);
  if (indices.step() != 1) text += ":" + std::to_string(indices.step());
  return text;
}

std::string to_string(const axis_selection& selection) {
  switch (selection.what()) {
    case axis_selection::kind::index: return std::to_string(selection.indices().first());
    case axis_selection::kind::range: return to_string(selection.indices());
    case axis_selection::kind::new_axis: return "newaxis";
    case axis_selection::kind::all: break;
  }
  return ":";
}

using kind = axis_selection::kind;

struct taken_axis {
  std::size_t first = 0;
  std::size_t count = 0;
  std::size_t step = 1;
};

std::string plural(std::size_t count, const char* one, const char* many) {
  return std::to_string(count) + " " + (count == 1 ? one : many);
}

/// One axis of an array while a region is applied to it, and its description for errors.
class axis_reader {
 public:
  axis_reader(const region& selected, std::size_t axis, std::size_t extent) noexcept
      : selected_(selected), axis_(axis), extent_(extent) {}

  taken_axis take(const axis_selection& selection) const {
    if (selection.what() == kind::all) return {.count = extent_};
    const range& asked = selection.indices();
    return selection.what() == kind::index ? take_index(asked.first()) : take_range(asked);
  }

 private:
  taken_axis take_index(std::ptrdiff_t index) const {
    const std::size_t back = distance_below_zero(index);
    const bool exists = index < 0 ? back <= extent_ : static_cast<std::size_t>(index) < extent_;
    if (!exists) fail("asks for index " + std::to_string(index));
    return {.first = index < 0 ? extent_ - back : static_cast<std::size_t>(index), .count = 1};
  }

  taken_axis take_range(const range& asked) const {
    if (asked.step() < 1) fail("asks for the step " + std::to_string(asked.step()));
    const std::size_t first = clipped(asked.first());
    const std::size_t end = asked.end() ? clipped(*asked.end()) : extent_;
    if (first >= end) fail("selects nothing");
    const auto step = static_cast<std::size_t>(asked.step());
    return {.first = first, .count = (end - first - 1) / step + 1, .step = step};
  }

  std::size_t clipped(std::ptrdiff_t index) const noexcept {
    if (index >= 0) return std::min(static_cast<std::size_t>(index), extent_);
    return extent_ - std::min(distance_below_zero(index), extent_);
  }

  // Unsigned, because the negation of the most negative number overflows.
  static std::size_t distance_below_zero(std::ptrdiff_t index) noexcept {
    return std::size_t{0} - static_cast<std::size_t>(index);
  }

  [[noreturn]] void fail(const std::string& what) const {
    throw argument_error("the region " + to_string(selected_) + " " + what + " along axis " +
                         std::to_string(axis_) + ", which has " +
                         plural(extent_, "element", "elements"));
  }

  const region& selected_;
  std::size_t axis_;
  std::size_t extent_;
};

void check_rank(const region& selected, const shape& size) {
  const auto items = selected.selections();
  const auto count = [&](kind wanted) {
    return static_cast<std::size_t>(std::count_if(
        items.begin(), items.end(), [&](const auto& item) { return item.what() == wanted; }));
  };
  const std::size_t added = count(kind::new_axis);
  if (items.size() - added > size.rank()) {
    throw argument_error("the region " + to_string(selected) + " selects along " +
                         plural(items.size() - added, "axis", "axes") + ", but an array of shape " +
                         to_string(size) + " has " + std::to_string(size.rank()));
  }
  const std::size_t rank = size.rank() - count(kind::index) + added;
  if (rank > shape::max_rank) {
    throw argument_error("the region " + to_string(selected) + " of an array of shape " +
                         to_string(size) + " would have " + std::to_string(rank) +
                         " axes, and the most is " + std::to_string(shape::max_rank));
  }
}

}  // namespace

region::region(std::initializer_list<axis_selection> selections)
    : region(std::span<const axis_selection>(selections.begin(), selections.size())) {}

region::region(std::span<const axis_selection> selections) : count_(selections.size()) {
  if (count_ > max_selections) {
    throw argument_error("a region selects along at most " + std::to_string(max_selections) +
                         " axes, not " + std::to_string(count_));
  }
  std::copy(selections.begin(), selections.end(), selections_.begin());
}

std::string to_string(const region& r) {
  std::string text;
  for (const axis_selection& selection : r.selections()) {
    text += (text.empty() ? "" : ", ") + to_string(selection);
  }
  return "[" + (text.empty() ? "..." : text) + "]";
}

strided_layout::strided_layout(const array_layout& layout) noexcept
    : type_(layout.type()), size_(layout.size()) {
  for (std::size_t axis = 0; axis < size_.rank(); ++axis) {
    strides_bytes_[axis] = layout.stride_bytes(axis);
  }
}

strided_layout::strided_layout(const array_layout& layout, const region& selected)
    : type_(layout.type()) {
  check_rank(selected, layout.size());
  std::array<std::size_t, shape::max_rank> extents{};
  std::size_t rank = 0;
  std::size_t axis = 0;
  const auto take = [&](const axis_selection& selection) {
    const axis_reader reader(selected, axis, layout.size()[axis]);
    const taken_axis taken = reader.take(selection);
    const std::size_t stride = layout.stride_bytes(axis++);
    offset_bytes_ += taken.first * stride;
    if (selection.what() == kind::index) return;
    // A step beyond the axis leaves one element, and its product with the stride might overflow.
    strides_bytes_[rank] = taken.count > 1 ? taken.step * stride : stride;
    extents[rank++] = taken.count;
  };
  for (const axis_selection& selection : selected.selections()) {
    if (selection.what() == kind::new_axis) {
      extents[rank++] = 1;
    } else {
      take(selection);
    }
  }
  while (axis < layout.size().rank()) take(all);
  size_ = shape(std::span(extents).first(rank));
}

}  // namespace tune
