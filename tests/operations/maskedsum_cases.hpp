// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <complex>
#include <cstddef>
#include <doctest/doctest.h>
#include <limits>
#include <random>
#include <type_traits>
#include <vector>

#include "libtune/testing/devices.hpp"
#include "libtune/verify/comparison.hpp"
#include "operations/maskedsum/maskedsum.hpp"
#include "operations/maskedsum/reference.hpp"

namespace maskedsum_cases {

using tune::dtype;
using tune::host_array;
using tune::operations::maskedsum;
using tune::operations::maskedsum_template;
using tune::operations::maskedsum_tuning;
using complex = std::complex<float>;

struct extra {
  std::size_t src_rows = 0, src_columns = 0, mask = 0, dest = 0;
};

/// The sums by the device, in arrays with so much more padding than needed. Also checks that the
/// padding of dest is left alone.
template <class T>
host_array<T> sums_of(const maskedsum_template& made, const tune::context& context,
                      const host_array<complex>& src, const host_array<float>& mask,
                      const extra& more = {}) {
  tune::command_queue queue = context.create_command_queue();
  const std::size_t rows = src.size()[0], columns = src.size()[1];
  maskedsum op = made.instantiate(queue, rows, columns);
  const tune::device_array given(
      context,
      {dtype::complex64, {rows, columns}, {rows + more.src_rows, columns + more.src_columns}});
  const tune::device_array weights(context, {dtype::float32, {rows}, {rows + more.mask}});
  const tune::array_layout layout(tune::element_type::of<T>(), {columns}, {columns + more.dest});
  const tune::device_array dest(context, layout);
  // NaN wherever padding is.
  const std::vector<complex> poison(given.layout().bytes() / sizeof(complex),
                                    complex(NAN, INFINITY));
  queue.write(given.buffer(), poison.data(), given.layout().bytes());
  given.set(queue, src);
  weights.set(queue, mask);
  dest.zero(queue);
  op.bind("src", given);
  op.bind("mask", weights);
  op.bind("dest", dest);
  op.run();
  host_array<T> whole({columns + more.dest});
  queue.read(dest.buffer(), whole.data(), layout.bytes());
  for (std::size_t i = columns; i < whole.size()[0]; ++i) CHECK(whole(i) == T{});
  return dest.template get<T>(queue);
}

template <class T>
void check_close(const host_array<T>& expected, const host_array<T>& got,
                 const tune::tolerance& allowed) {
  const auto compared =
      tune::compare(expected.layout(), expected.data(), got.layout(), got.data(), allowed);
  CHECK_MESSAGE(compared.matches(), compared.describe());
}

struct inputs {
  inputs(std::size_t rows, std::size_t columns, unsigned seed)
      : src({rows, columns}), mask({rows}) {
    std::mt19937 engine(seed);
    const auto draw = [&] { return static_cast<float>(engine() >> 8) * 0x1p-24F; };
    for (std::size_t row = 0; row < rows; ++row) {
      mask(row) = draw() < 0.25F ? 0.0F : 2 * draw();
      for (std::size_t column = 0; column < columns; ++column) src(row, column) = {draw(), draw()};
    }
  }

  host_array<complex> src;
  host_array<float> mask;
};

inline void check_both(const tune::context& context, const maskedsum_tuning& tuning,
                       const inputs& given, const extra& more = {}) {
  using tune::operations::maskedsum_on_host;
  CAPTURE(tuning.wgsx);
  CAPTURE(tuning.wgsy);
  CAPTURE(given.src.size()[0]);
  CAPTURE(given.src.size()[1]);
  const tune::tolerance allowed{.absolute = 0, .relative = 1e-6};
  check_close(maskedsum_on_host<complex>(given.src, given.mask),
              sums_of<complex>(maskedsum_template(context, false, 4096, tuning), context, given.src,
                               given.mask, more),
              allowed);
  check_close(maskedsum_on_host<float>(given.src, given.mask),
              sums_of<float>(maskedsum_template(context, true, 4096, tuning), context, given.src,
                             given.mask, more),
              allowed);
}

}  // namespace maskedsum_cases
