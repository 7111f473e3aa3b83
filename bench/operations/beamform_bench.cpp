// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Question: how close does beamform come to the bandwidth and to the arithmetic of the device, in
// the shapes of a radio telescope?
//
// The operation is tuned, without a database; then it works on random numbers. Timed in turn, round
// by round, by markers on the device: the tuned operation, a copy of the least traffic (the input
// read once, the beams written once), and the operation with the test default. "of copy" is the
// copy's time over ours, and "default" the test default's time over ours, both medians over the
// rounds. TFLOP/s count 8 operations for each antenna, beam, channel and spectrum.
#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fmt/format.h>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "bench/operations/device_time.hpp"
#include "libtune/child/serve_if_worker.hpp"
#include "operations/telescope/beamform/beamform.hpp"
#include "operations/workload.hpp"

namespace {

using namespace tune::operations;  // NOLINT: the subject of the program
using bench::bench_device;
using bench::contender;

struct settings : bench::common_settings {
  std::size_t beams = 8;
  std::size_t channels = 512;
  std::size_t spectra = 256;
  std::vector<std::size_t> antennas{80, 64, 256};
};

void bench_beamform(bench_device& on, const settings& given, const beamform_template& tuned,
                    const beamform_template& plain, std::size_t antennas, bool has_dither) {
  const beamform_shape shape{.batches = antennas == 80 ? 16U : 12U,
                             .antennas = antennas,
                             .channels = given.channels,
                             .spectra = given.spectra,
                             .beams = given.beams};
  beamform ours = tuned.instantiate(on.queue, shape);
  beamform standard = plain.instantiate(on.queue, shape);
  ours.ensure_all_bound();
  for (const char* name : {"in", "weights", "delays"}) set_numbers(on.queue, ours.buffer(name));
  ours.buffer("saturated").zero(on.queue);
  for (const auto& [name, slot] : ours.slots()) standard.bind(name, ours.buffer(name));
  const std::size_t bytes =
      ours.buffer("in").layout().bytes() + ours.buffer("out").layout().bytes();
  const tune::device_array from(on.context, {tune::dtype::uint8, {bytes / 2}});
  const tune::device_array to(on.context, {tune::dtype::uint8, {bytes / 2}});
  from.zero(on.queue);
  std::vector<contender> timed{
      {[&] { ours.run(); }}, bench::copy_of(on.queue, from, to), {[&] { standard.run(); }}};
  bench::time_in_turn(on.queue, timed, given.rounds);
  const double median = timed[0].median();
  const double flop = 8.0 * static_cast<double>(shape.batches * antennas * shape.channels *
                                                shape.spectra * shape.beams);
  fmt::print("{:<36} {:>9.1f} us {:>7.0f} GB/s {:>6.1f} TFLOP/s {:>7.3f} {:>7.2f}\n",
             fmt::format("{} beams, {} antennas x {}{}", shape.beams, antennas, shape.batches,
                         has_dither ? ", dither" : ""),
             median * 1e6, static_cast<double>(bytes) / median / 1e9, flop / median / 1e12,
             bench::ratio(timed[1], timed[0]), bench::ratio(timed[2], timed[0]));
  std::fflush(stdout);
}

void run(bench_device on, const settings& given) {
  bench::search_afresh(on.context, given.limit, given.table);
  fmt::print("{} {}, {} channels x {} spectra\n{:<36} {:>12} {:>12} {:>14} {:>7} {:>7}\n",
             on.device.info().backend, on.device.name(), given.channels, given.spectra, "", "time",
             "bandwidth", "", "of copy", "default");
  for (const bool has_dither : {true, false}) {
    const beamform_key key{.beams = given.beams, .has_dither = has_dither};
    const auto start = std::chrono::steady_clock::now();
    const beamform_template tuned(on.context, key);
    const beamform_template plain(on.context, key, beamform_tuning{});
    fmt::print("tuned in {:.1f} s: {}\n",
               std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(),
               tune::to_string(tune::to_values(tuned.tuning())));
    for (const std::size_t antennas : given.antennas) {
      bench_beamform(on, given, tuned, plain, antennas, has_dither);
      if (!has_dither) break;
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  tune::serve_if_worker(argc, argv);
  settings given;
  CLI::App app("Measures beamform; see the head of the source for the method.");
  bench::add_options(app, given);
  app.add_option("--beams", given.beams, "beams, of alternating polarisation");
  app.add_option("--channels", given.channels, "channels");
  app.add_option("--spectra", given.spectra, "spectra of a batch");
  app.add_option("--antennas", given.antennas, "numbers of antennas");
  CLI11_PARSE(app, argc, argv);
  ::setenv("LIBTUNE_CACHE", "off", 1);
  run(bench::device_at(given.device), given);
}
