// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Question: how close do the tuned built-in operations come to the bandwidth of the device, and to
// NVIDIA's libraries?
//
// Each operation is tuned on each device, without a database, over its whole space; then it works
// on arrays of 1 GiB (GPU) or 64 MiB (others), filled with different numbers. Timed in turn, round
// by round, by markers on the device: the tuned operation, the same with the test default, a copy
// of the array (for fill: a fill by the driver), and, if built with LIBTUNE_BENCH_PEERS, on CUDA,
// cuBLAS geam for transpose and CUB for sums. Reported are the bytes of the least traffic (each
// input once, each output once) over the median time, and medians of the ratios of a round: "of
// copy" is bandwidth over the copy's bandwidth, the others are the other's time over ours, so that
// above 1 is better everywhere.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <complex>
#include <cstdio>
#include <cstdlib>
#include <fmt/format.h>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "bench/operations/device_time.hpp"
#include "libtune/child/serve_if_worker.hpp"
#include "libtune/device/cuda/interop.hpp"
#include "operations/fill/fill.hpp"
#include "operations/hreduce/hreduce.hpp"
#include "operations/transpose/transpose.hpp"
#include "operations/workload.hpp"
#ifdef LIBTUNE_BENCH_PEERS
#include "bench/operations/peers.hpp"
#endif

namespace {

using namespace tune::operations;  // NOLINT: the subject of the program
using bench::contender;
using bench::timed_search;

struct settings {
  std::size_t gibibytes = 1;
  int rounds = 20;
  std::size_t limit = 0;
  std::vector<std::size_t> devices;
  std::vector<std::string> only;
};

struct bench_device {
  tune::device device;
  tune::context context = device.create_context();
  tune::command_queue queue = context.create_command_queue({.profiling = true});
  std::size_t bytes = 0;
  int rounds = 0;
};

/// A line of the report.
struct figures {
  std::string name;
  double moved_bytes = 0;
  double copied_bytes = 0;
  std::string tuning;
  double search_seconds = 0;
};

// contenders: tuned, test default, copy or driver's fill, peers.
void report(const figures& about, const std::vector<contender>& timed) {
  const contender& ours = timed[0];
  const double bandwidth = about.moved_bytes / ours.median();
  const double of_copy = bench::ratio(timed[2], ours) * about.moved_bytes / about.copied_bytes;
  fmt::print("{:<22} {:>8.0f} {:>8.3f} {:>9.3f}", about.name, bandwidth / 1e9, of_copy,
             bench::ratio(timed[1], ours));
  for (std::size_t i = 3; i < timed.size(); ++i) {
    fmt::print(" {:>7.3f}", bench::ratio(timed[i], ours));
  }
  fmt::print("{:>{}}{:>7.1f} s  {}\n", "", 8 * (5 - timed.size()), about.search_seconds,
             about.tuning);
  std::fflush(stdout);
}

/// Different numbers, so that the memory cannot compress them.
void write_numbers(bench_device& on, const tune::buffer& buffer, std::size_t bytes) {
  std::vector<std::uint32_t> numbers(std::min<std::size_t>(bytes / 4, 1 << 24));
  std::uint32_t state = 1;
  for (std::uint32_t& number : numbers) {
    number = 0x3F000000U + (tune::operations::next_number(state) >> 9);  // floats from 0.5 on
  }
  tune::operations::write_again(on.queue, buffer, bytes, std::as_bytes(std::span(numbers)));
}

template <class Tuning>
std::string text_of(const Tuning& tuning) {
  return tune::to_string(tune::to_values(tuning));
}

void bench_fill(bench_device& on) {
  double searched = 0;
  const auto tuned =
      timed_search(searched, [&] { return fill_template(on.context, tune::dtype::float32); });
  const fill_template plain(on.context, tune::dtype::float32, fill_tuning{});
  const tune::shape size{on.bytes / 4};
  const tune::device_array data(on.context, {tune::dtype::float32, size});
  fill ours = tuned.instantiate(on.queue, size);
  fill standard = plain.instantiate(on.queue, size);
  for (fill* op : {&ours, &standard}) {
    op->bind("data", data);
    op->set_value(1.25F);
  }
  const float value = 1.25F;
  std::vector<contender> timed{{[&] { ours.run(); }}, {[&] { standard.run(); }}, {[&] {
                                 on.queue.fill(data.buffer(), on.bytes,
                                               std::as_bytes(std::span(&value, 1)));
                               }}};
  bench::time_in_turn(on.queue, timed, on.rounds);
  const auto bytes = static_cast<double>(on.bytes);
  report({"fill float32", bytes, bytes, text_of(tuned.tuning()), searched}, timed);
}

template <class T>
void bench_transpose(bench_device& on) {
  const auto type = tune::element_type::of<T>();
  double searched = 0;
  const auto tuned = timed_search(searched, [&] { return transpose_template(on.context, type); });
  const transpose_template plain(on.context, type, transpose_tuning{});
  const std::size_t columns = 16384;
  const std::size_t rows = on.bytes / sizeof(T) / columns;
  const tune::device_array src(on.context, {type, {rows, columns}});
  const tune::device_array dest(on.context, {type, {columns, rows}});
  const tune::device_array copied(on.context, {type, {rows, columns}});
  write_numbers(on, src.buffer(), on.bytes);
  transpose ours = tuned.instantiate(on.queue, rows, columns);
  transpose standard = plain.instantiate(on.queue, rows, columns);
  for (transpose* op : {&ours, &standard}) {
    op->bind("src", src);
    op->bind("dest", dest);
  }
  std::vector<contender> timed{
      {[&] { ours.run(); }}, {[&] { standard.run(); }}, bench::copy_of(on.queue, src, copied)};
#ifdef LIBTUNE_BENCH_PEERS
  if (on.device.info().backend == "CUDA" && (sizeof(T) == 4 || sizeof(T) == 8)) {
    timed.push_back({[&] {
      peers::transpose(tune::cuda::native_handle(on.queue), tune::cuda::native_handle(src.buffer()),
                       tune::cuda::native_handle(dest.buffer()), rows, columns, sizeof(T));
    }});
  }
#endif
  bench::time_in_turn(on.queue, timed, on.rounds);
  const auto bytes = 2.0 * static_cast<double>(on.bytes);
  report({"transpose " + std::string(type.name()), bytes, bytes, text_of(tuned.tuning()), searched},
         timed);
}

void bench_hreduce(bench_device& on, std::size_t rows) {
  const std::size_t columns = on.bytes / 4 / rows;
  const reduction sum = sum_of(tune::dtype::float32);
  double searched = 0;
  const auto tuned =
      timed_search(searched, [&] { return hreduce_template(on.context, sum, columns); });
  const hreduce_template plain(on.context, sum, columns, hreduce_tuning{});
  const tune::device_array src(on.context, {tune::dtype::float32, {rows, columns}});
  const tune::device_array dest(on.context, {tune::dtype::float32, {rows}});
  const tune::device_array copied(on.context, {tune::dtype::float32, {rows, columns}});
  write_numbers(on, src.buffer(), on.bytes);
  hreduce ours = tuned.instantiate(on.queue, rows, columns);
  hreduce standard = plain.instantiate(on.queue, rows, columns);
  for (hreduce* op : {&ours, &standard}) {
    op->bind("src", src);
    op->bind("dest", dest);
  }
  std::vector<contender> timed{
      {[&] { ours.run(); }}, {[&] { standard.run(); }}, bench::copy_of(on.queue, src, copied)};
#ifdef LIBTUNE_BENCH_PEERS
  if (on.device.info().backend == "CUDA") {
    void* const stream = tune::cuda::native_handle(on.queue);
    const auto from = tune::cuda::native_handle(src.buffer());
    const auto to = tune::cuda::native_handle(dest.buffer());
    timed.push_back({[=] { peers::sum_rows(stream, from, to, rows, columns); }});
    timed.push_back({[=] { peers::sum_all(stream, from, to, rows * columns); }});
  }
#endif
  bench::time_in_turn(on.queue, timed, on.rounds);
  const auto bytes = static_cast<double>(on.bytes);
  report({fmt::format("hreduce sum {} rows", rows), bytes, 2 * bytes, text_of(tuned.tuning()),
          searched},
         timed);
}

void run(bench_device on, const settings& given) {
  bench::search_afresh(on.context, given.limit);
  const auto wanted = [&](const char* name) {
    return given.only.empty() ||
           std::find(given.only.begin(), given.only.end(), name) != given.only.end();
  };
  fmt::print("{} {}, {} MiB\n{:<22} {:>8} {:>8} {:>9} {:>15}{:>10}  {}\n", on.device.info().backend,
             on.device.name(), on.bytes >> 20, "", "GB/s", "of copy", "default", "peers", "search",
             "tuning");
  if (wanted("fill")) bench_fill(on);
  if (wanted("transpose")) {
    bench_transpose<std::uint16_t>(on);
    bench_transpose<float>(on);
    bench_transpose<std::complex<float>>(on);
    bench_transpose<std::uint8_t>(on);
  }
  if (wanted("hreduce")) {
    for (const std::size_t rows : {65536, 16384, 512, 1}) bench_hreduce(on, rows);
  }
}

}  // namespace

int main(int argc, char** argv) {
  tune::serve_if_worker(argc, argv);
  settings given;
  CLI::App app("Measures the built-in operations; see the head of the source for the method.");
  app.add_option("--gibibytes", given.gibibytes, "the size of the arrays on a GPU");
  app.add_option("--rounds", given.rounds, "how often each contender is timed");
  app.add_option("--limit", given.limit, "try so many configurations, chosen at random");
  app.add_option("--device", given.devices, "indices, as LIBTUNE_DEVICE counts; default: all");
  app.add_option("--only", given.only, "fill, transpose or hreduce");
  CLI11_PARSE(app, argc, argv);
  ::setenv("LIBTUNE_CACHE", "off", 1);
  for (const tune::device& device : bench::chosen_devices(given.devices)) {
    const bool is_gpu = device.kind() == tune::device_kind::gpu;
    bench_device on{.device = device};
    on.bytes = is_gpu ? given.gibibytes << 30 : std::size_t{64} << 20;
    on.rounds = given.rounds;
    run(std::move(on), given);
  }
}
