// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Question: how close does the correlator come to the device's peak of multiplications?
//
// For each shape the operation is tuned, without a database, or uses the given tuning; then it
// correlates random voltages. Timed in turn, round by round, by markers on the device: the
// correlation, a copy of its input, and the reduction of its accumulators. Reported are medians.
// "TOP/s" counts useful operations only: 32 for a pair of antennas a1 <= a2, a channel and a
// spectrum, because each of the 4 products of polarisations is 4 multiplications and 4 additions of
// real numbers.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fmt/format.h>
#include <iostream>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bench/operations/device_time.hpp"
#include "libtune/child/serve_if_worker.hpp"
#include "libtune/console/reports.hpp"
#include "operations/telescope/correlate/correlate.hpp"
#include "operations/telescope/correlate/correlate_reduce.hpp"
#include "operations/telescope/correlate/reference.hpp"
#include "operations/workload.hpp"

namespace {

using namespace tune::operations;  // NOLINT: the subject of the program

struct settings {
  int rounds = 30;
  std::size_t limit = 0;
  std::size_t device = 0;
  std::vector<std::size_t> shapes;
  std::vector<std::size_t> tuning;
  std::vector<std::size_t> shape;
  std::vector<std::size_t> batches;
  std::size_t bits = 8;
  bool table = false;
  bool unchecked = false;
};

struct shape_case {
  correlate_key key;
  std::size_t batches;
};

constexpr std::array<shape_case, 4> cases{
    {{{64, 512, 256}, 16}, {{80, 512, 256}, 16}, {{256, 512, 256}, 12}, {{80, 16, 1024}, 32}}};

struct bench_device {
  tune::device device;
  tune::context context = device.create_context();
  tune::command_queue queue = context.create_command_queue({.profiling = true});
  std::map<std::size_t, correlate_reduce_template> reductions{};

  const correlate_reduce_template& reduction(std::size_t copies) {
    return reductions.try_emplace(copies, context, copies).first->second;
  }
};

/// A number from -most to most, from the bits of a state.
int drawn(std::uint32_t bits, int most) {
  return static_cast<int>(bits % static_cast<std::uint32_t>(2 * most + 1)) - most;
}

void set_voltages(tune::command_queue& queue, const tune::device_array& array, std::size_t bits) {
  const std::size_t bytes = array.layout().bytes();
  std::vector<std::int8_t> numbers(std::min<std::size_t>(bytes, std::size_t{1} << 22));
  std::uint32_t state = 1;
  for (std::int8_t& number : numbers) {
    tune::operations::next_number(state);
    const int four_bits = drawn(state >> 24, 7) * 16 + (drawn(state >> 16 & 255, 7) & 15);
    number = static_cast<std::int8_t>(bits == 8 ? drawn(state >> 16, 127) : four_bits);
  }
  tune::operations::write_again(queue, array.buffer(), bytes, std::as_bytes(std::span(numbers)));
}

constexpr std::size_t numbers_of_tuning = 11;

/// The given tunings; without any, an empty one, which means a search.
std::vector<std::optional<correlate_tuning>> given_tunings(const settings& given) {
  if (given.tuning.empty()) return {std::nullopt};
  std::vector<std::optional<correlate_tuning>> tunings;
  for (std::size_t i = 0; i + numbers_of_tuning <= given.tuning.size(); i += numbers_of_tuning) {
    const auto t = std::span(given.tuning).subspan(i, numbers_of_tuning);
    tunings.emplace_back(correlate_tuning{static_cast<correlate_instruction>(t[0]), t[1], t[2],
                                          t[3], t[4], t[5], t[6], t[7], t[8] != 0, t[9] != 0,
                                          t[10]});
  }
  return tunings;
}

/// True if the visibilities of a few baselines and channels equal the host's.
bool is_right(bench_device& on, correlate& op, const shape_case& shape) {
  op.zero();
  op.run();
  std::vector<std::int8_t> in(op.buffer("in").layout().bytes());
  on.queue.read(op.buffer("in").buffer(), in.data(), in.size());
  const auto voltage_at = [&](std::size_t place) {
    if (shape.key.bits == 8) return in[place];
    const auto byte = static_cast<unsigned char>(in[place / 2]);
    return static_cast<std::int8_t>(
        static_cast<std::int8_t>(place % 2 == 0 ? byte & 0xf0 : byte << 4 & 0xf0) / 16);
  };
  const auto got = op.buffer("visibilities").get<std::int64_t>(on.queue);
  const std::size_t antennas = shape.key.antennas;
  for (std::size_t i = 0; i < 200; ++i) {
    const std::size_t a2 = (i * 37 + 11) % antennas;
    const std::size_t a1 = (i * 101) % (a2 + 1);
    const std::size_t channel = i * 7 % shape.key.channels;
    tune::host_array<std::int8_t> pair({shape.batches, 2, 1, shape.key.spectra, 2, 2});
    for (std::size_t b = 0; b < shape.batches; ++b) {
      for (std::size_t k = 0; k < 2; ++k) {
        for (std::size_t j = 0; j < shape.key.spectra * 4; ++j) {
          const std::size_t row =
              (b * antennas + (k == 0 ? a1 : a2)) * shape.key.channels + channel;
          pair(b, k, 0, j / 4, j / 2 % 2, j % 2) = voltage_at(row * shape.key.spectra * 4 + j);
        }
      }
    }
    tune::host_array<std::int64_t> expected({1, 1, 3, 4, 2});
    expected.fill(0);
    correlate_on_host(pair, {0, shape.batches}, expected);
    for (std::size_t j = 0; j < 8; ++j) {
      std::int64_t sum = 0;
      for (std::size_t copy = 0; copy < op.copies(); ++copy) {
        sum += got(copy, channel, baseline_index(a1, a2), j / 2, j % 2);
      }
      if (sum != expected(0, 0, 1, j / 2, j % 2)) return false;
    }
  }
  return true;
}

void bench_correlate(bench_device& on, const shape_case& shape, const settings& given,
                     const correlate_template& made, double seconds) {
  correlate op = made.instantiate(on.queue, shape.batches);
  op.ensure_all_bound();
  set_voltages(on.queue, op.buffer("in"), shape.key.bits);
  const tune::device_array copied(on.context, op.buffer("in").layout());
  correlate_reduce reduce =
      on.reduction(op.copies())
          .instantiate(on.queue, shape.key.antennas, shape.key.channels, op.copies());
  reduce.bind("visibilities", op.buffer("visibilities"));
  reduce.ensure_all_bound();
  reduce.buffer("absent").zero(on.queue);
  const char* const seen = given.unchecked           ? "unchecked"
                           : is_right(on, op, shape) ? "right"
                                                     : "WRONG";
  std::vector<bench::contender> timed{{[&] { op.run(); }},
                                      bench::copy_of(on.queue, op.buffer("in"), copied),
                                      {[&] { reduce.run(); }}};
  bench::time_in_turn(on.queue, timed, given.rounds);
  const double useful = 32.0 * static_cast<double>(baseline_count(shape.key.antennas)) *
                        static_cast<double>(shape.key.channels * shape.key.spectra) *
                        static_cast<double>(shape.batches);
  const double reduced = static_cast<double>(op.buffer("visibilities").layout().bytes()) +
                         static_cast<double>(reduce.buffer("out").layout().bytes());
  fmt::print(
      "{:>4} x {:>4} x {:>5} x {:>3} {:>9.1f} us {:>7.1f} TOP/s {:>9.1f} us {:>9.1f} us {:>6.0f} "
      "GB/s {:>6.1f} s  {}  {}\n",
      shape.key.antennas, shape.key.channels, shape.key.spectra, shape.batches,
      timed[0].median() * 1e6, useful / timed[0].median() / 1e12, timed[1].median() * 1e6,
      timed[2].median() * 1e6, reduced / timed[2].median() / 1e9, seconds, seen,
      tune::to_string(tune::to_values(made.tuning())));
  std::fflush(stdout);
}

void bench_shape(bench_device& on, shape_case shape, const settings& given) {
  shape.key.bits = given.bits;
  for (const auto& tuning : given_tunings(given)) {
    const auto start = std::chrono::steady_clock::now();
    const correlate_template made(on.context, shape.key, tuning);
    const double seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    if (given.batches.empty()) bench_correlate(on, shape, given, made, seconds);
    for (const std::size_t batches : given.batches) {
      bench_correlate(on, {shape.key, batches}, given, made, seconds);
    }
  }
}

void run(bench_device on, const settings& given) {
  bench::search_afresh(on.context, given.limit, given.table);
  fmt::print("{} {}\n{:<26} {:>9} {:>16} {:>15} {:>12} {:>11} {:>8}\n", on.device.info().backend,
             on.device.name(), "antennas channels spectra batches", "time", "useful",
             "copy of input", "reduction", "", "search");
  if (!given.shape.empty()) {
    bench_shape(on, {{given.shape.at(0), given.shape.at(1), given.shape.at(2)}, given.shape.at(3)},
                given);
    return;
  }
  for (std::size_t i = 0; i < cases.size(); ++i) {
    if (!given.shapes.empty() && std::ranges::find(given.shapes, i) == given.shapes.end()) continue;
    bench_shape(on, cases.at(i), given);
  }
}

}  // namespace

int main(int argc, char** argv) {
  tune::serve_if_worker(argc, argv);
  settings given;
  CLI::App app("Measures the correlator; see the head of the source for the method.");
  app.add_option("--rounds", given.rounds, "how often each contender is timed");
  app.add_option("--limit", given.limit, "try so many configurations, chosen at random");
  app.add_option("--device", given.device, "its index, as LIBTUNE_DEVICE counts");
  app.add_option("--shapes", given.shapes, "the indices of shapes, from 0 to 3; all by default");
  app.add_option("--shape", given.shape, "another one: antennas, channels, spectra, batches")
      ->expected(4);
  app.add_option("--batches", given.batches, "instead of the shape's, one or several");
  app.add_flag("--unchecked", given.unchecked, "do not compare visibilities with the host's");
  app.add_option("--bits", given.bits, "of the parts of a voltage: 8 or 4");
  app.add_flag("--table", given.table, "show every configuration of a search");
  app.add_option(
      "--tuning", given.tuning,
      "instead of a search, one or several: instruction (0 to 4), tile_m, tile_n, warps, "
      "steps, stages, resident, slack, prepares and atomics (0 or 1), waves");
  CLI11_PARSE(app, argc, argv);
  if (given.tuning.size() % numbers_of_tuning != 0) {
    fmt::print(stderr, "a tuning has {} numbers\n", numbers_of_tuning);
    return 1;
  }
  ::setenv("LIBTUNE_CACHE", "off", 1);
  run({.device = tune::all_devices().at(given.device)}, given);
}
