// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <doctest/doctest.h>
#include <random>
#include <span>
#include <vector>

#include "libtune/libtune.hpp"
#include "operations/telescope/ddc/ddc.hpp"
#include "operations/telescope/ddc/reference.hpp"

/// Down-converters on a device beside the host, for the quick and the long tests.
namespace ddc_cases {

using tune::host_array;
using tune::operations::ddc;
using tune::operations::ddc_key;
using tune::operations::ddc_template;
using tune::operations::ddc_tuning;
using tune::operations::mixer_frequency;
using complex = std::complex<float>;

/// Random samples and taps; the last sample of a row is the last one used, or one of the
/// subsampling's that are left over.
inline void converts(const tune::context& context, const ddc_template& made, std::size_t outputs,
                     std::size_t left_over = 0) {
  const ddc_key& key = made.key();
  CAPTURE(key.taps);
  CAPTURE(key.subsampling);
  CAPTURE(key.bits);
  CAPTURE(made.tuning().tensor);
  CAPTURE(made.tuning().wgs);
  CAPTURE(made.tuning().outputs);
  const std::size_t count = key.taps + key.subsampling * (outputs - 1) + left_over;
  std::mt19937 engine(1);
  host_array<std::uint8_t> samples({2, tune::operations::packed_row_bytes(count, key.bits)});
  for (std::uint8_t& byte : std::span(samples.data(), 2 * samples.size()[1])) {
    byte = static_cast<std::uint8_t>(engine());
  }
  std::uniform_real_distribution<float> number(-0.3F, 0.3F);
  host_array<complex> taps({key.taps});
  for (complex& tap : std::span(taps.data(), key.taps)) tap = {number(engine), number(engine)};
  const mixer_frequency frequency{-355, 1130};
  const std::uint64_t step = tune::operations::mixer_step(frequency, key.subsampling);
  const std::uint64_t phase = tune::operations::mixer_phase(frequency, 1'000'000'007);

  tune::command_queue queue = context.create_command_queue();
  ddc op = made.instantiate(queue, 2, count);
  REQUIRE(op.outputs() == outputs);
  op.ensure_all_bound();
  op.buffer("samples").set(queue, samples);
  op.buffer("taps").set(queue, taps);
  op.set_mixer(step, phase);
  op.run();
  const auto found = op.buffer("out").template get<complex>(queue);
  const auto expected =
      tune::operations::ddc_on_host(key, samples, {taps.data(), key.taps}, count, step, phase);
  double largest = 0;
  double difference = 0;
  for (std::size_t p = 0; p < 2; ++p) {
    for (std::size_t i = 0; i < outputs; ++i) {
      largest = std::max<double>(largest, std::abs(expected(p, i)));
      difference = std::max<double>(difference, std::abs(expected(p, i) - found(p, i)));
    }
  }
  CHECK(largest > 0);
  CHECK(difference <= 1e-5 * largest);
}

}  // namespace ddc_cases
