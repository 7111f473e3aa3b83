// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// What the operations say of themselves.
#include <cstdint>
#include <doctest/doctest.h>
#include <span>
#include <string>
#include <utility>

#include "libtune/console/drawing.hpp"
#include "libtune/testing/devices.hpp"
#include "operations/fill/fill.hpp"
#include "operations/hreduce/hreduce.hpp"
#include "operations/maskedsum/maskedsum.hpp"
#include "operations/percentile5/percentile5.hpp"
#include "operations/telescope/beamform/beamform.hpp"
#include "operations/telescope/quantise/quantise.hpp"
#include "operations/transpose/transpose.hpp"

namespace parameters_test {

using tune::dtype;
using namespace tune::operations;  // NOLINT: all of them

std::string describe(const tune::operation& op) { return tune::to_string(op.parameters()); }

LIBTUNE_DEVICE_TEST_CASE("fill describes its array and its value", device) {
  const tune::context context = device.create_context();
  const tune::command_queue queue = context.create_command_queue();
  const std::string tuning = ", tuning.wgs=128, tuning.vector=1, tuning.items=1";
  fill floats = fill_template(context, dtype::float32).instantiate(queue, {3, 4});
  CHECK(describe(floats) == "type=float32, shape=(3, 4), value=0" + tuning);
  floats.set_value(-1.5F);
  CHECK(describe(floats) == "type=float32, shape=(3, 4), value=-1.5" + tuning);
  fill bytes = fill_template(context, dtype::uint8).instantiate(queue, {5});
  bytes.set_value(std::uint8_t{200});
  CHECK(describe(bytes) == "type=uint8, shape=(5,), value=200" + tuning);
  fill words = fill_template(context, tune::element_type::opaque(4)).instantiate(queue, {5});
  words.set_value_bytes(std::as_bytes(std::span("\1\2\xAB", 4)));
  CHECK(describe(words) == "type=opaque, shape=(5,), value=0102ab00" + tuning);
}

LIBTUNE_DEVICE_TEST_CASE("transpose describes the shape of its input", device) {
  const tune::context context = device.create_context();
  const transpose op = transpose_template(context, dtype::complex64, transpose_tuning{.tile = 32})
                           .instantiate(context.create_command_queue(), 3, 4);
  CHECK(describe(op) ==
        "type=complex64, shape=(3, 4), tuning.block_x=16, tuning.block_y=8, tuning.tile=32, "
        "tuning.vector=1, tuning.walk=along_rows");
}

LIBTUNE_DEVICE_TEST_CASE("hreduce describes its columns, and a sequence its operations", device) {
  const tune::context context = device.create_context();
  const tune::command_queue queue = context.create_command_queue();
  hreduce op = hreduce_template(context, sum_of(dtype::float32)).instantiate(queue, 5, 100, {2, 9});
  const std::string parameters =
      "type=float32, shape=(5, 100), operation=a + b, identity=0, begin=2, end=9, "
      "parts=1, tuning.wgsx=64, "
      "tuning.wgsy=4, tuning.vector=1, tuning.items=1";
  CHECK(describe(op) == parameters);
  const tune::operation_sequence sequence(queue, {{"sum", std::move(op)}});
  CHECK(describe(sequence).starts_with("sum:type=float32, sum:shape=(5, 100), "));
  CHECK(tune::to_dot(sequence).find("label=\"sum\\ntype = float32\\nshape = (5, 100)\\n") !=
        std::string::npos);
}

LIBTUNE_DEVICE_TEST_CASE("maskedsum and percentile5 describe their arrays and their tuning",
                         device) {
  const tune::context context = device.create_context();
  const tune::command_queue queue = context.create_command_queue();
  const maskedsum sums =
      maskedsum_template(context, true, 100, maskedsum_tuning{}).instantiate(queue, 5, 100);
  CHECK(describe(sums).starts_with("shape=(5, 100), type=float32, parts="));
  CHECK(describe(sums).find("tuning.wgsx=") != std::string::npos);
  const percentile5 ranks = percentile5_template(context, 100, false, percentile5_tuning{})
                                .instantiate(queue, 5, 100, {2, 9});
  CHECK(
      describe(ranks).starts_with("type=complex64, shape=(5, 100), begin=2, end=9, tuning.size="));
}

LIBTUNE_DEVICE_TEST_CASE("quantise and beamform describe their shapes and what is set of them",
                         device) {
  const tune::context context = device.create_context();
  const tune::command_queue queue = context.create_command_queue();
  quantise spectra =
      quantise_template(context, {.real = false, .unzip = 1}, quantise_tuning{})
          .instantiate(queue,
                       {.channels = 8, .first_channel = 2, .spectra = 64, .spectra_per_heap = 32});
  const auto before = spectra.version();
  spectra.set_first_spectrum(64);
  spectra.set_seed(5);
  CHECK(spectra.version() != before);
  CHECK(
      describe(spectra).starts_with("channels=8, first_channel=2, end_channel=8, spectra=64, "
                                    "spectra_per_heap=32, type=int8, first_spectrum=64, seed=5, "
                                    "key.real=false, key.unzip=1, "));
  beamform beams =
      beamform_template(context, {.beams = 2}, beamform_tuning{})
          .instantiate(queue,
                       {.batches = 1, .antennas = 3, .channels = 4, .spectra = 8, .beams = 3});
  CHECK(
      describe(beams).starts_with("batches=1, antennas=3, channels=4, spectra=8, beams=3, "
                                  "passes=2, first_spectrum=0, seed=0, key.beams="));
}

}  // namespace parameters_test
