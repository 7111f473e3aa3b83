// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// What the tests of transforms have in common: numbers, guarded memory, and the comparison with the
// reference.
#pragma once

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstddef>
#include <doctest/doctest.h>
#include <optional>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

#include "operations/fft/fft.hpp"
#include "operations/fft/reference.hpp"

namespace transformed_numbers {

using tune::dtype;
using tune::shape;
using tune::operations::fft;
using tune::operations::fft_description;
using tune::operations::fft_direction;
using tune::operations::fft_template;
using tune::operations::fft_tuning;
using tune::operations::half_spectrum;

using complex = std::complex<double>;

template <class T>
struct real_of {
  using type = T;
};
template <class T>
struct real_of<std::complex<T>> {
  using type = T;
};

template <class T>
constexpr bool is_complex = !std::is_same_v<T, typename real_of<T>::type>;

/// True where tests have to be left out: no library of transforms.
inline bool is_absent(const tune::device& device) {
  const std::string reason = tune::operations::fft_absence(device);
  if (!reason.empty()) MESSAGE("left out: " << reason);
  return !reason.empty();
}

inline std::vector<complex> random_numbers(std::size_t count) {
  std::mt19937 engine(1);
  const auto draw = [&] { return static_cast<double>(engine()) / 4294967296.0 * 2 - 1; };
  std::vector<complex> numbers(count);
  for (complex& number : numbers) number = {draw(), draw()};
  return numbers;
}

template <class T>
T converted(const complex& value) {
  if constexpr (is_complex<T>) {
    using part = typename T::value_type;
    return {static_cast<part>(value.real()), static_cast<part>(value.imag())};
  } else {
    return static_cast<T>(value.real());
  }
}

/// The elements of an array without its padding, in C order.
inline std::vector<std::size_t> places(const shape& size, const shape& padded) {
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < size.elements(); ++i) {
    std::size_t rest = i;
    std::size_t place = 0;
    std::size_t stride = 1;
    for (std::size_t axis = size.rank(); axis-- > 0;) {
      place += rest % size[axis] * stride;
      rest /= size[axis];
      stride *= padded[axis];
    }
    found.push_back(place);
  }
  return found;
}

/// The numbers of src as the device sees them, and those of dest.
struct transformed {
  std::vector<complex> in;
  std::vector<complex> out;
};

/// Memory for a slot between two bands that nobody may write to.
class guarded_slot {
 public:
  guarded_slot(const tune::context& context, tune::command_queue& queue, fft& op, const char* name)
      : bytes_(tune::round_up(op.slot(name).required_bytes(), band)),
        whole_(context.create_buffer(bytes_ + 2 * band)) {
    const std::vector<std::byte> pattern(whole_.size_bytes(), mark);
    queue.write(whole_, pattern.data(), pattern.size());
    op.bind(name, context.create_sub_buffer(whole_, band, bytes_));
  }

  bool is_intact(tune::command_queue& queue) const {
    std::vector<std::byte> got(whole_.size_bytes());
    queue.read(whole_, got.data(), got.size());
    const auto is_mark = [](std::byte each) { return each == mark; };
    return std::all_of(got.begin(), got.begin() + band, is_mark) &&
           std::all_of(got.end() - band, got.end(), is_mark);
  }

 private:
  static constexpr std::ptrdiff_t band = 4096;
  static constexpr std::byte mark{0x5A};

  std::size_t bytes_;
  tune::buffer whole_;
};

/// Transforms numbers of src's type; also checks that no padding is written.
template <class Src, class Dest>
transformed transform(const tune::context& context, const fft_description& about,
                      const std::vector<complex>& numbers,
                      const std::optional<fft_tuning>& tuning = std::nullopt) {
  tune::command_queue queue = context.create_command_queue();
  fft op = fft_template(context, about, tuning).instantiate(queue);
  guarded_slot src_memory(context, queue, op, "src");
  guarded_slot dest_memory(context, queue, op, "dest");
  std::optional<guarded_slot> work;
  if (op.slots().size() > 2) work.emplace(context, queue, op, "work_area");
  op.ensure_all_bound();
  const tune::device_array& src = op.buffer("src");
  const tune::device_array& dest = op.buffer("dest");
  const std::vector<std::size_t> from = places(src.layout().size(), src.layout().padded());
  const std::vector<std::size_t> to = places(dest.layout().size(), dest.layout().padded());
  REQUIRE(from.size() == numbers.size());
  std::vector<Src> given(src.layout().padded().elements(), converted<Src>({77, 78}));
  for (std::size_t i = 0; i < from.size(); ++i) given[from[i]] = converted<Src>(numbers[i]);
  queue.write(src.buffer(), given.data(), given.size() * sizeof(Src));
  std::vector<Dest> got(dest.layout().padded().elements(), converted<Dest>({55, 56}));
  queue.write(dest.buffer(), got.data(), got.size() * sizeof(Dest));
  op.run();
  queue.read(dest.buffer(), got.data(), got.size() * sizeof(Dest));

  CHECK(src_memory.is_intact(queue));
  CHECK(dest_memory.is_intact(queue));
  if (work) CHECK(work->is_intact(queue));
  transformed result;
  for (const std::size_t place : from) result.in.emplace_back(given[place]);
  for (const std::size_t place : to) {
    result.out.emplace_back(got[place]);
    got[place] = converted<Dest>({55, 56});
  }
  CHECK(std::ranges::all_of(got, [](const Dest& each) {
    return each == converted<Dest>({55, 56});
  }));
  return result;
}

/// The largest difference in units of what is allowed: 1e-7 of the element, and the resolution of
/// the type times the largest.
inline double worst(const std::vector<complex>& expected, const std::vector<complex>& got,
                    double resolution) {
  REQUIRE(expected.size() == got.size());
  double largest = 0;
  for (const complex& value : expected) largest = std::max(largest, std::abs(value));
  double found = 0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    const double allowed = 1e-7 * std::abs(expected[i]) + resolution * largest;
    const double difference = std::abs(got[i] - expected[i]);
    found = std::max(found, std::isfinite(difference) ? difference / allowed : 1e30);
  }
  return found;
}

template <class T>
constexpr double resolution_of = std::is_same_v<typename real_of<T>::type, float> ? 1e-6 : 1e-15;

/// The factor by which errors may exceed those of small arrays. Each level of Cooley and Tukey's
/// algorithm, of which there are log2(n), adds its rounding; the resolution has room for about 10.
inline double growth(const shape& size, std::size_t axes) {
  double elements = 1;
  for (std::size_t axis = size.rank() - axes; axis < size.rank(); ++axis) {
    elements *= static_cast<double>(size[axis]);
  }
  return std::max(1.0, std::log2(elements) / 10);
}

template <class T>
void transforms_complex(const tune::context& context, const shape& size, std::size_t axes,
                        fft_direction direction, const shape& padded_src = {},
                        const shape& padded_dest = {}, double slack = 1,
                        const std::optional<fft_tuning>& tuning = std::nullopt) {
  CAPTURE(tune::to_string(size));
  CAPTURE(axes);
  const auto type = tune::element_type::of<T>();
  const auto result = transform<T, T>(context,
                                      {.size = size,
                                       .axes = axes,
                                       .src = type,
                                       .dest = type,
                                       .direction = direction,
                                       .padded_src = padded_src,
                                       .padded_dest = padded_dest},
                                      random_numbers(size.elements()), tuning);
  std::vector<complex> expected = result.in;
  tune::operations::fft_on_host(expected, size, axes, direction == fft_direction::forward ? -1 : 1);
  CHECK(worst(expected, result.out, resolution_of<T>) <= slack * growth(size, axes));
}

template <class Real>
void transforms_real(const tune::context& context, const shape& size, std::size_t axes,
                     const shape& padded_real = {}, const shape& padded_complex = {},
                     double slack = 1, const std::optional<fft_tuning>& tuning = std::nullopt) {
  CAPTURE(tune::to_string(size));
  CAPTURE(axes);
  using complex_number = std::complex<Real>;
  const auto real_type = tune::element_type::of<Real>();
  const auto complex_type = tune::element_type::of<complex_number>();
  std::vector<complex> numbers = random_numbers(size.elements());
  const auto spectrum = transform<Real, complex_number>(context,
                                                        {.size = size,
                                                         .axes = axes,
                                                         .src = real_type,
                                                         .dest = complex_type,
                                                         .padded_src = padded_real,
                                                         .padded_dest = padded_complex},
                                                        numbers, tuning);
  std::vector<double> real;
  for (const complex& value : spectrum.in) real.push_back(value.real());
  const std::vector<complex> expected = tune::operations::real_fft_on_host(real, size, axes);
  CHECK(worst(expected, spectrum.out, resolution_of<Real>) <= slack * growth(size, axes));

  const auto back = transform<complex_number, Real>(context,
                                                    {.size = size,
                                                     .axes = axes,
                                                     .src = complex_type,
                                                     .dest = real_type,
                                                     .padded_src = padded_complex,
                                                     .padded_dest = padded_real},
                                                    expected, tuning);
  const auto inverse = tune::operations::inverse_real_fft_on_host(back.in, size, axes);
  CHECK(worst({inverse.begin(), inverse.end()}, back.out, resolution_of<Real>) <=
        slack * growth(size, axes));
}

}  // namespace transformed_numbers
