// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <doctest/doctest.h>
#include <vector>

#include "libtune/testing/devices.hpp"
#include "operations/telescope/beamform/beamform.hpp"
#include "operations/telescope/beamform/reference.hpp"

namespace beamform_cases {

using namespace tune::operations;  // NOLINT: the subject of the tests

struct result {
  std::vector<std::int8_t> out;
  std::vector<std::uint32_t> saturated;
};

constexpr std::uint32_t counted_before = 7;

inline result run(beamform& op, const beamform_input& input) {
  tune::command_queue& queue = op.queue();
  op.ensure_all_bound();
  op.buffer("in").set(queue, input.in);
  op.buffer("weights").set(queue, input.weights);
  op.buffer("delays").set(queue, input.delays);
  op.buffer("saturated").fill(queue, counted_before);
  for (std::size_t b = 0; b < input.polarisations.size(); ++b) {
    op.set_beam(b, input.polarisations[b], input.dithered[b]);
  }
  result got;
  got.out.assign(op.buffer("out").layout().bytes(), -128);
  got.saturated.resize(op.buffer("saturated").layout().bytes() / 4);
  queue.write(op.buffer("out").buffer(), got.out.data(), got.out.size());
  op.run();
  queue.read(op.buffer("out").buffer(), got.out.data(), got.out.size());
  queue.read(op.buffer("saturated").buffer(), got.saturated.data(), got.saturated.size() * 4);
  return got;
}

/// Compares a run with the host's.
inline void check(const beamform_template& made, const beamform_key& key,
                  const tune::context& context, const beamform_shape& shape,
                  const beamform_input& input, std::uint64_t first_spectrum = 0,
                  std::uint64_t seed = 0) {
  CAPTURE(shape.antennas);
  CAPTURE(shape.beams);
  beamform op = made.instantiate(context.create_command_queue(), shape);
  op.set_first_spectrum(first_spectrum);
  op.set_seed(seed);
  const result got = run(op, input);
  const auto expected = beamform_on_host(key, shape, input, first_spectrum, seed);
  const auto wrong = find_misformed(expected, got.out.data(), got.saturated.data(), counted_before);
  CHECK_MESSAGE(!wrong, wrong.value_or(""));
}

inline void check(const beamform_template& made, const beamform_key& key,
                  const tune::context& context, const beamform_shape& shape,
                  std::uint64_t first_spectrum = 0, std::uint64_t seed = 0) {
  check(made, key, context, shape, random_input(shape), first_spectrum, seed);
}

}  // namespace beamform_cases
