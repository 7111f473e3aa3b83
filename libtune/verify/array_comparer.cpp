// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/verify/array_comparer.hpp"

#include <algorithm>
#include <array>
#include <complex>
#include <numeric>
#include <string>
#include <type_traits>
#include <utility>

#include "libtune/base/visit_dtype.hpp"
#include "libtune/kernel/compile.hpp"
#include "libtune/verify/comparison.hpp"
#include "libtune/verify/element_rule.hpp"

#include "count_differences.kernel.hpp"

namespace tune::detail {
namespace {

constexpr std::size_t work_group = 256;
constexpr std::size_t groups = 512;

bool sums_squares(const tolerance& allowed) {
  return allowed.rule == tolerance_rule::signal_to_noise;
}

template <class T>
const char* integer_name() {
  constexpr bool is_signed = std::is_signed_v<T>;
  switch (sizeof(T)) {
    case 1: return is_signed ? "signed char" : "uchar";
    case 2: return is_signed ? "short" : "ushort";
    case 4: return is_signed ? "int" : "uint";
    default: return is_signed ? "long" : "ulong";
  }
}

const char* word_name(std::size_t bytes) {
  switch (bytes) {
    case 1: return "uchar";
    case 2: return "ushort";
    case 4: return "uint";
    default: return "ulong";
  }
}

// The bytes of the numbers that an element of this type is made of.
template <class T>
constexpr std::size_t part_bytes() {
  if constexpr (is_complex<T>) return sizeof(typename T::value_type);
  return sizeof(T);
}

/// In how many words the bits of an element are compared; 0 where its distance decides.
std::size_t word_count(element_type type, const tolerance& allowed) {
  const bool by_bits =
      allowed.rule == tolerance_rule::exact || allowed.rule == tolerance_rule::ulps;
  const auto known = type.dtype();
  if (!known) {
    const std::size_t bytes = type.bytes();
    return bytes / (bytes % 4 == 0 ? 4 : bytes % 2 == 0 ? 2 : 1);
  }
  return visit_dtype(*known, [&]<class T>() -> std::size_t {
    // By their distance integers are compared just as well.
    if (!by_bits || std::is_integral_v<T>) return 0;
    return sizeof(T) / part_bytes<T>();
  });
}

template <class T>
void add_float_bits(defines& macros, const tolerance& allowed) {
  constexpr std::size_t bytes = part_bytes<T>();
  const bool doubles = bytes == 8;
  macros.add("sign_bit", doubles ? "0x8000000000000000UL" : bytes == 4 ? "0x80000000u" : "0x8000u");
  macros.add("infinity_bits", doubles                       ? "0x7ff0000000000000UL"
                              : bytes == 4                  ? "0x7f800000u"
                              : std::is_same_v<T, bfloat16> ? "0x7f80u"
                                                            : "0x7c00u");
  if (allowed.rule == tolerance_rule::ulps) {
    macros.add("most_ulps", std::to_string(static_cast<std::uint64_t>(allowed.limit)) + "UL");
  }
}

template <class T>
void add_number(defines& macros) {
  if constexpr (is_complex<T>) {
    macros.add("complex_part", sizeof(T) == 8 ? "float" : "double");
  } else if constexpr (std::is_integral_v<T>) {
    macros.add("integral", 1).add("element", integer_name<T>());
  } else if constexpr (is_half<T>) {
    const std::string name(std::is_same_v<T, float16> ? "half" : "bfloat16");
    macros.add("real", "float").add("element", name).add("load_number", "vload_" + name);
  } else {
    const char* const name = std::is_same_v<T, float> ? "float" : "double";
    macros.add("real", name).add("element", name);
  }
}

defines macros_for(element_type type, const tolerance& allowed, std::size_t words) {
  defines macros;
  macros.add("wgs", static_cast<int>(work_group));
  if (words != 0) macros.add("bits_type", word_name(type.bytes() / words));
  if (allowed.nan_expected) macros.add("nan_expected", 1);
  if (sums_squares(allowed) && words == 0) macros.add("sum_squares", 1);
  if (const auto known = type.dtype()) {
    visit_dtype(*known, [&]<class T>() {
      if (words == 0) {
        add_number<T>(macros);
      } else {
        add_float_bits<T>(macros, allowed);
      }
    });
  }
  return macros;
}

// The distance within which integers count as equal, whatever the rule.
tolerance as_distance(const tolerance& allowed) {
  if (allowed.rule == tolerance_rule::exact) return {.absolute = 0, .relative = 0};
  if (allowed.rule == tolerance_rule::ulps) return {.absolute = allowed.limit, .relative = 0};
  return allowed;
}

}  // namespace

std::optional<row_layout> row_layout::of(const array_layout& layout) {
  const shape& size = layout.size();
  const shape& padded = layout.padded();
  if (size.rank() == 0) return row_layout{};
  for (std::size_t axis = 1; axis + 1 < size.rank(); ++axis) {
    if (size[axis] != padded[axis]) return std::nullopt;
  }
  row_layout rows{.rows = 1, .columns = size[size.rank() - 1], .pitch = padded[size.rank() - 1]};
  for (std::size_t axis = 0; axis + 1 < size.rank(); ++axis) rows.rows *= size[axis];
  return rows;
}

struct array_comparer::prepared {
  context place;
  tune::buffer counts;
  tune::buffer squares;
  tune::kernel kernel;
};

array_comparer::array_comparer(element_type type, const tolerance& allowed)
    : type_(type), allowed_(allowed.for_type(type)), words_(word_count(type, allowed)) {}

array_comparer::~array_comparer() = default;
array_comparer::array_comparer(array_comparer&&) noexcept = default;
array_comparer& array_comparer::operator=(array_comparer&&) noexcept = default;

bool array_comparer::knows(const array_layout& layout) const {
  return row_layout::of(layout).has_value();
}

void array_comparer::prepare(command_queue& queue) {
  const context place = queue.context();
  if (prepared_ && prepared_->place == place) return;
  const program made =
      compile(place, {"count_differences.kernel", std::string(embedded::count_differences_kernel)},
              macros_for(type_, allowed_, words_));
  prepared_ = std::make_unique<prepared>(prepared{
      place, place.create_buffer(groups * sizeof(std::uint32_t)),
      place.create_buffer(2 * groups * sizeof(double)), made.create_kernel("count_differences")});
}

std::size_t array_comparer::count(command_queue& queue, const buffer& expected, const buffer& got,
                                  const array_layout& layout) {
  prepare(queue);
  const row_layout rows = *row_layout::of(layout);
  const std::uint64_t scale = std::max<std::size_t>(words_, 1);
  const std::uint64_t columns = rows.columns * scale;
  const std::uint64_t pitch = rows.pitch * scale;
  const tolerance distance = as_distance(allowed_);
  const bool squared = words_ == 0 && sums_squares(allowed_);
  kernel& kernel = prepared_->kernel;
  if (words_ != 0) {
    kernel.set_arguments(expected, got, prepared_->counts, rows.rows, columns, pitch);
  } else if (squared) {
    kernel.set_arguments(expected, got, prepared_->counts, rows.rows, columns, pitch,
                         *distance.absolute, *distance.relative, prepared_->squares);
  } else {
    kernel.set_arguments(expected, got, prepared_->counts, rows.rows, columns, pitch,
                         *distance.absolute, *distance.relative);
  }
  queue.enqueue(kernel, {{groups * work_group}, {work_group}});
  std::array<std::uint32_t, groups> counts{};
  queue.read(prepared_->counts, counts.data(), sizeof counts);
  const auto wrong = std::accumulate(counts.begin(), counts.end(), std::size_t{0});
  if (!squared || wrong != 0) return wrong;
  std::array<double, 2 * groups> squares{};
  queue.read(prepared_->squares, squares.data(), sizeof squares);
  double signal = 0;
  double noise = 0;
  for (std::size_t i = 0; i < squares.size(); i += 2) {
    signal += squares[i];
    noise += squares[i + 1];
  }
  return decibels_of(signal, noise) >= allowed_.limit ? 0 : layout.size().elements();
}

}  // namespace tune::detail
