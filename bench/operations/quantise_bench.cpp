// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// How near quantise comes to the bandwidth of the device, in the shapes of a radio telescope.
//
// For each number of channels the operation is tuned, without a database; then it works on random
// numbers. Timed in turn, round by round, by markers on the device: the tuned operation, a copy
// that moves as many bytes as have to be moved (each input read once, each output written once),
// and the operation with the test default. "of copy" is the copy's time over ours, and "default"
// that of the test default over ours, both medians over the rounds.
#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fmt/format.h>
#include <string>
#include <vector>

#include "bench/operations/device_time.hpp"
#include "libtune/tune/remote/serve_if_worker.hpp"
#include "operations/quantise/quantise.hpp"
#include "operations/workload.hpp"

namespace {

using namespace tune::operations;  // NOLINT: the subject of the program
using bench::contender;

struct settings {
  int rounds = 30;
  std::size_t limit = 0;
  std::size_t device = 0;
  std::size_t log2_values = 23;
  bool fixed = true;
  std::vector<std::size_t> channels{1024, 4096, 8192, 32768};
};

struct bench_device {
  tune::device device;
  tune::context context = device.create_context();
  tune::command_queue queue = context.create_command_queue({.profiling = true});
};

void bench_quantise(bench_device& on, const settings& given, quantise_key key,
                    std::size_t channels) {
  if (given.fixed) key.channels = channels;
  const auto start = std::chrono::steady_clock::now();
  const quantise_template tuned(on.context, key);
  const double searched =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  const quantise_template plain(on.context, key, quantise_tuning{});
  quantise_shape shape{.channels = channels};
  shape.spectra = (std::size_t{1} << given.log2_values) / channels;
  shape.spectra_per_heap = std::max<std::size_t>(32, (std::size_t{1} << 20) / channels);
  shape.spectra_per_heap = std::min(shape.spectra_per_heap, shape.spectra);
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
  fmt::print("{:<40} {:>9.1f} us {:>7.0f} GB/s {:>7.3f} {:>7.2f} {:>6.1f} s  {}\n",
             fmt::format("{} {} channels, {} bit{}", key.real ? "real" : "complex", channels,
                         key.bits, key.has_dither ? ", dither" : ""),
             median * 1e6, static_cast<double>(bytes) / median / 1e9,
             bench::ratio(timed[1], timed[0]), bench::ratio(timed[2], timed[0]), searched,
             tune::to_string(tune::to_values(tuned.tuning())));
  std::fflush(stdout);
}

void run(bench_device on, const settings& given) {
  bench::search_afresh(on.context, given.limit);
  fmt::print("{} {}, 2^{} values of 2 polarisations\n{:<40} {:>12} {:>12} {:>7} {:>7} {:>8}  {}\n",
             on.device.info().backend, on.device.name(), given.log2_values, "", "time", "bandwidth",
             "of copy", "default", "search", "tuning");
  for (const std::size_t channels : given.channels) bench_quantise(on, given, {}, channels);
  const std::size_t last = given.channels.back();
  bench_quantise(on, given, {.has_dither = false}, last);
  bench_quantise(on, given, {.bits = 4}, last);
  bench_quantise(on, given, {.real = false}, last);
}

}  // namespace

int main(int argc, char** argv) {
  tune::serve_if_worker(argc, argv);
  settings given;
  CLI::App app("Measures quantise; see the head of the source for the method.");
  app.add_option("--rounds", given.rounds, "how often each contender is timed");
  app.add_option("--limit", given.limit, "try so many configurations, chosen at random");
  app.add_option("--device", given.device, "its index, as LIBTUNE_DEVICE counts");
  app.add_option("--log2-values", given.log2_values, "spectra times channels, as a power of two");
  app.add_option("--fixed", given.fixed, "programs for one number of channels only");
  app.add_option("--channels", given.channels, "numbers of channels");
  CLI11_PARSE(app, argc, argv);
  ::setenv("LIBTUNE_CACHE", "off", 1);
  run({.device = tune::all_devices().at(given.device)}, given);
}
