// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "examples/receiver/front.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <complex>
#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "operations/telescope/pfb/pfb_weights.hpp"

namespace receiver {
namespace {

using namespace tune::operations;

constexpr std::size_t unzip = 4;

front_tunings chosen(const tune::member_tunings& all) {
  return {.filter = all.get<pfb_tuning>("filter"),
          .transform = all.get<fft_tuning>("transform"),
          .quantise = all.get<quantise_tuning>("quantise")};
}

tune::host_array<std::uint8_t> random_bytes(const tune::shape& size) {
  tune::host_array<std::uint8_t> bytes(size);
  std::mt19937 random(1);  // NOLINT: the same in each search
  std::generate_n(bytes.data(), size.elements(),
                  [&] { return static_cast<std::uint8_t>(random()); });
  return bytes;
}

// The contents of its inputs: random samples, no delays, and a gain that fills the output's range.
tune::workload fill(const tune::command_queue& queue, const settings& sizes) {
  const std::size_t row = packed_row_bytes(sizes.samples_with_margin(), sizes.bits);
  tune::host_array<float> weights({sizes.taps * sizes.step()});
  const std::vector<float> values = pfb_weights(sizes.taps, sizes.step());
  std::ranges::copy(values, weights.data());
  tune::host_array<float> zeros({sizes.spectra(), polarisations});
  zeros.fill(0.0F);
  tune::host_array<std::complex<float>> gains({sizes.channels, polarisations});
  gains.fill(std::complex<float>(std::ldexp(64.0F, -static_cast<int>(sizes.bits)), 0));
  tune::host_array<std::uint64_t> power({polarisations});
  power.fill(0);
  tune::workload work(queue);
  work.set("filter:samples", random_bytes({polarisations, row}))
      .set("filter:weights", weights)
      .set("filter:total_power", power)
      .set("quantise:delay", zeros)
      .set("quantise:phase", zeros)
      .set("quantise:gains", gains);
  return work;
}

}  // namespace

pfb_key filter_key(const settings& sizes) {
  return {.taps = sizes.taps, .bits = sizes.bits, .unzip = unzip};
}

pfb_shape filter_shape(const settings& sizes) {
  return {.polarisations = polarisations,
          .channels = sizes.channels,
          .samples = sizes.samples_with_margin(),
          .spectra = sizes.spectra(),
          // The transform begins with the first spectra, which are then in the device's cache.
          .last_first = true};
}

fft_description transform_of(const settings& sizes) {
  return {.size = {polarisations, sizes.spectra(), unzip, sizes.channels / unzip}, .axes = 1};
}

fft_key transform_key(const settings& sizes) {
  return {.size = std::to_string(sizes.channels / unzip),
          .batch = std::bit_ceil(polarisations * sizes.spectra() * unzip)};
}

quantise_key quantise_key_of(const settings& sizes) {
  return {.real = true, .unzip = unzip, .bits = 8, .has_dither = true, .channels = sizes.channels};
}

quantise_shape quantise_shape_of(const settings& sizes) {
  return {.polarisations = polarisations,
          .channels = sizes.channels,
          .spectra = sizes.spectra(),
          .spectra_per_heap = sizes.heap_spectra};
}

front_templates::front_templates(const tune::context& context, const settings& sizes,
                                 const front_tunings& tunings)
    : filter(context, filter_key(sizes), tunings.filter),
      transform(context, transform_of(sizes), tunings.transform),
      quantise(context, quantise_key_of(sizes), tunings.quantise) {}

// [sequence]
tune::operation_sequence make_front(const tune::command_queue& queue, const settings& sizes,
                                    const front_templates& made) {
  return tune::operation_sequence(
      queue,
      {{"filter", made.filter.instantiate(queue, filter_shape(sizes))},
       {"transform", made.transform.instantiate(queue)},
       {"quantise", made.quantise.instantiate(queue, quantise_shape_of(sizes))}},
      // In place: what is still in the device's cache is twice as much of the spectra.
      {{"spectra", {"filter:spectra", "transform:src", "transform:dest", "quantise:spectra"}}});
}
// [sequence]

front_tunings tune_together(const tune::context& context, const settings& sizes) {
  tune::sequence_tuner tuner({.name = "receiver.front",
                              .key = {{"channels", std::int64_t(sizes.channels)},
                                      {"spectra", std::int64_t(sizes.spectra())},
                                      {"heap_spectra", std::int64_t(sizes.heap_spectra)}}});
  tuner.member("filter", pfb_template::autotune, filter_key(sizes))
      .member("transform", fft_template::autotune, transform_key(sizes))
      .member("quantise", quantise_template::autotune, quantise_key_of(sizes));
  return chosen(tuner.tune(context, [&](const tune::tuning_command_queue& queue) {
    // The first configuration consists of tunings that the members' own searches have checked: it
    // is the answer. Another transform may round differently, which may change the last bit of an
    // output.
    return [sizes, queue, work = fill(queue, sizes),
            expected = std::optional<tune::answer>()](const tune::member_tunings& with) mutable {
      const front_templates made(queue.context(), sizes, chosen(with));
      if (!expected) {
        tune::operation_sequence trusted = make_front(queue, sizes, made);
        tune::answer taken;
        tune::take_answer(taken, work, trusted, {"quantise:out"}, {.absolute = 1});
        expected = std::move(taken);
      }
      return tune::make_sequence_measure(queue, make_front(queue, sizes, made), work, *expected);
    };
  }));
}

tune::sequence_times time_front(const tune::context& context, const settings& sizes,
                                const front_tunings& tunings) {
  const tune::tuning_command_queue queue = context.create_tuning_command_queue();
  const auto front = std::make_shared<tune::operation_sequence>(
      make_front(queue, sizes, front_templates(context, sizes, tunings)));
  tune::workload work = fill(queue, sizes);
  work.bind(*front);
  return tune::time_sequence(queue, front);
}

}  // namespace receiver
