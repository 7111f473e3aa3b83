// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>
#include <vector>

#include "libtune/array/host_array.hpp"
#include "libtune/array/layout.hpp"
#include "libtune/base/dtype.hpp"

namespace tune::testing {

/// An element of an odd size.
struct pixel {
  std::uint8_t red, green, blue;

  friend bool operator==(const pixel&, const pixel&) = default;
};

}  // namespace tune::testing

LIBTUNE_ELEMENT(tune::testing::pixel)

namespace tune::testing {

/// One shape of each rank from 0 to 5.
inline const std::array<shape, 6> shapes_of_each_rank{
    shape{}, shape{5}, shape{3, 4}, shape{2, 3, 4}, shape{2, 3, 2, 3}, shape{2, 2, 3, 2, 2}};

/// The shape with each axis padded whose bit is set.
inline shape padded_by(const shape& size, unsigned axes) {
  std::array<std::size_t, shape::max_rank> extents{};
  for (std::size_t i = 0; i < size.rank(); ++i) {
    extents[i] = size[i] + ((axes >> i) % 2 == 0 ? 0 : 1 + i % 3);
  }
  return shape(std::span(extents).first(size.rank()));
}

/// The number of ways in which padded_by can pad a shape.
inline unsigned paddings(const shape& size) { return 1U << size.rank(); }

/// Calls visit with the place that each element has in the padded array, in C order, counted in
/// elements. On purpose another way to count than the library's.
template <class Visitor>
void for_each_place(const shape& size, const shape& padded, Visitor&& visit) {
  for (std::size_t place = 0; place < padded.elements(); ++place) {
    std::size_t rest = place;
    bool is_element = true;
    for (std::size_t axis = size.rank(); axis-- > 0;) {
      is_element = is_element && rest % padded[axis] < size[axis];
      rest /= padded[axis];
    }
    if (is_element) visit(place);
  }
}

/// A value of the n-th element that is neither zero nor that of its neighbours.
template <element T>
T numbered(std::size_t n) {
  const auto value = static_cast<signed char>(n % 120 + 1);
  if constexpr (std::is_arithmetic_v<T>) {
    return static_cast<T>(value);
  } else if constexpr (std::is_same_v<T, pixel>) {
    const auto byte = static_cast<std::uint8_t>(value);
    return {byte, static_cast<std::uint8_t>(byte + 1), static_cast<std::uint8_t>(byte + 2)};
  } else if constexpr (std::is_constructible_v<T, signed char, int>) {
    return T(value, -value);
  } else {
    return T(static_cast<float>(value));
  }
}

/// A value that no numbered element has.
template <element T>
T background() {
  if constexpr (std::is_same_v<T, pixel>)
    return {125, 0, 0};
  else
    return T(125);
}

/// Elements that are numbered in C order; the padding holds another value.
template <element T>
host_array<T> numbered_array(const shape& size, const shape& padded) {
  host_array<T> made(size, padded);
  made.fill(background<T>());
  std::size_t n = 0;
  for_each_place(size, padded, [&](std::size_t place) { made.data()[place] = numbered<T>(n++); });
  return made;
}

/// Returns an element of a numbered array.
template <element T>
std::vector<T> numbers(std::size_t count) {
  std::vector<T> values;
  for (std::size_t n = 0; n < count; ++n) values.push_back(numbered<T>(n));
  return values;
}

template <element T>
std::vector<T> elements_of(const host_array<T>& array) {
  std::vector<T> values;
  for_each_place(array.size(), array.layout().padded(),
                 [&](std::size_t place) { values.push_back(array.data()[place]); });
  return values;
}

/// Counts this value in the whole padded array.
template <element T>
std::size_t count_in_padded(const host_array<T>& array, const T& value) {
  return static_cast<std::size_t>(
      std::count(array.data(), array.data() + array.padded_elements(), value));
}

}  // namespace tune::testing
