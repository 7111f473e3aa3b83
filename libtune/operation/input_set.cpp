// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/operation/input_set.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <limits>
#include <random>
#include <span>
#include <type_traits>
#include <vector>

#include "libtune/base/error.hpp"
#include "libtune/base/visit_dtype.hpp"
#include "libtune/base/word_table.hpp"

namespace tune {
namespace {

constexpr detail::word_table<input_kind, 7> kind_words{
    {"shuffled", "uniform", "zeros", "saturated", "extremes", "subnormals", "not_finite"}};

using generator = std::mt19937_64;  // the same numbers in each standard library
constexpr generator::result_type seed = 20261129;

template <class T>
struct part_of {
  using type = T;
};
template <class T>
struct part_of<std::complex<T>> {
  using type = T;
};

/// The numbers of a type that kernels have trouble with.
template <class P>
struct numbers {
  static constexpr bool has_subnormals = std::is_floating_point_v<P>;
  static P greatest() { return std::numeric_limits<P>::max(); }
  static P least() { return std::numeric_limits<P>::lowest(); }
  static P subnormal(unsigned halvings) {
    return static_cast<P>(std::numeric_limits<P>::min() / static_cast<P>(2U << halvings));
  }
  static P infinity() { return std::numeric_limits<P>::infinity(); }
  static P nan() { return std::numeric_limits<P>::quiet_NaN(); }
  static P negative(P value) { return static_cast<P>(-value); }
};

template <class P>
struct short_float {
  static constexpr bool has_subnormals = true;
  static P negative(P value) { return P::from_bits(value.bits() | 0x8000U); }
};
template <>
struct numbers<float16> : short_float<float16> {
  static float16 greatest() { return float16::from_bits(0x7BFF); }
  static float16 least() { return negative(greatest()); }
  static float16 infinity() { return float16::from_bits(0x7C00); }
  static float16 subnormal(unsigned halvings) {
    return float16::from_bits(static_cast<std::uint16_t>(0x0200U >> halvings));
  }
  static float16 nan() { return float16::from_bits(0x7E00); }
};
template <>
struct numbers<bfloat16> : short_float<bfloat16> {
  static bfloat16 greatest() { return bfloat16::from_bits(0x7F7F); }
  static bfloat16 least() { return negative(greatest()); }
  static bfloat16 infinity() { return bfloat16::from_bits(0x7F80); }
  static bfloat16 subnormal(unsigned halvings) {
    return bfloat16::from_bits(static_cast<std::uint16_t>(0x0040U >> halvings));
  }
  static bfloat16 nan() { return bfloat16::from_bits(0x7FC0); }
};

template <class P>
using wide = std::conditional_t<std::is_integral_v<P>, P, double>;

template <class P>
wide<P> widened(P value) {
  if constexpr (std::is_integral_v<P> || std::is_floating_point_v<P>) {
    return value;
  } else {
    return static_cast<double>(static_cast<float>(value));
  }
}

template <class P>
P narrowed(double value) {
  if constexpr (std::is_floating_point_v<P>) {
    return static_cast<P>(value);
  } else {
    return P(static_cast<float>(value));
  }
}

template <class P>
void make_uniform(std::span<P> parts, generator& random) {
  bool any = false;
  wide<P> least{};
  wide<P> greatest{};
  for (const P part : parts) {
    const wide<P> value = widened(part);
    if constexpr (!std::is_integral_v<P>) {
      if (!std::isfinite(value)) continue;
    }
    least = any ? std::min(least, value) : value;
    greatest = any ? std::max(greatest, value) : value;
    any = true;
  }
  for (P& part : parts) {
    if constexpr (std::is_integral_v<P>) {
      const auto range = static_cast<std::uint64_t>(greatest) - static_cast<std::uint64_t>(least);
      const std::uint64_t drawn = random();
      const std::uint64_t step =
          range == std::numeric_limits<std::uint64_t>::max() ? drawn : drawn % (range + 1);
      part = static_cast<P>(static_cast<std::uint64_t>(least) + step);
    } else {
      constexpr double unit = 0x1p-53;
      const double at = static_cast<double>(random() >> 11U) * unit;
      part = narrowed<P>(least * (1 - at) + greatest * at);
    }
  }
}

template <class P>
void make_special(std::span<P> parts, input_kind kind) {
  using of = numbers<P>;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    switch (kind) {
      case input_kind::saturated: parts[i] = of::greatest(); break;
      case input_kind::extremes: parts[i] = i % 2 == 0 ? of::least() : of::greatest(); break;
      case input_kind::subnormals:
        if (i % 16 < 8) break;
        parts[i] = of::subnormal(i % 4);
        if (i % 2 == 1) parts[i] = of::negative(parts[i]);
        break;
      case input_kind::not_finite:
        if (i % 21 == 3) parts[i] = of::nan();
        if (i % 21 == 10) parts[i] = of::infinity();
        if (i % 21 == 17) parts[i] = of::negative(of::infinity());
        break;
      default: break;
    }
  }
}

void shuffle(std::span<std::byte> elements, std::size_t bytes, generator& random) {
  for (std::size_t left = elements.size() / bytes; left > 1; --left) {
    const std::size_t other = random() % left;
    if (other == left - 1) continue;
    const auto last = elements.begin() + static_cast<std::ptrdiff_t>((left - 1) * bytes);
    std::swap_ranges(last, last + static_cast<std::ptrdiff_t>(bytes),
                     elements.begin() + static_cast<std::ptrdiff_t>(other * bytes));
  }
}

[[noreturn]] void refuse(const element_type& type, input_kind kind) {
  throw type_error(
      fmt::format("there are no contents of kind '{}' for elements of {}; use another "
                  "kind for this slot, or define the contents by input_set::set",
                  input_kind_name(kind), type.name()));
}

// The elements are aligned as by operator new.
void transform(const element_type& type, std::span<std::byte> elements, input_kind kind) {
  generator random(seed);
  if (kind == input_kind::zeros) {
    std::ranges::fill(elements, std::byte{0});
    return;
  }
  if (kind == input_kind::shuffled) return shuffle(elements, type.bytes(), random);
  if (!type.dtype()) refuse(type, kind);
  visit_dtype(*type.dtype(), [&]<class T>() {
    using part = typename part_of<T>::type;
    const bool for_floats = kind == input_kind::subnormals || kind == input_kind::not_finite;
    if (for_floats && !numbers<part>::has_subnormals) refuse(type, kind);
    const std::span<part> parts(reinterpret_cast<part*>(elements.data()),  // NOLINT
                                elements.size() / sizeof(part));
    if (kind == input_kind::uniform) {
      make_uniform(parts, random);
    } else {
      make_special(parts, kind);
    }
  });
}

}  // namespace

std::string_view input_kind_name(input_kind kind) noexcept { return kind_words.word(kind); }

input_kind input_kind_from_name(std::string_view name) {
  if (const auto kind = kind_words.find(name)) return *kind;
  throw argument_error(fmt::format("there are no inputs of kind '{}'; the kinds are {}", name,
                                   fmt::join(kind_words.words, ", ")));
}

input_set& input_set::set(const std::string& slot, const device_array& contents) {
  return set_upload(slot, [contents](command_queue& queue, const device_array& target) {
    target.copy_from(queue, contents);
  });
}

input_set& input_set::set_upload(const std::string& slot,
                                 std::function<void(command_queue&, const device_array&)> upload) {
  owner_.set_in(number_, slot, std::move(upload));
  return *this;
}

input_set& input_set::derive(const std::string& slot, input_kind kind) {
  owner_.derive_in(number_, slot, kind);
  return *this;
}

input_set& input_set::weight(double part) {
  owner_.weigh(number_, part);
  return *this;
}

void detail::derive_contents(command_queue& queue, const device_array& source, input_kind kind,
                             const device_array& target) {
  const array_layout& from = source.layout();
  if (from.bytes() == 0) return;
  std::vector<std::byte> padded(from.bytes());
  queue.read(source.buffer(), padded.data(), padded.size());
  const array_layout dense(from.type(), from.size());
  std::vector<std::byte> elements(dense.bytes());
  copy_elements(from, padded.data(), dense, elements.data());
  transform(from.type(), elements, kind);
  padded.assign(target.layout().bytes(), std::byte{0});
  copy_elements(dense, elements.data(), target.layout(), padded.data());
  queue.write(target.buffer(), padded.data(), padded.size());
}

}  // namespace tune
