// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Operations that are made again from their parameters: the replay of a captured run gives the same
// bits.
#include <cstdint>
#include <cstring>
#include <doctest/doctest.h>
#include <filesystem>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "libtune/base/visit_dtype.hpp"
#include "libtune/extra/capture.hpp"
#include "libtune/extra/capture/captured_inputs.hpp"
#include "libtune/extra/capture/captured_work.hpp"
#include "libtune/testing/captured_frames.hpp"
#include "libtune/testing/devices.hpp"
#include "libtune/testing/temporary_directory.hpp"
#include "operations/fft/fft.hpp"
#include "operations/fill/fill.hpp"
#include "operations/gemm/gemm.hpp"
#include "operations/hreduce/hreduce.hpp"
#include "operations/maskedsum/maskedsum.hpp"
#include "operations/percentile5/percentile5.hpp"
#include "operations/telescope/beamform/beamform.hpp"
#include "operations/telescope/correlate/correlate.hpp"
#include "operations/telescope/correlate/correlate_reduce.hpp"
#include "operations/telescope/ddc/ddc.hpp"
#include "operations/telescope/pfb/pfb.hpp"
#include "operations/telescope/quantise/quantise.hpp"
#include "operations/telescope/rfi/flagger.hpp"
#include "operations/telescope/rfi2d/rfi2d.hpp"
#include "operations/telescope/unpack/unpack.hpp"
#include "operations/transpose/transpose.hpp"

namespace remaking_test {

using tune::dtype;
using namespace tune::operations;  // NOLINT: all of them

/// Small numbers of any type, different from element to element.
std::vector<std::byte> numbers(const tune::array_layout& layout) {
  std::vector<std::byte> bytes(layout.bytes());
  tune::visit_dtype(*layout.type().dtype(), [&]<class T>() {
    for (std::size_t i = 0; i * sizeof(T) < bytes.size(); ++i) {
      const auto number = static_cast<float>((i * 7 + i / 11) % 53);
      T element{};
      if constexpr (tune::detail::complex_number<T>) {
        using part = typename T::value_type;
        element = T(static_cast<part>(number), static_cast<part>(53 - number));
      } else {
        element = static_cast<T>(number);
      }
      std::memcpy(bytes.data() + i * sizeof(T), &element, sizeof(T));
    }
  });
  return bytes;
}

void fill_slots(tune::operation& of) {
  of.ensure_all_bound();
  for (const tune::named_slot& each : of.slots()) {
    const auto* const slot = dynamic_cast<const tune::io_slot*>(each.slot.get());
    if (slot == nullptr || !slot->type().dtype()) continue;
    const auto bytes = numbers(slot->buffer().layout());
    if (!bytes.empty()) of.queue().write(slot->buffer().buffer(), bytes.data(), bytes.size());
  }
}

/// Checks that the searches of all keys of a file can use it, by the declarations of the
/// operations.
void check_inputs(const tune::capture_reader& file, const tune::context& context) {
  std::set<std::string> left_out;
  const auto runs = tune::detail::find_work({file}, left_out);
  CHECK(left_out.empty());
  for (const tune::detail::captured_work& run : runs) {
    CAPTURE(run.function);
    const tune::detail::captured_inputs inputs(context, {run});
    CHECK(inputs.loaded() == 1);
  }
}

/// Captures a run, makes the operation again, and compares.
/// @param has_key  its searches can use captured contents
void check(tune::operation& of, bool has_key = true) {
  CAPTURE(tune::to_string(of.parameters()));
  fill_slots(of);
  const tune::testing::temporary_directory folder;
  tune::capture frames("operation", {.folder = folder.path(), .each_nth = 1});
  const auto point = frames.add("run", of);
  frames.prepare();
  tune::frame_snapshot frame = frames.begin();
  point.run(frame);
  frames.end(frame);
  REQUIRE(frames.wait());
  const tune::testing::captured_frames captured(
      std::filesystem::directory_iterator(folder.path())->path());
  captured.check_replay(of.queue());
  if (has_key) check_inputs(captured.file(), of.queue().context());
}

void check(tune::operation&& of) { check(of); }

LIBTUNE_DEVICE_TEST_CASE("reductions and moves of arrays are made again", device) {
  const tune::context context = device.create_context();
  const tune::command_queue queue = context.create_command_queue();
  check(transpose_template(context, dtype::complex64, transpose_tuning{.tile = 16})
            .instantiate(queue, 30, 41));
  fill filled = fill_template(context, dtype::float64).instantiate(queue, {3, 5});
  filled.set_value(0.1);
  check(filled);
  fill complex = fill_template(context, dtype::complex64).instantiate(queue, {7});
  complex.set_value(std::complex<float>(1.5F, -2));
  check(complex);
  check(hreduce_template(context, max_of(dtype::int32)).instantiate(queue, 5, 100, {2, 90}));
  check(hreduce_template(context, sum_of(dtype::float32)).instantiate(queue, 2, 1000));
  check(hreduce_template(context, {.type = dtype::int32,
                                   .operation = "both(a, b)",
                                   .identity = "0",
                                   .definitions = "#define both(a, b) ((a) | (b))"})
            .instantiate(queue, 3, 70));
  check(maskedsum_template(context, true, 100).instantiate(queue, 20, 100));
  check(percentile5_template(context, 60, false).instantiate(queue, 4, 60, {3, 50}));
}

LIBTUNE_DEVICE_TEST_CASE("products and transforms are made again", device) {
  const tune::context context = device.create_context();
  const tune::command_queue queue = context.create_command_queue();
  gemm_key key;
  key.input = key.output = dtype::float32;
  key.b = gemm_layout::column_major;
  gemm product = gemm_template(context, key, gemm_tuning{}).instantiate(queue, 20, 30, 40);
  product.set_factors(0.5F, 2);
  check(product, false);  // a portfolio tunes it
  if (!fft_absence(device).empty()) return;
  check(fft_template(context, {.size = {3, 5, 16}, .axes = 1}).instantiate(queue));
  check(fft_template(context, {.size = {2, 8, 12}, .axes = 2, .direction = fft_direction::inverse})
            .instantiate(queue));
  check(fft_template(
            context,
            {.size = {4, 16}, .src = dtype::float32, .padded_src = {4, 20}, .padded_dest = {4, 12}})
            .instantiate(queue));
}

LIBTUNE_DEVICE_TEST_CASE("the operations of a receiver are made again", device) {
  const tune::context context = device.create_context();
  const tune::command_queue queue = context.create_command_queue();
  check(unpack_template(context, {.bits = 10}).instantiate(queue, 2, 100));
  pfb filter = pfb_template(context, {.taps = 4, .bits = 10, .unzip = 4})
                   .instantiate(queue, {.channels = 64, .samples = 4000, .spectra = 16});
  filter.set_range({17, 5}, 2, 10);
  check(filter);
  quantise spectra = quantise_template(context, {.unzip = 4, .bits = 8, .has_dither = true})
                         .instantiate(queue, {.channels = 64,
                                              .first_channel = 8,
                                              .end_channel = 40,
                                              .spectra = 64,
                                              .spectra_per_heap = 32});
  spectra.set_first_spectrum(640);
  spectra.set_seed(9);
  check(spectra);
  correlate products = correlate_template(context, {.antennas = 3, .channels = 4, .spectra = 32})
                           .instantiate(queue, 3);
  products.set_batches({1, 3});
  check(products);
  check(correlate_reduce_template(context, 2).instantiate(queue, 3, 4, 2));
  beamform beams =
      beamform_template(context, {.beams = 2, .has_dither = true})
          .instantiate(queue,
                       {.batches = 2, .antennas = 3, .channels = 4, .spectra = 8, .beams = 3});
  beams.set_beam(1, 0, false);
  beams.set_first_spectrum(64);
  beams.set_seed(3);
  check(beams);
}

LIBTUNE_DEVICE_TEST_CASE("a down-converter is made again", device) {
  const tune::context context = device.create_context();
  const tune::command_queue queue = context.create_command_queue();
  ddc down = ddc_template(context, {.taps = 16, .subsampling = 4}).instantiate(queue, 2, 301);
  down.set_mixer(std::uint64_t{3} << 40, 17);
  check(down);
}

LIBTUNE_DEVICE_TEST_CASE("a flagger of two dimensions is made again, with all its parameters",
                         device) {
  const tune::context context = device.create_context();
  const tune::command_queue queue = context.create_command_queue();
  check(rfi2d_template(context, {.is_complex = false})
            .instantiate(queue, 7, 40, 5,
                         {.outlier_nsigma = 3.5,
                          .windows_time = {2, 1},
                          .windows_freq = {},
                          .background_iterations = 2,
                          .spike_width_freq = 3,
                          .time_extend = 1,
                          .freq_chunks = 3,
                          .average_freq = 2,
                          .rho = 1.5}));
}

LIBTUNE_DEVICE_TEST_CASE("a flagger is made again, operation by operation", device) {
  const tune::context context = device.create_context();
  const tune::command_queue queue = context.create_command_queue();
  check(rfi::make_flagger(context, {.width = 5, .channels = 64}).instantiate(queue, 64, 30));
  check(rfi::make_flagger(context, {.width = 5, .is_amplitude = true, .channels = 64})
            .instantiate(queue, 64, 30));
}

}  // namespace remaking_test
