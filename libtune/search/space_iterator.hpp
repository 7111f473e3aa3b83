// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <iterator>

#include "libtune/base/cxx20.hpp"

namespace tune::detail {

/// Walks over a space; each step makes the configuration anew. The space has to outlive it.
template <class Space>
class space_iterator {
 public:
  using value_type = typename Space::value_type;
  using reference = value_type;
  using pointer = void;
  using difference_type = std::ptrdiff_t;
  // What operator* returns is no reference, which only C++20's iterators may do when they are
  // more than input iterators.
  using iterator_category = std::input_iterator_tag;
  using iterator_concept = std::forward_iterator_tag;

  space_iterator() = default;
  space_iterator(const Space* space, std::size_t index) : space_(space), index_(index) {}

  value_type operator*() const { return (*space_)[index_]; }
  space_iterator& operator++() {
    ++index_;
    return *this;
  }
  space_iterator operator++(int) {
    space_iterator before = *this;
    ++index_;
    return before;
  }
  friend bool operator==(const space_iterator&, const space_iterator&) = default;

 private:
  const Space* space_ = nullptr;
  std::size_t index_ = 0;
};

}  // namespace tune::detail
