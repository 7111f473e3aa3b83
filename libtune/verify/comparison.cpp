// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/verify/comparison.hpp"

#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <fmt/format.h>
#include <limits>
#include <span>
#include <type_traits>

#include "libtune/base/error.hpp"
#include "libtune/base/visit_dtype.hpp"
#include "libtune/verify/element_rule.hpp"

namespace tune {
namespace {

struct distances {
  double relative = 0;
  double absolute = 0;
};

// Zero for integers, and for structs, whose bytes are compared.
distances defaults_for(element_type type) noexcept {
  if (!type.dtype()) return {};
  switch (*type.dtype()) {
    case dtype::float16: return {.relative = 5e-3, .absolute = 1e-5};
    case dtype::bfloat16: return {.relative = 4e-2, .absolute = 1e-5};
    case dtype::float32:
    case dtype::complex64: return {.relative = 1e-5, .absolute = 1e-8};
    case dtype::float64:
    case dtype::complex128: return {.relative = 1e-9, .absolute = 1e-12};
    default: return {};
  }
}

std::string describe_distance(double absolute, double relative) {
  if (relative == 0) return absolute == 0 ? "no difference" : fmt::format("{:g}", absolute);
  const std::string part = fmt::format("{:g} * |expected|", relative);
  return absolute == 0 ? part : fmt::format("{:g} + {}", absolute, part);
}

std::string hex_of(const void* bytes, std::size_t count) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) {
    text +=
        fmt::format("{:02x}", std::to_integer<unsigned>(static_cast<const std::byte*>(bytes)[i]));
  }
  return text;
}

template <class T>
std::string text_of(const T& element) {
  if constexpr (detail::is_complex<T>) {
    return fmt::format("({}, {})", text_of(element.real()), text_of(element.imag()));
  } else if constexpr (std::is_integral_v<T>) {
    return std::to_string(element);
  } else {
    // The NaN of the poison has a sign, which is meaningless.
    if (detail::is_nan(element)) return "nan";
    return fmt::format("{}", static_cast<detail::float_of<T>>(element));
  }
}

/// Visits the rows of a shape, along its last axis, in C order. A shape without axes is one row of
/// one element.
class row_walk {
 public:
  explicit row_walk(const shape& size)
      : size_(size),
        outer_axes_(size.rank() == 0 ? 0 : size.rank() - 1),
        length_(size.rank() == 0 ? 1 : size[outer_axes_]) {}

  std::size_t length() const noexcept { return length_; }

  /// The start of the row in an array of this padding, in elements.
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

/// Counts and sums over the elements of an array of T.
template <class T>
class tally {
 public:
  tally(std::size_t elements, const tolerance& allowed) : allowed_(allowed) {
    result_.elements = elements;
    result_.rule = allowed.rule;
  }

  void add(const T& expected, const T& got, const row_walk& row, std::size_t column) {
    const detail::element_verdict verdict = detail::judge(expected, got, allowed_);
    const bool is_first = verdict.wrong && result_.mismatches++ == 0;
    const bool is_worst = result_.mismatches == 0 && verdict.error > greatest_ &&
                          allowed_.rule == tolerance_rule::signal_to_noise;
    if (is_first || is_worst) {
      result_.first = row.index_of(column);
      shown_expected_ = expected;
      shown_got_ = got;
    }
    if (verdict.error > greatest_) greatest_ = verdict.error;
    add_squares(expected, verdict);
  }

  comparison finish() {
    result_.greatest_error = greatest_;
    if (allowed_.rule == tolerance_rule::signal_to_noise) {
      result_.decibels = decibels_of(signal_, noise_);
      result_.least_decibels = allowed_.limit;
    }
    if (result_.matches()) {
      result_.first = {};
      return result_;
    }
    result_.expected = text_of(shown_expected_);
    result_.got = text_of(shown_got_);
    if (result_.expected == result_.got) {  // for example two NaN
      result_.expected += " of the bytes " + hex_of(&shown_expected_, sizeof(T));
      result_.got += " of the bytes " + hex_of(&shown_got_, sizeof(T));
    }
    return result_;
  }

 private:
  // Right elements that are not finite are not part of the signal.
  void add_squares(const T& expected, const detail::element_verdict& verdict) {
    if (allowed_.rule != tolerance_rule::signal_to_noise || verdict.wrong) return;
    const double magnitude = detail::magnitude_of(expected);
    if (!std::isfinite(magnitude)) return;
    signal_ += magnitude * magnitude;
    noise_ += verdict.error * verdict.error;
  }

  tolerance allowed_;
  comparison result_;
  double greatest_ = 0;
  double signal_ = 0;
  double noise_ = 0;
  T shown_expected_{};
  T shown_got_{};
};

template <class T>
comparison compare_elements(const array_layout& expected_layout, const void* expected,
                            const array_layout& got_layout, const void* got,
                            const tolerance& allowed) {
  const std::size_t elements = expected_layout.size().elements();
  tally<T> seen(elements, allowed);
  row_walk row(expected_layout.size());
  for (std::size_t done = 0; done < elements; done += row.length(), row.advance()) {
    const T* want = static_cast<const T*>(expected) + row.offset_in(expected_layout.padded());
    const T* have = static_cast<const T*>(got) + row.offset_in(got_layout.padded());
    for (std::size_t i = 0; i < row.length(); ++i) seen.add(want[i], have[i], row, i);
  }
  return seen.finish();
}

// Their members are unknown, so the bytes are compared.
comparison compare_structs(const array_layout& expected_layout, const void* expected,
                           const array_layout& got_layout, const void* got) {
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

}  // namespace

tolerance tolerance::for_type(element_type type) const {
  tolerance complete = *this;
  const distances chosen = is_default() ? defaults_for(type) : distances{};
  complete.absolute = absolute.value_or(chosen.absolute);
  complete.relative = relative.value_or(chosen.relative);
  return complete;
}

std::string describe(const tolerance& allowed, element_type type) {
  switch (allowed.rule) {
    case tolerance_rule::ulps: return fmt::format("{:g} ULPs", allowed.limit);
    case tolerance_rule::exact: return "the same bits";
    case tolerance_rule::signal_to_noise: return fmt::format("{:g} dB", allowed.limit);
    case tolerance_rule::distance: break;
  }
  const tolerance complete = allowed.for_type(type);
  std::string text = describe_distance(*complete.absolute, *complete.relative);
  if (allowed.is_default()) text += fmt::format(", the default for {}", type.name());
  return text;
}

std::string comparison::describe() const {
  if (matches()) {
    const std::string ratio = decibels ? fmt::format(", at {:.1f} dB", *decibels) : "";
    return fmt::format("all {} elements match{}", elements, ratio);
  }
  if (mismatches == 0) {
    return fmt::format(
        "the signal-to-noise ratio is {:.1f} dB and not {:.1f} dB; the greatest error, {:.6g}, is "
        "at {}: expected {}, got {}",
        *decibels, least_decibels, *greatest_error, to_string(first), expected, got);
  }
  std::string text = fmt::format("{} of {} elements differ, the first at {}: expected {}, got {}",
                                 mismatches, elements, to_string(first), expected, got);
  if (!greatest_error) return text;
  text += std::isinf(*greatest_error)
              ? "; the greatest error is not finite"
              : fmt::format("; the greatest error is {:.6g}{}", *greatest_error,
                            rule == tolerance_rule::ulps ? " ULPs" : "");
  text += "; allowed: " + allowed;
  if (expected.find("nan") == std::string::npos) return text;
  return text + "; NaN in the answer is a mistake unless its tolerance has nan_expected";
}

double decibels_of(double signal, double noise) noexcept {
  if (noise == 0) return std::numeric_limits<double>::infinity();
  if (!std::isfinite(signal)) return std::numeric_limits<double>::quiet_NaN();
  return 10 * std::log10(signal / noise);
}

comparison compare(const array_layout& expected_layout, const void* expected,
                   const array_layout& got_layout, const void* got, const tolerance& allowed) {
  if (expected_layout.type() != got_layout.type() || expected_layout.size() != got_layout.size()) {
    throw argument_error(fmt::format(
        "the answer is {} of {}, the result {} of {}", to_string(expected_layout.size()),
        expected_layout.type().name(), to_string(got_layout.size()), got_layout.type().name()));
  }
  const auto type = expected_layout.type().dtype();
  if (!type) return compare_structs(expected_layout, expected, got_layout, got);
  const tolerance complete = allowed.for_type(expected_layout.type());
  comparison compared = visit_dtype(*type, [&]<class T>() {
    return compare_elements<T>(expected_layout, expected, got_layout, got, complete);
  });
  compared.allowed = describe(allowed, expected_layout.type());
  return compared;
}

}  // namespace tune
