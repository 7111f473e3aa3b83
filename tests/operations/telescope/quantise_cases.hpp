// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <doctest/doctest.h>
#include <vector>

#include "libtune/testing/devices.hpp"
#include "operations/telescope/quantise/quantise.hpp"
#include "operations/telescope/quantise/reference.hpp"

namespace quantise_cases {

using namespace tune::operations;  // NOLINT: the subject of the tests
using tune::host_array;

struct result {
  std::vector<std::uint8_t> out;
  std::vector<std::uint32_t> saturated;
};

inline result run(quantise& op, const quantise_input& input) {
  tune::command_queue& queue = op.queue();
  op.ensure_all_bound();
  op.buffer("spectra").set(queue, input.spectra);
  op.buffer("delay").set(queue, input.delay);
  op.buffer("phase").set(queue, input.phase);
  op.buffer("gains").set(queue, input.gains);
  result got;
  got.out.resize(op.buffer("out").layout().bytes());
  got.saturated.resize(op.buffer("saturated").layout().bytes() / 4);
  // What was there before has to be gone.
  op.buffer("saturated").fill(queue, std::uint32_t{12345});
  const std::vector<std::uint8_t> unwritten(got.out.size(), 0x80);
  queue.write(op.buffer("out").buffer(), unwritten.data(), unwritten.size());
  op.run();
  queue.read(op.buffer("out").buffer(), got.out.data(), got.out.size());
  queue.read(op.buffer("saturated").buffer(), got.saturated.data(), got.saturated.size() * 4);
  return got;
}

/// Compares a run on random numbers with the host's.
inline void check(const quantise_template& made, const quantise_key& key,
                  const tune::context& context, const quantise_shape& shape,
                  std::uint64_t first_spectrum = 0, std::uint64_t seed = 0) {
  CAPTURE(shape.channels);
  quantise op = made.instantiate(context.create_command_queue(), shape);
  op.set_first_spectrum(first_spectrum);
  op.set_seed(seed);
  const quantise_input input = random_input(key, shape);
  const result got = run(op, input);
  const auto expected = quantise_on_host(key, shape, input, first_spectrum, seed);
  const auto wrong = find_misquantised(key, expected, got.out.data(), got.saturated.data());
  CHECK_MESSAGE(!wrong, wrong.value_or(""));
}

}  // namespace quantise_cases
