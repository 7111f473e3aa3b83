// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Question: what do the transforms of libtune::operations cost compared with a bare plan of their
// library: cuFFT on CUDA, VkFFT on OpenCL?
//
// Each transform is tuned on each device, without a database, then works on arrays of 256 MiB (GPU)
// or 4 MiB (others) of different numbers. Timed in turn, round by round, by markers on the device:
// the tuned operation, the same with the test default, a copy of the array on the device, and, if
// built with LIBTUNE_BENCH_PEERS, the bare plan with the library's own parameters. Reported are the
// bytes of both arrays over the median time, and medians of the ratios of a round: the other's time
// over ours, so that above 1 is better everywhere; "of copy" is bandwidth over the copy's.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fmt/format.h>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "bench/operations/device_time.hpp"
#include "bench/operations/fft_peers.hpp"
#include "libtune/child/serve_if_worker.hpp"
#include "operations/fft/fft.hpp"
#include "operations/fft/reference.hpp"
#include "operations/workload.hpp"

namespace {

using bench::contender;
using peers::fft_case;
using tune::operations::fft;
using tune::operations::fft_description;
using tune::operations::fft_direction;
using tune::operations::fft_kind;
using tune::operations::fft_template;
using tune::operations::fft_tuning;

struct settings {
  std::size_t mebibytes = 256;
  int rounds = 20;
  std::size_t limit = 0;
  std::vector<std::size_t> devices;
  std::string only;
};

struct bench_device {
  tune::device device;
  tune::context context = device.create_context();
  tune::command_queue queue = context.create_command_queue({.profiling = true});
};

struct named_case {
  std::string name;
  fft_case about;
};

std::vector<named_case> cases() {
  using kind = fft_kind;
  return {{"c2c 64", {.kind = kind::c2c, .size = {64}}},
          {"c2c 1024", {.kind = kind::c2c, .size = {1024}}},
          {"c2c 8192 inverse", {.kind = kind::c2c, .inverse = true, .size = {8192}}},
          {"c2c 65536", {.kind = kind::c2c, .size = {65536}}},
          {"c2c 1048576", {.kind = kind::c2c, .size = {1048576}}},
          {"c2c 1000", {.kind = kind::c2c, .size = {1000}}},
          {"c2c 1009", {.kind = kind::c2c, .size = {1009}}},
          {"c2c 1024 float64", {.kind = kind::c2c, .full = true, .size = {1024}}},
          {"r2c 8192", {.kind = kind::r2c, .size = {8192}}},
          {"c2r 8192", {.kind = kind::c2r, .size = {8192}}},
          {"r2c 65536", {.kind = kind::r2c, .size = {65536}}},
          {"c2c 1024x1024", {.kind = kind::c2c, .axes = 2, .size = {1024, 1024}}},
          {"r2c 1024x1024", {.kind = kind::r2c, .axes = 2, .size = {1024, 1024}}},
          {"c2c 128x128x128", {.kind = kind::c2c, .axes = 3, .size = {128, 128, 128}}}};
}

std::size_t elements_of(const fft_case& about) {
  return about.size[0] * (about.axes > 1 ? about.size[1] : 1) *
         (about.axes > 2 ? about.size[2] : 1);
}

fft_description describe(const fft_case& about) {
  std::vector<std::size_t> extents{about.batch};
  for (std::size_t axis = 0; axis < about.axes; ++axis) extents.push_back(about.size.at(axis));
  const tune::dtype real = about.full ? tune::dtype::float64 : tune::dtype::float32;
  const tune::dtype complex = about.full ? tune::dtype::complex128 : tune::dtype::complex64;
  const bool inverse = about.inverse || about.kind == fft_kind::c2r;
  return {.size = tune::shape(std::span<const std::size_t>(extents)),
          .axes = about.axes,
          .src = about.kind == fft_kind::r2c ? real : complex,
          .dest = about.kind == fft_kind::c2r ? real : complex,
          .direction = inverse ? fft_direction::inverse : fft_direction::forward};
}

/// Different numbers from -1 to 1, different also if they are read as doubles.
void write_numbers(tune::command_queue& queue, const tune::buffer& buffer) {
  std::vector<float> numbers(std::min<std::size_t>(buffer.size_bytes() / 4, 1 << 22));
  std::uint32_t state = 1;
  for (float& number : numbers) {
    number = static_cast<float>(tune::operations::next_number(state) >> 8) / float{1 << 23} - 1.0F;
  }
  tune::operations::write_again(queue, buffer, buffer.size_bytes(),
                                std::as_bytes(std::span(numbers)));
}

std::function<void()> peer([[maybe_unused]] const bench_device& on,
                           [[maybe_unused]] const fft_case& about,
                           [[maybe_unused]] const tune::device_array& src,
                           [[maybe_unused]] const tune::device_array& dest) {
#ifdef LIBTUNE_BENCH_PEERS
  if (on.device.info().backend == "CUDA") {
    return peers::cufft(on.queue, about, src.buffer(), dest.buffer());
  }
#endif
#ifdef LIBTUNE_BENCH_VKFFT
  if (on.device.info().backend == "OpenCL") {
    return peers::vkfft(on.queue, about, src.buffer(), dest.buffer());
  }
#endif
  return {};
}

void run_case(bench_device& on, const named_case& item, std::size_t bytes, int rounds) {
  fft_case about = item.about;
  const std::size_t each = elements_of(about) * (about.full ? 16 : 8);
  about.batch = std::max<std::size_t>(bytes / each, 1);
  const fft_description description = describe(about);
  const auto start = std::chrono::steady_clock::now();
  const fft_template tuned(on.context, description);
  const double searched =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  fft ours = tuned.instantiate(on.queue);
  fft plain = fft_template(on.context, description, fft_tuning{}).instantiate(on.queue);
  ours.ensure_all_bound();
  const tune::device_array& src = ours.buffer("src");
  const tune::device_array& dest = ours.buffer("dest");
  plain.bind("src", src);
  plain.bind("dest", dest);
  plain.ensure_all_bound();
  write_numbers(on.queue, src.buffer());
  const tune::device_array copied(on.context, src.layout());
  std::vector<contender> timed{
      {[&] { ours.run(); }}, {[&] { plain.run(); }}, {[&] { copied.copy_from(on.queue, src); }}};
  if (auto bare = peer(on, about, src, dest)) timed.push_back({std::move(bare)});
  bench::time_in_turn(on.queue, timed, rounds);
  const auto moved = static_cast<double>(src.layout().bytes() + dest.layout().bytes());
  const double copied_bytes = 2.0 * static_cast<double>(src.layout().bytes());
  fmt::print("{:<18} {:>8} {:>8.3f} {:>7.0f} {:>8.3f} {:>8.3f} {:>8} {:>7.1f} s  {}\n", item.name,
             about.batch, 1e3 * timed[0].median(), moved / timed[0].median() / 1e9,
             bench::ratio(timed[2], timed[0]) * moved / copied_bytes,
             bench::ratio(timed[1], timed[0]),
             timed.size() > 3 ? fmt::format("{:.3f}", bench::ratio(timed[3], timed[0])) : "",
             searched, tune::to_string(tune::to_values(tuned.tuning())));
  std::fflush(stdout);
}

void run(bench_device on, const settings& given) {
  const std::string absence = tune::operations::fft_absence(on.device);
  if (!absence.empty()) {
    fmt::print("{} {}: {}\n", on.device.info().backend, on.device.name(), absence);
    return;
  }
  bench::search_afresh(on.context, given.limit);
  const bool is_gpu = on.device.kind() == tune::device_kind::gpu;
  const std::size_t bytes = (is_gpu ? given.mebibytes : 4) << 20;
  fmt::print("{} {}, {} MiB\n{:<18} {:>8} {:>8} {:>7} {:>8} {:>8} {:>8} {:>9}  tuning\n",
             on.device.info().backend, on.device.name(), bytes >> 20, "", "batch", "ms", "GB/s",
             "of copy", "default", "bare", "search");
  for (const named_case& item : cases()) {
    if (item.name.find(given.only) == std::string::npos) continue;
    try {
      run_case(on, item, bytes, given.rounds);
    } catch (const tune::error& failure) {
      fmt::print("{:<18} {}\n", item.name, failure.what());
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  tune::serve_if_worker(argc, argv);
  settings given;
  CLI::App app("Measures the transforms; see the head of the source for the method.");
  app.add_option("--mebibytes", given.mebibytes, "the size of the arrays on a GPU");
  app.add_option("--rounds", given.rounds, "how often each contender is timed");
  app.add_option("--limit", given.limit, "try so many configurations, chosen at random");
  app.add_option("--device", given.devices, "indices, as LIBTUNE_DEVICE counts; default: all");
  app.add_option("--only", given.only, "cases whose names contain this");
  CLI11_PARSE(app, argc, argv);
  ::setenv("LIBTUNE_CACHE", "off", 1);
  for (const tune::device& device : bench::chosen_devices(given.devices)) {
    run({.device = device}, given);
  }
}
