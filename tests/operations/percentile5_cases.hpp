// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <bit>
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <doctest/doctest.h>
#include <limits>
#include <random>
#include <type_traits>
#include <vector>

#include "libtune/testing/devices.hpp"
#include "operations/percentile5/percentile5.hpp"
#include "operations/percentile5/reference.hpp"

namespace percentile5_cases {

using tune::dtype;
using tune::host_array;
using tune::operations::column_range;
using tune::operations::percentile5;
using tune::operations::percentile5_on_host;
using tune::operations::percentile5_template;
using tune::operations::percentile5_tuning;
using complex = std::complex<float>;

struct extra {
  std::size_t src_rows = 0, src_columns = 0, dest_rows = 0, dest_columns = 0;
};

inline bool close(float expected, float got, float relative) {
  if (std::isnan(expected)) return std::isnan(got);
  return expected == got || std::abs(got - expected) <= relative * std::abs(expected);
}

/// Compares the percentiles by the device with those by the host, exactly or, of complex numbers,
/// to one part in a million. Also checks that the padding of dest is left alone.
template <class T>
void ranks(const percentile5_template& made, const tune::context& context, const host_array<T>& src,
           const column_range& range, const extra& more = {}) {
  tune::command_queue queue = context.create_command_queue();
  const std::size_t rows = src.size()[0], columns = src.size()[1];
  CAPTURE(rows);
  CAPTURE(columns);
  percentile5 op = made.instantiate(queue, rows, columns, range);
  const auto type = tune::element_type::of<T>();
  const tune::device_array given(
      context, {type, {rows, columns}, {rows + more.src_rows, columns + more.src_columns}});
  const tune::array_layout layout(dtype::float32, {5, rows},
                                  {5 + more.dest_rows, rows + more.dest_columns});
  const tune::device_array dest(context, layout);
  // Numbers that would be found if padding were looked at.
  const std::vector<T> outside(given.layout().bytes() / sizeof(T), T(-INFINITY));
  queue.write(given.buffer(), outside.data(), given.layout().bytes());
  given.set(queue, src);
  dest.fill(queue, -77.0F);
  op.bind("src", given);
  op.bind("dest", dest);
  op.run();
  host_array<float> whole(layout.padded());
  queue.read(dest.buffer(), whole.data(), layout.bytes());
  const auto expected = percentile5_on_host(src, range);
  constexpr float relative = std::is_same_v<T, float> ? 0.0F : 1e-6F;
  for (std::size_t k = 0; k < whole.size()[0]; ++k) {
    for (std::size_t row = 0; row < whole.size()[1]; ++row) {
      CAPTURE(k);
      CAPTURE(row);
      if (k < 5 && row < rows) {
        REQUIRE_MESSAGE(close(expected(k, row), whole(k, row), relative),
                        expected(k, row) << " is expected, not " << whole(k, row));
      } else {
        REQUIRE(whole(k, row) == -77.0F);
      }
    }
  }
}

template <class T, class Draw>
host_array<T> drawn(std::size_t rows, std::size_t columns, Draw&& draw) {
  host_array<T> src({rows, columns});
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::size_t column = 0; column < columns; ++column) src(row, column) = draw(row);
  }
  return src;
}

template <class T>
host_array<T> uniform(std::size_t rows, std::size_t columns) {
  std::mt19937 engine(1);
  const auto number = [&] { return static_cast<float>(engine() >> 8) * 0x1p-24F; };
  return drawn<T>(rows, columns, [&](std::size_t) {
    if constexpr (std::is_same_v<T, float>) {
      return number();
    } else {
      return T(number() - 0.5F, number() - 0.5F);
    }
  });
}

/// Rows with whatever is hard to rank, one kind after the other.
inline host_array<float> hard_rows(std::size_t rows, std::size_t columns) {
  std::mt19937 engine(3);
  constexpr float infinity = std::numeric_limits<float>::infinity();
  return drawn<float>(rows, columns, [&](std::size_t row) {
    const auto word = static_cast<std::uint32_t>(engine());
    const float number = static_cast<float>(word >> 8) * 0x1p-24F;
    switch (row % 9) {
      case 0: return std::bit_cast<float>(word);  // any number, NaN or infinity
      case 1: return number - 0.5F;
      case 2: return word % 3 == 0 ? 0.0F : word % 7 == 0 ? -0.0F : number;
      case 3: return word % 11 == 0 ? 1e6F * number : 1 + 1e-5F * number;
      case 4: return float(NAN);
      case 5: return word % 2 == 0 ? infinity : -infinity;
      case 6: return 42.0F;
      case 7: return word % 40 == 0 ? number : std::bit_cast<float>(0x3f800000 + word % 100);
      default: return word % 5 == 0 ? float(NAN) : std::numeric_limits<float>::max() * number;
    }
  });
}

/// Rows whose ranks are hard to guess from a few of their values, one kind after the other.
inline host_array<float> treacherous_rows(std::size_t rows, std::size_t columns) {
  std::mt19937 engine(5);
  constexpr float infinity = std::numeric_limits<float>::infinity();
  host_array<float> src({rows, columns});
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::size_t column = 0; column < columns; ++column) {
      const auto word = static_cast<std::uint32_t>(engine());
      const float number = static_cast<float>(word >> 8) * 0x1p-24F;
      const auto place = static_cast<float>(column);
      const bool is_early = column < columns / 4 + 1;
      float value = number - 0.5F;
      switch (row % 11) {
        case 0: value = place; break;                                      // sorted
        case 1: value = -1e-3F * place - number; break;                    // backwards, almost
        case 2: value = column % 2 == 0 ? -1.0F : 1.0F; break;             // two values
        case 3: value = is_early ? 1.0F : number; break;                   // a quartile of equals
        case 4: value = column % 32 == 0 ? 1e9F * number : number; break;  // a period
        case 5: value = number < 0.2F ? 1e30F : 1 + number; break;         // outliers
        case 6: value = number < 0.5F ? -infinity : number; break;
        case 7: value = std::bit_cast<float>(word % 3000); break;  // subnormal
        case 8: value = column == columns / 2 ? number : float(NAN); break;
        case 9: value = word % 2 == 0 ? float(NAN) : -number; break;
        default: value = std::bit_cast<float>(0xc1000000 + word % 7); break;  // neighbours
      }
      src(row, column) = value;
    }
  }
  return src;
}

}  // namespace percentile5_cases
