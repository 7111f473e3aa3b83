// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Question: how close does quantise come to the device's bandwidth, in the shapes of a radio
// telescope?
//
// The operation is tuned, without a database, once for any number of channels, and again for the
// last number only ("fixed"), without dither, for complex samples and for 4 bits; then it works on
// random numbers. Timed in turn, round by round, by markers on the device: the tuned operation, a
// copy of the least traffic (each input read once, each output written once), and the operation
// with the test default. "of copy" is the copy's time over ours, and "default" that of the test
// default over ours, both medians over the rounds.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fmt/format.h>
#include <iostream>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "bench/operations/device_time.hpp"
#include "libtune/child/serve_if_worker.hpp"
#include "operations/telescope/quantise/quantise.hpp"
#include "operations/workload.hpp"

namespace {

using namespace tune::operations;  // NOLINT: the subject of the program
using bench::bench_device;
using bench::contender;

struct settings : bench::common_settings {
  std::size_t log2_values = 23;
  std::vector<std::size_t> channels{1024, 4096, 8192, 32768};
  std::vector<std::string> tunings;
  bool all = false;
};

void bench_shape(bench_device& on, const settings& given, const quantise_template& tuned,
                 const quantise_template& plain, const quantise_key& key, std::size_t channels) {
  quantise_shape shape{.channels = channels};
  shape.spectra = (std::size_t{1} << given.log2_values) / channels;
  shape.spectra_per_heap =
      std::min(std::max<std::size_t>(32, (std::size_t{1} << 20) / channels), shape.spectra);
  quantise ours = tuned.instantiate(on.queue, shape);
  quantise standard = plain.instantiate(on.queue, shape);
  ours.ensure_all_bound();
  for (const char* name : {"spectra", "delay", "phase", "gains"}) {
    set_numbers(on.queue, ours.buffer(name));
  }
  for (const auto& [name, slot] : ours.slots()) standard.bind(name, ours.buffer(name));
  const std::size_t bytes =
      ours.buffer("spectra").layout().bytes() + ours.buffer("out").layout().bytes();
  const tune::device_array from(on.context, {tune::dtype::uint8, {bytes / 2}});
  const tune::device_array to(on.context, {tune::dtype::uint8, {bytes / 2}});
  from.zero(on.queue);
  std::vector<contender> timed{
      {[&] { ours.run(); }}, bench::copy_of(on.queue, from, to), {[&] { standard.run(); }}};
  bench::time_in_turn(on.queue, timed, given.rounds);
  const double median = timed[0].median();
  fmt::print(
      "{:<42} {:>9.1f} us {:>7.0f} GB/s {:>7.3f} {:>7.2f}\n",
      fmt::format("{} {} channels{}, {} bit{}", key.real ? "real" : "complex", channels,
                  key.channels != 0 ? " fixed" : "", key.bits, key.has_dither ? ", dither" : ""),
      median * 1e6, static_cast<double>(bytes) / median / 1e9, bench::ratio(timed[1], timed[0]),
      bench::ratio(timed[2], timed[0]));
  std::fflush(stdout);
}

void bench_quantise(bench_device& on, const settings& given, const quantise_key& key,
                    const std::vector<std::size_t>& numbers_of_channels,
                    const std::optional<quantise_tuning>& tuning = std::nullopt) {
  const auto start = std::chrono::steady_clock::now();
  const quantise_template tuned(on.context, key, tuning);
  fmt::print("tuned in {:.1f} s: {}\n",
             std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(),
             tune::to_string(tune::to_values(tuned.tuning())));
  const quantise_template plain(on.context, key, quantise_tuning{});
  for (const std::size_t channels : numbers_of_channels) {
    bench_shape(on, given, tuned, plain, key, channels);
  }
}

/// Times given tunings, each as the numbers of quantise_tuning separated by commas.
void bench_tunings(bench_device& on, const settings& given) {
  const std::size_t last = given.channels.back();
  for (const std::string& text : given.tunings) {
    std::istringstream numbers(text);
    quantise_tuning tuning;
    char comma = 0;
    numbers >> tuning.width >> comma >> tuning.height >> comma >> tuning.spectra >> comma >>
        tuning.together >> comma >> tuning.ahead >> comma >> tuning.resident;
    if (!numbers)
      throw tune::argument_error("a tuning is width,height,spectra,together,ahead,resident, not " +
                                 text);
    bench_quantise(on, given, {.channels = last}, {last}, tuning);
  }
}

void run(bench_device on, const settings& given) {
  bench::search_afresh(on.context, given.limit, given.table);
  fmt::print("{} {}, 2^{} values of 2 polarisations\n{:<42} {:>12} {:>12} {:>7} {:>7}\n",
             on.device.info().backend, on.device.name(), given.log2_values, "", "time", "bandwidth",
             "of copy", "default");
  if (!given.tunings.empty()) return bench_tunings(on, given);
  const std::size_t last = given.channels.back();
  bench_quantise(on, given, {}, given.channels);
  bench_quantise(on, given, {.channels = last}, {last});
  bench_quantise(on, given, {.has_dither = false}, {last});
  if (!given.all) return;
  bench_quantise(on, given, {.real = false}, {last});
  bench_quantise(on, given, {.bits = 4}, {last});
}

}  // namespace

int main(int argc, char** argv) {
  tune::serve_if_worker(argc, argv);
  settings given;
  CLI::App app("Measures quantise; see the head of the source for the method.");
  bench::add_options(app, given);
  app.add_option("--log2-values", given.log2_values, "spectra times channels, as a power of two");
  app.add_option("--channels", given.channels, "numbers of channels");
  app.add_option(
      "--tuning", given.tunings,
      "time such tunings in place of searching: width,height,spectra,together,ahead,resident");
  app.add_flag("--all", given.all, "complex samples and 4 bits, too");
  CLI11_PARSE(app, argc, argv);
  ::setenv("LIBTUNE_CACHE", "off", 1);
  run(bench::device_at(given.device), given);
}
