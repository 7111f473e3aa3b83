// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <doctest/doctest.h>
#include <random>

#include "libtune/testing/devices.hpp"
#include "operations/telescope/correlate/correlate.hpp"
#include "operations/telescope/correlate/correlate_reduce.hpp"
#include "operations/telescope/correlate/reference.hpp"

namespace correlate_cases {

using tune::host_array;
using tune::operations::baseline_count;
using tune::operations::batch_range;
using tune::operations::correlate;
using tune::operations::correlate_instruction;
using tune::operations::correlate_key;
using tune::operations::correlate_on_host;
using tune::operations::correlate_template;
using tune::operations::correlate_tuning;

/// Voltages of all values but -128, or -8 with 4 bits, with many extremes.
inline host_array<std::int8_t> voltages(const correlate_key& key, std::size_t batches) {
  std::mt19937 engine(11);
  host_array<std::int8_t> in({batches, key.antennas, key.channels, key.spectra, 2, 2});
  for (std::size_t i = 0; i < in.layout().bytes(); ++i) {
    const auto word = static_cast<std::uint32_t>(engine());
    const int most = key.bits == 8 ? 127 : 7;
    const int any = static_cast<int>(word % static_cast<std::uint32_t>(2 * most + 1)) - most;
    const int extreme = (word >> 16) % 3 == 0 ? 0 : any < 0 ? -most : most;
    in.data()[i] = static_cast<std::int8_t>(word >> 30 == 0 ? extreme : any);
  }
  return in;
}

/// The sum of what an operation's copies of the accumulators hold.
inline host_array<std::int64_t> sum_of_copies(correlate& op) {
  const auto copies = op.buffer("visibilities").get<std::int64_t>(op.queue());
  const tune::shape& size = copies.size();
  host_array<std::int64_t> sum({1, size[1], size[2], 4, 2});
  const std::size_t numbers = size[1] * size[2] * 8;
  for (std::size_t i = 0; i < numbers; ++i) {
    sum.data()[i] = 0;
    for (std::size_t copy = 0; copy < size[0]; ++copy) {
      sum.data()[i] += copies.data()[copy * numbers + i];
    }
  }
  return sum;
}

inline void compare(const host_array<std::int64_t>& expected, const host_array<std::int64_t>& got) {
  REQUIRE(expected.size() == got.size());
  for (std::size_t i = 0; i < expected.layout().bytes() / sizeof(std::int64_t); ++i) {
    CAPTURE(i / 8);
    CAPTURE(i % 8);
    REQUIRE(got.data()[i] == expected.data()[i]);
  }
}

/// Correlates a range of batches on the device twice, after zero(), and compares the sums with the
/// host's, exactly.
inline void correlates(const correlate_template& made, const tune::context& context,
                       const correlate_key& key, std::size_t batches, const batch_range& range) {
  CAPTURE(key.antennas);
  CAPTURE(key.spectra);
  tune::command_queue queue = context.create_command_queue();
  correlate op = made.instantiate(queue, batches);
  CAPTURE(op.copies());
  const auto in = voltages(key, batches);
  op.ensure_all_bound();
  if (key.bits == 8) {
    op.buffer("in").set(queue, in);
  } else {
    op.buffer("in").set(queue, tune::operations::packed_voltages(in));
  }
  op.zero();
  op.set_batches(range);
  op.run();
  op.run();
  host_array<std::int64_t> expected({1, key.channels, baseline_count(key.antennas), 4, 2});
  expected.fill(0);
  correlate_on_host(in, range, expected);
  correlate_on_host(in, range, expected);
  compare(expected, sum_of_copies(op));
}

inline void correlates(const tune::context& context, const correlate_key& key,
                       const correlate_tuning& tuning, std::size_t batches,
                       const batch_range& range) {
  correlates(correlate_template(context, key, tuning), context, key, batches, range);
}

}  // namespace correlate_cases
