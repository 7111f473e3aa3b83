// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/verify/comparison.hpp"

#include <array>
#include <cmath>
#include <complex>
#include <cstdint>
#include <cstring>
#include <fmt/format.h>
#include <span>
#include <type_traits>

#include "libtune/base/error.hpp"

namespace tune {
namespace {

template <class T>
inline constexpr bool is_complex = false;
template <class T>
inline constexpr bool is_complex<std::complex<T>> = true;

// What a real type computes with.
template <class T>
using float_of = std::conditional_t<std::is_same_v<T, double>, double, float>;

// NaN and infinite distances fail whatever the tolerance, so infinity matches nothing but itself.
bool is_close(double distance, double magnitude, const tolerance& allowed) {
  return std::isfinite(distance) && distance <= allowed.absolute + allowed.relative * magnitude;
}

template <class T>
bool is_within(const T& expected, const T& got, const tolerance& allowed) {
  if (expected == got) return true;
  if constexpr (is_complex<T>) {
    const std::complex<double> wanted(expected);
    return is_close(std::abs(std::complex<double>(got) - wanted), std::abs(wanted), allowed);
  } else if constexpr (std::is_integral_v<T>) {
    // In unsigned arithmetic, so that no difference overflows.
    using wide = std::uint64_t;
    const wide distance = expected > got ? static_cast<wide>(expected) - static_cast<wide>(got)
                                         : static_cast<wide>(got) - static_cast<wide>(expected);
    return is_close(static_cast<double>(distance), std::abs(static_cast<double>(expected)),
                    allowed);
  } else {
    const double wanted = static_cast<float_of<T>>(expected);
    const double found = static_cast<float_of<T>>(got);
    return is_close(std::abs(found - wanted), std::abs(wanted), allowed);
  }
}

template <class T>
std::string text_of(const T& element) {
  if constexpr (is_complex<T>) {
    return fmt::format("({}, {})", element.real(), element.imag());
  } else if constexpr (std::is_integral_v<T>) {
    return std::to_string(element);
  } else {
    return fmt::format("{}", static_cast<float_of<T>>(element));
  }
}

/// Walks the rows of a shape, which lie along its last axis, in C order. A shape without axes is
/// one row of one element.
class row_walk {
 public:
  explicit row_walk(const shape& size)
      : size_(size),
        outer_axes_(size.rank() == 0 ? 0 : size.rank() - 1),
        length_(size.rank() == 0 ? 1 : size[outer_axes_]) {}

  std::size_t length() const noexcept { return length_; }

  /// Where the row begins in an array of this padding, in elements.
  std::size_t offset_in(const shape& padded) const noexcept {
    std::size_t offset = 0;
    for (std::size_t axis = 0; axis < padded.rank(); ++axis) {
      offset = offset * padded[axis] + index_[axis];
    }
    return offset;
  }

  shape index_of(std::size_t column) const {
    auto index = index_;
    if (size_.rank() != 0) index[outer_axes_] = column;
    return shape(std::span(index).first(size_.rank()));
  }

  void advance() noexcept {
    for (std::size_t axis = outer_axes_; axis-- > 0;) {
      if (++index_[axis] < size_[axis]) return;
      index_[axis] = 0;
    }
  }

 private:
  shape size_;
  std::size_t outer_axes_;
  std::size_t length_;
  std::array<std::size_t, shape::max_rank> index_{};
};

template <class T>
comparison compare_elements(const array_layout& expected_layout, const void* expected,
                            const array_layout& got_layout, const void* got,
                            const tolerance& allowed) {
  comparison result{.elements = expected_layout.size().elements()};
  row_walk row(expected_layout.size());
  for (std::size_t done = 0; done < result.elements; done += row.length(), row.advance()) {
    const T* want = static_cast<const T*>(expected) + row.offset_in(expected_layout.padded());
    const T* have = static_cast<const T*>(got) + row.offset_in(got_layout.padded());
    for (std::size_t i = 0; i < row.length(); ++i) {
      if (is_within(want[i], have[i], allowed) || result.mismatches++ != 0) continue;
      result.first = row.index_of(i);
      result.expected = text_of(want[i]);
      result.got = text_of(have[i]);
    }
  }
  return result;
}

std::string hex_of(const std::byte* bytes, std::size_t count) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) {
    text += fmt::format("{:02x}", std::to_integer<unsigned>(bytes[i]));
  }
  return text;
}

// What their members are is not known, so their bytes decide.
comparison compare_structs(const array_layout& expected_layout, const void* expected,
                           const array_layout& got_layout, const void* got, const tolerance&) {
  const std::size_t size = expected_layout.element_bytes();
  comparison result{.elements = expected_layout.size().elements()};
  row_walk row(expected_layout.size());
  for (std::size_t done = 0; done < result.elements; done += row.length(), row.advance()) {
    const auto* want =
        static_cast<const std::byte*>(expected) + size * row.offset_in(expected_layout.padded());
    const auto* have =
        static_cast<const std::byte*>(got) + size * row.offset_in(got_layout.padded());
    for (std::size_t i = 0; i < row.length(); ++i, want += size, have += size) {
      if (std::memcmp(want, have, size) == 0 || result.mismatches++ != 0) continue;
      result.first = row.index_of(i);
      result.expected = hex_of(want, size);
      result.got = hex_of(have, size);
    }
  }
  return result;
}

using compare_function = comparison (*)(const array_layout&, const void*, const array_layout&,
                                        const void*, const tolerance&);

compare_function comparer_of(dtype type) {
  switch (type) {
    case dtype::int8: return compare_elements<std::int8_t>;
    case dtype::uint8: return compare_elements<std::uint8_t>;
    case dtype::int16: return compare_elements<std::int16_t>;
    case dtype::uint16: return compare_elements<std::uint16_t>;
    case dtype::int32: return compare_elements<std::int32_t>;
    case dtype::uint32: return compare_elements<std::uint32_t>;
    case dtype::int64: return compare_elements<std::int64_t>;
    case dtype::uint64: return compare_elements<std::uint64_t>;
    case dtype::float16: return compare_elements<float16>;
    case dtype::bfloat16: return compare_elements<bfloat16>;
    case dtype::float32: return compare_elements<float>;
    case dtype::float64: return compare_elements<double>;
    case dtype::complex64: return compare_elements<std::complex<float>>;
    case dtype::complex128: return compare_elements<std::complex<double>>;
  }
  throw type_error("dtype " + std::to_string(static_cast<int>(type)) + " is none");
}

}  // namespace

std::string comparison::describe() const {
  if (matches()) return fmt::format("all {} elements match", elements);
  return fmt::format("{} of {} elements differ, the first at {}: expected {}, got {}", mismatches,
                     elements, to_string(first), expected, got);
}

comparison compare(const array_layout& expected_layout, const void* expected,
                   const array_layout& got_layout, const void* got, const tolerance& allowed) {
  if (expected_layout.type() != got_layout.type() || expected_layout.size() != got_layout.size()) {
    throw argument_error(fmt::format(
        "the answer is {} of {}, the result {} of {}", to_string(expected_layout.size()),
        expected_layout.type().name(), to_string(got_layout.size()), got_layout.type().name()));
  }
  const auto type = expected_layout.type().dtype();
  const compare_function comparer = type ? comparer_of(*type) : compare_structs;
  return comparer(expected_layout, expected, got_layout, got, allowed);
}

}  // namespace tune
