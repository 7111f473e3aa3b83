// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/array/region.hpp"

#include <algorithm>

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

}  // namespace tune
