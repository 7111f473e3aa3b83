// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Question: how close do the operations that reduce arrays to statistics come to the device's
// bandwidth?
//
// Each operation is tuned, without a database; then it works on arrays of random numbers. Timed in
// turn, round by round, by markers on the device: the tuned operation, the same with the test
// default, a copy of the array, and, for percentile5, a bit by bit search for each rank, as in
// katsdpsigproc. Reported are the bytes of the least traffic (each input once, each output once)
// over the median time, and medians of the ratios of a round: "of copy" is bandwidth over the
// copy's bandwidth, the others are the other's time over ours, so that above 1 is better
// everywhere.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <complex>
#include <cstdio>
#include <cstdlib>
#include <fmt/format.h>
#include <sstream>
#include <string>
#include <vector>

#include "bench/operations/device_time.hpp"
#include "libtune/child/serve_if_worker.hpp"
#include "operations/maskedsum/maskedsum.hpp"
#include "operations/percentile5/percentile5.hpp"
#include "operations/workload.hpp"

namespace {

using namespace tune::operations;  // NOLINT: the subject of the program
using bench::contender;
using bench::timed_search;

struct settings {
  int rounds = 30;
  std::size_t limit = 0;
  std::size_t shapes = 100;
  std::size_t device = 0;
  std::vector<std::string> only;
  std::vector<std::string> sampled;
};

struct bench_device {
  tune::device device;
  tune::context context = device.create_context();
  tune::command_queue queue = context.create_command_queue({.profiling = true});
  int rounds = 0;
};

struct array_shape {
  std::size_t rows, columns;
};

// contenders: tuned, copy, others.
void report(const std::string& name, double moved_bytes, double copied_bytes,
            const std::vector<contender>& timed, double search_seconds, const std::string& tuning) {
  const double median = timed[0].median();
  fmt::print("{:<34} {:>9.1f} us {:>7.0f} GB/s {:>7.3f}", name, median * 1e6,
             moved_bytes / median / 1e9,
             bench::ratio(timed[1], timed[0]) * moved_bytes / copied_bytes);
  for (std::size_t i = 2; i < timed.size(); ++i) {
    fmt::print(" {:>7.2f}", bench::ratio(timed[i], timed[0]));
  }
  fmt::print(" {:>6.1f} s  {}\n", search_seconds, tuning);
  std::fflush(stdout);
}

void bench_maskedsum(bench_device& on, bool use_amplitudes, const array_shape& shape) {
  double searched = 0;
  const auto tuned = timed_search(
      searched, [&] { return maskedsum_template(on.context, use_amplitudes, shape.columns); });
  const maskedsum_template plain(on.context, use_amplitudes, shape.columns, maskedsum_tuning{});
  const double bytes = 8.0 * static_cast<double>(shape.rows * shape.columns);
  const tune::device_array src(on.context, {tune::dtype::complex64, {shape.rows, shape.columns}});
  const tune::device_array copied(on.context,
                                  {tune::dtype::complex64, {shape.rows, shape.columns}});
  set_numbers(on.queue, src);
  maskedsum ours = tuned.instantiate(on.queue, shape.rows, shape.columns);
  maskedsum standard = plain.instantiate(on.queue, shape.rows, shape.columns);
  for (maskedsum* op : {&ours, &standard}) {
    op->bind("src", src);
    op->ensure_all_bound();
    set_numbers(on.queue, op->buffer("mask"));
  }
  std::vector<contender> timed{
      {[&] { ours.run(); }}, bench::copy_of(on.queue, src, copied), {[&] { standard.run(); }}};
  bench::time_in_turn(on.queue, timed, on.rounds);
  report(fmt::format("maskedsum{} {} x {}", use_amplitudes ? " of |x|" : "", shape.rows,
                     shape.columns),
         bytes, 2 * bytes, timed, searched, tune::to_string(tune::to_values(tuned.tuning())));
}

void bench_percentile5(bench_device& on, bool is_amplitude, const array_shape& shape) {
  double searched = 0;
  const auto tuned = timed_search(
      searched, [&] { return percentile5_template(on.context, shape.columns, is_amplitude); });
  const percentile5_template plain(on.context, shape.columns, is_amplitude, percentile5_tuning{});
  const percentile5_template by_bits(on.context, shape.columns, is_amplitude,
                                     percentile5_tuning{.size = 128, .rows = 1, .pass_bits = 1});
  const tune::dtype type = is_amplitude ? tune::dtype::float32 : tune::dtype::complex64;
  const tune::device_array src(on.context, {type, {shape.rows, shape.columns}});
  const tune::device_array copied(on.context, {type, {shape.rows, shape.columns}});
  const tune::device_array dest(on.context, {tune::dtype::float32, {5, shape.rows}});
  set_numbers(on.queue, src);
  percentile5 ours = tuned.instantiate(on.queue, shape.rows, shape.columns);
  percentile5 standard = plain.instantiate(on.queue, shape.rows, shape.columns);
  percentile5 counted = by_bits.instantiate(on.queue, shape.rows, shape.columns);
  for (percentile5* op : {&ours, &standard, &counted}) {
    op->bind("src", src);
    op->bind("dest", dest);
  }
  std::vector<contender> timed{{[&] { ours.run(); }},
                               bench::copy_of(on.queue, src, copied),
                               {[&] { standard.run(); }},
                               {[&] { counted.run(); }}};
  bench::time_in_turn(on.queue, timed, on.rounds);
  const auto bytes = static_cast<double>(src.layout().bytes());
  report(fmt::format("percentile5 {} {} x {}", is_amplitude ? "float32" : "complex64", shape.rows,
                     shape.columns),
         bytes, 2 * bytes, timed, searched, tune::to_string(tune::to_values(tuned.tuning())));
}

/// Times percentile5 with given tunings, "size,rows,vector,bins" each, of sampled histograms.
void bench_sampled(bench_device& on, const std::vector<std::string>& tunings,
                   const array_shape& shape) {
  const tune::device_array src(on.context, {tune::dtype::float32, {shape.rows, shape.columns}});
  const tune::device_array dest(on.context, {tune::dtype::float32, {5, shape.rows}});
  set_numbers(on.queue, src);
  std::vector<percentile5> operations;
  for (const std::string& text : tunings) {
    percentile5_tuning tuning{.sampled = true};
    char comma = 0;
    std::istringstream fields(text);
    fields >> tuning.size >> comma >> tuning.rows >> comma >> tuning.vector >> comma >> tuning.bins;
    if (!fields) throw tune::argument_error("a tuning is size,rows,vector,bins, not " + text);
    const percentile5_template made(on.context, shape.columns, true, tuning);
    operations.push_back(made.instantiate(on.queue, shape.rows, shape.columns));
    operations.back().bind("src", src);
    operations.back().bind("dest", dest);
  }
  std::vector<contender> timed;
  for (percentile5& op : operations) timed.push_back({[&op] { op.run(); }});
  bench::time_in_turn(on.queue, timed, on.rounds);
  for (std::size_t i = 0; i < tunings.size(); ++i) {
    fmt::print("percentile5 sampled {:<20} {:>9.1f} us\n", tunings[i], timed[i].median() * 1e6);
  }
  std::fflush(stdout);
}

void run(bench_device on, const settings& given) {
  bench::search_afresh(on.context, given.limit);
  const auto wanted = [&](const char* name) {
    return given.only.empty() || std::ranges::find(given.only, name) != given.only.end();
  };
  const bool is_gpu = on.device.kind() == tune::device_kind::gpu;
  fmt::print("{} {}\n{:<34} {:>12} {:>12} {:>7} {:>7} {:>8}  {}\n", on.device.info().backend,
             on.device.name(), "", "time", "bandwidth", "of copy", "default", "search", "tuning");
  std::vector<array_shape> sums{{4096, 5000}, {4096, 4096}};
  if (is_gpu) sums.insert(sums.end(), {{16384, 8192}, {1 << 20, 128}, {1024, 131072}});
  std::vector<array_shape> ranked{{4096, 4096}, {4000, 5000}};
  if (is_gpu) ranked.insert(ranked.end(), {{65536, 4096}, {131072, 512}, {1024, 65536}});
  if (given.shapes < sums.size()) sums.resize(given.shapes);
  if (given.shapes < ranked.size()) ranked.resize(given.shapes);
  if (!given.sampled.empty()) bench_sampled(on, given.sampled, ranked.front());
  if (wanted("percentile5")) {
    for (const array_shape& shape : ranked) bench_percentile5(on, true, shape);
    bench_percentile5(on, false, ranked.front());
  }
  if (wanted("maskedsum")) {
    for (const array_shape& shape : sums) bench_maskedsum(on, false, shape);
    bench_maskedsum(on, true, sums.back());
  }
}

}  // namespace

int main(int argc, char** argv) {
  tune::serve_if_worker(argc, argv);
  settings given;
  CLI::App app(
      "Measures operations that reduce arrays; see the head of the source for the method.");
  app.add_option("--rounds", given.rounds, "how often each contender is timed");
  app.add_option("--limit", given.limit, "try so many configurations, chosen at random");
  app.add_option("--shapes", given.shapes, "so many shapes of each operation at most");
  app.add_option("--device", given.device, "its index, as LIBTUNE_DEVICE counts");
  app.add_option("--only", given.only, "maskedsum or percentile5");
  app.add_option("--sampled", given.sampled,
                 "tunings of percentile5 to time: size,rows,vector,bins of sampled histograms");
  CLI11_PARSE(app, argc, argv);
  ::setenv("LIBTUNE_CACHE", "off", 1);
  bench_device on{.device = tune::all_devices().at(given.device)};
  on.rounds = given.rounds;
  run(std::move(on), given);
}
