// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <complex>
#include <cstdint>
#include <doctest/doctest.h>
#include <random>
#include <span>
#include <utility>
#include <vector>

#include "libtune/libtune.hpp"
#include "operations/telescope/pfb/pfb.hpp"
#include "operations/telescope/pfb/reference.hpp"

/// Filter banks on a device beside the host, for the quick and the long tests.
namespace pfb_cases {

using tune::host_array;
using tune::operations::pfb;
using tune::operations::pfb_key;
using tune::operations::pfb_range;
using tune::operations::pfb_shape;
using tune::operations::pfb_template;
using tune::operations::pfb_tuning;
using complex = std::complex<float>;

inline std::size_t step_of(const pfb_key& key, const pfb_shape& shape) {
  return key.bits != 0 ? 2 * shape.channels : shape.channels;
}

/// Random samples, whole numbers where they are packed.
inline host_array<std::uint8_t> packed_samples(const pfb_key& key, const pfb_shape& shape) {
  host_array<std::uint8_t> rows(
      {shape.polarisations, tune::operations::packed_row_bytes(shape.samples, key.bits)});
  std::mt19937 engine(1);
  for (std::uint8_t& byte : std::span(rows.data(), rows.size()[0] * rows.size()[1])) {
    byte = static_cast<std::uint8_t>(engine());
  }
  return rows;
}

inline host_array<complex> complex_samples(const pfb_shape& shape) {
  host_array<complex> rows({shape.polarisations, shape.samples});
  std::mt19937 engine(1);
  std::uniform_real_distribution<float> number(-100, 100);
  for (complex& sample : std::span(rows.data(), shape.polarisations * shape.samples)) {
    sample = {number(engine), number(engine)};
  }
  return rows;
}

inline void expect_close(const host_array<complex>& expected, const host_array<complex>& found) {
  const std::size_t count =
      expected.size()[0] * expected.size()[1] * expected.size()[2] * expected.size()[3];
  double largest = 0;
  double difference = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const std::complex<double> a(expected.data()[i]);
    const std::complex<double> b(found.data()[i]);
    largest = std::max(largest, std::abs(a));
    difference = std::max(difference, std::abs(a - b));
  }
  CHECK(largest > 0);
  CHECK(difference <= 1e-6 * largest);
}

/// Runs twice over the same range, so that the power is that of both; what lies outside the range
/// stays.
template <class Sample>
void check_filter(tune::command_queue& queue, pfb& op, const pfb_key& key, const pfb_shape& shape,
                  const pfb_range& range, const host_array<Sample>& samples) {
  op.set_range(range.offsets, range.first_spectrum, range.spectra);
  op.ensure_all_bound();
  const auto weights = tune::operations::pfb_weights(key.taps, step_of(key, shape));
  host_array<float> kept({weights.size()});
  std::ranges::copy(weights, kept.data());
  host_array<complex> spectra(
      {shape.polarisations, shape.spectra, key.unzip, shape.channels / key.unzip});
  std::fill_n(spectra.data(), shape.polarisations * shape.spectra * shape.channels, complex{7, -3});
  host_array<std::uint64_t> power({shape.polarisations});
  for (std::size_t p = 0; p < shape.polarisations; ++p) power(p) = 0xFFFFFFFFU - p;
  op.buffer("samples").set(queue, samples);
  op.buffer("weights").set(queue, kept);
  op.buffer("spectra").set(queue, spectra);
  if (key.bits != 0) op.buffer("total_power").set(queue, power);
  for (int run = 0; run < 2; ++run) {
    op.run();
    tune::operations::pfb_on_host(key, range, samples, weights, spectra,
                                  {power.data(), shape.polarisations});
  }
  expect_close(spectra, op.buffer("spectra").template get<complex>(queue));
  if (key.bits == 0) return;
  const auto found = op.buffer("total_power").template get<std::uint64_t>(queue);
  for (std::size_t p = 0; p < shape.polarisations; ++p) CHECK(found(p) == power(p));
}

/// The same on samples of the key's kind.
inline void check_filter(tune::command_queue& queue, pfb& op, const pfb_key& key,
                         const pfb_shape& shape, const pfb_range& range) {
  if (key.bits != 0) {
    check_filter(queue, op, key, shape, range, packed_samples(key, shape));
  } else {
    check_filter(queue, op, key, shape, range, complex_samples(shape));
  }
}

/// The same with a template's operations, from the first spectra on and from the last.
template <class Sample>
void filters(const tune::context& context, const pfb_template& made, const pfb_shape& shape,
             const pfb_range& range, const host_array<Sample>& samples) {
  const pfb_key& key = made.key();
  CAPTURE(key.taps);
  CAPTURE(key.bits);
  CAPTURE(key.unzip);
  CAPTURE(shape.channels);
  CAPTURE(made.tuning().adjacent);
  CAPTURE(made.tuning().wgs);
  tune::command_queue queue = context.create_command_queue();
  for (const bool last_first : {false, true}) {
    CAPTURE(last_first);
    pfb_shape turned = shape;
    turned.last_first = last_first;
    pfb op = made.instantiate(queue, turned);
    check_filter(queue, op, key, turned, range, samples);
  }
}

/// The same on samples of the key's kind.
inline void filters(const tune::context& context, const pfb_template& made, const pfb_shape& shape,
                    const pfb_range& range) {
  if (made.key().bits != 0) {
    filters(context, made, shape, range, packed_samples(made.key(), shape));
  } else {
    filters(context, made, shape, range, complex_samples(shape));
  }
}

/// A few spectra of two polarisations from odd offsets on, the last sample the last one used.
inline void filters_odd_ranges(const tune::context& context, const pfb_key& key,
                               const pfb_tuning& tuning, std::size_t channels) {
  const pfb_template made(context, key, tuning);
  const std::size_t spectra = key.taps + 5;
  pfb_shape shape{.channels = channels, .spectra = spectra + 3};
  shape.samples = (spectra + key.taps - 1) * step_of(key, shape) + 101;
  filters(context, made, shape, {{101, 6}, 2, spectra});
}

}  // namespace pfb_cases
