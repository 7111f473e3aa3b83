// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// How fast the front of a radio telescope's receiver is: filter banks, down-conversion, unpacking.
//
// Each operation is tuned on each device, without a database, and then works on random samples of
// two polarisations. The filter bank makes spectra of 2^24 samples of each polarisation (of 2^22
// complex ones, which are left of 2^25 after decimation by 8), with 16 taps, whose first 15 rows
// are additional; the down-converter has 2^25 samples of each and 15 additional rows of 2^16
// outputs. On devices other than GPUs all is 1/64 of that. Timed in turn, round by round, by
// markers on the device: the operation, a copy of the operation's least traffic (every sample,
// weight and output once), half of it read, and ten runs in one graph, a tenth of whose time is "in
// a row": markers cost one run 1 to 2 us. Reported are the time, samples per second, the least
// traffic over the time, the time of the copy over that of the operation, and arithmetic: two
// operations for each product of the formula.
//
// fengine is the filter bank of samples of 10 bits, the transforms and the quantisation in one
// graph, on as many samples. The filter begins with the last spectra, so that the transforms find
// the first ones in the device's cache, and the transforms work in place. "apart" has a filter that
// begins with the first spectra, and transforms to another array; "in 4 parts" processes the chunk
// in parts that fit the cache. "sum" is the sum of the three separate operations, timed in the same
// rounds. Samples are noise, weights form a sinc, and gains such that few values are clamped
// ("clamped" is their share).
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fmt/format.h>
#include <iostream>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <span>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "bench/operations/device_time.hpp"
#include "libtune/child/serve_if_worker.hpp"
#include "operations/fft/fft.hpp"
#include "operations/telescope/ddc/ddc.hpp"
#include "operations/telescope/pfb/pfb.hpp"
#include "operations/telescope/quantise/quantise.hpp"
#include "operations/telescope/unpack/unpack.hpp"
#include "operations/workload.hpp"

namespace {

using namespace tune::operations;  // NOLINT: the subject of the program
using bench::contender;
using bench::timed_search;

struct settings {
  int rounds = 50;
  std::size_t limit = 0;
  bool table = false;
  std::vector<std::size_t> devices;
  std::vector<std::string> only;
  std::vector<std::string> tunings;
  std::size_t bits = 10;
  std::vector<std::size_t> unzips{4, 1};
};

struct bench_device {
  tune::device device;
  settings given;
  tune::context context = device.create_context();
  tune::command_queue queue = context.create_command_queue({.profiling = true});

  bool wants(const std::string& name) const {
    return (given.only.empty() && given.tunings.empty()) ||
           std::find(given.only.begin(), given.only.end(), name) != given.only.end();
  }
  /// A size on a GPU, or 1/64 of it.
  std::size_t size(std::size_t on_gpu) const {
    return device.kind() == tune::device_kind::gpu ? on_gpu : on_gpu / 64;
  }
};

/// The report of an operation.
struct subject {
  std::string name;
  double samples = 0;
  double bytes = 0;  // the least traffic
  double flops = 0;
  std::string tuning;
  double search_seconds = 0;
};

template <class Template>
std::string text_of(const Template& made) {
  return tune::to_string(tune::to_values(made.tuning()));
}

/// Fills an array with random bytes, or with floats of about 1, or of about a fraction of that.
/// @param exponent  of the fraction, a power of two
void write_random(bench_device& on, const tune::device_array& array, bool is_float,
                  std::uint32_t exponent = 0) {
  std::mt19937 engine(1);
  std::vector<std::uint32_t> part(1000003);
  for (std::uint32_t& word : part) {
    word = static_cast<std::uint32_t>(engine());
    if (is_float) word = (word & 0x807FFFFFU) | (0x3F800000U - (exponent << 23U));
  }
  tune::operations::write_again(on.queue, array.buffer(), array.layout().bytes(),
                                std::as_bytes(std::span(part)));
}

/// One launch of all commands of a function, if the device supports graphs; else the function.
contender in_one_graph(bench_device& on, const std::function<void()>& enqueue_all) {
  enqueue_all();
  const std::optional<tune::command_graph> graph = on.queue.capture(enqueue_all);
  if (!graph) return {enqueue_all};
  return {[&on, graph] { on.queue.enqueue(*graph); }};
}

void report(bench_device& on, const subject& about, tune::operation& op) {
  const auto bytes = static_cast<std::size_t>(about.bytes / 2);
  const tune::device_array from(on.context, {tune::dtype::uint8, {bytes}});
  const tune::device_array to(on.context, {tune::dtype::uint8, {bytes}});
  constexpr int in_a_row = 10;
  std::vector<contender> contenders{
      {[&] { op.run(); }}, bench::copy_of(on.queue, from, to), in_one_graph(on, [&op] {
        for (int i = 0; i < in_a_row; ++i) op.run();
      })};
  bench::time_in_turn(on.queue, contenders, on.given.rounds);
  const double seconds = contenders[0].median();
  fmt::print("{:<30} {:>9.1f} {:>9.1f} {:>10.1f} {:>8.0f} {:>8.3f} {:>9.2f} {:>8.1f} s  {}\n",
             about.name, seconds * 1e6, contenders[2].median() * 1e6 / in_a_row,
             about.samples / seconds / 1e9, about.bytes / seconds / 1e9,
             bench::ratio(contenders[1], contenders[0]), about.flops / seconds / 1e12,
             about.search_seconds, about.tuning);
  std::fflush(stdout);
}

void bench_pfb(bench_device& on, const pfb_key& key, const std::vector<std::size_t>& channels,
               const std::optional<pfb_tuning>& given = std::nullopt) {
  double searched = 0;
  const pfb_template made =
      timed_search(searched, [&] { return pfb_template(on.context, key, given); });
  for (const std::size_t n : channels) {
    const std::size_t step = key.bits != 0 ? 2 * n : n;
    const std::size_t all = on.size(std::size_t{1} << (key.bits != 0 ? 24 : 22));
    pfb_shape shape{.channels = n, .spectra = std::max<std::size_t>(1, all / step)};
    shape.samples = (shape.spectra + key.taps - 1) * step;
    pfb op = made.instantiate(on.queue, shape);
    op.ensure_all_bound();
    write_random(on, op.buffer("samples"), key.bits == 0);
    write_random(on, op.buffer("weights"), true);
    const double spectra = 2.0 * static_cast<double>(shape.spectra * n * 8);
    const double sample_bytes = key.bits != 0 ? static_cast<double>(key.bits) / 8 : 8;
    const auto weights = static_cast<double>(key.taps * step * 4);
    report(on,
           {fmt::format("pfb, {}, {} channels",
                        key.bits != 0 ? fmt::format("{} bit", key.bits) : "complex", n),
            2.0 * static_cast<double>(shape.spectra * step),
            2.0 * static_cast<double>(shape.samples) * sample_bytes + spectra + weights,
            spectra / 4 * 2 * static_cast<double>(key.taps), text_of(made), searched},
           op);
  }
}

/// Times a filter bank with given tunings, each as the numbers of pfb_tuning separated by commas.
void bench_pfb_tunings(bench_device& on, const std::vector<std::string>& tunings) {
  for (const std::string& text : tunings) {
    std::istringstream numbers(text);
    pfb_tuning given;
    char comma = 0;
    numbers >> given.wgs >> comma >> given.adjacent >> comma >> given.wide;
    if (!numbers) throw tune::argument_error("a tuning is wgs,adjacent,wide, not " + text);
    bench_pfb(on, {.bits = on.given.bits}, {32768}, given);
  }
}

void bench_ddc(bench_device& on, const ddc_key& key) {
  double searched = 0;
  const ddc_template made = timed_search(searched, [&] { return ddc_template(on.context, key); });
  const std::size_t window = std::size_t{15} << 16;  // outputs by which their chunks overlap
  const std::size_t count =
      on.size((std::size_t{1} << 25) + window * key.subsampling) + key.taps - key.subsampling;
  ddc op = made.instantiate(on.queue, 2, count);
  op.ensure_all_bound();
  write_random(on, op.buffer("samples"), false);
  write_random(on, op.buffer("taps"), true);
  op.set_mixer(mixer_step({1, 7}, key.subsampling), 0);
  const auto outputs = static_cast<double>(2 * op.outputs());
  const auto samples = static_cast<double>(2 * count);
  report(on,
         {fmt::format("ddc, {} bit, {} taps, 1:{}", key.bits, key.taps, key.subsampling), samples,
          samples * static_cast<double>(key.bits) / 8 + outputs * 8,
          outputs * 4 * static_cast<double>(key.taps), text_of(made), searched},
         op);
}

void bench_unpack(bench_device& on, const unpack_key& key) {
  double searched = 0;
  const unpack_template made =
      timed_search(searched, [&] { return unpack_template(on.context, key); });
  const std::size_t count = on.size(std::size_t{1} << 25);
  unpack op = made.instantiate(on.queue, 2, count);
  op.ensure_all_bound();
  write_random(on, op.buffer("samples"), false);
  const auto samples = static_cast<double>(2 * count);
  const double bytes =
      static_cast<double>(key.bits) / 8 + (key.type == tune::dtype::float32 ? 4 : 2);
  report(on,
         {fmt::format("unpack, {} bit to {}", key.bits, tune::dtype_name(key.type)), samples,
          samples * bytes, 0, text_of(made), searched},
         op);
}

/// A part of a chunk on its way through an F-engine.
struct fengine_part {
  pfb filter;
  fft transform;
  quantise last;
  void run() {
    filter.run();
    transform.run();
    last.run();
  }
};

/// The order of an F-engine's work, which determines the cache hits of its operations.
struct fengine_order {
  bool in_place = true;           // the transform writes over the filtered samples
  bool filters_backwards = true;  // the spectra that are transformed first are filtered last
};

/// The templates of an F-engine for any number of channels.
struct fengine {
  fengine(bench_device& its_device, std::size_t its_unzip)
      : on(its_device),
        unzip(its_unzip),
        filter(on.context, {.bits = 10, .unzip = unzip}),
        last(on.context, {.unzip = unzip}) {}

  /// Parts that together are a chunk. They share the memory of the intermediate spectra.
  std::vector<fengine_part> make(std::size_t channels, std::size_t parts,
                                 const fengine_order& order = {}) {
    const std::size_t all = on.size(std::size_t{1} << 24) / (2 * channels);
    const std::size_t spectra = std::max<std::size_t>(32, all / parts);
    const pfb_shape shape{.channels = channels,
                          .samples = (spectra + filter.key().taps - 1) * 2 * channels,
                          .spectra = spectra,
                          .last_first = order.filters_backwards};
    const std::size_t heap = std::min(spectra, (std::size_t{1} << 20) / channels);
    const fft_template transform(on.context,
                                 {.size = {shape.polarisations, spectra, unzip, channels / unzip}},
                                 transforms[channels]);
    transforms[channels] = transform.tuning();
    std::vector<fengine_part> made;
    for (std::size_t i = 0; i < parts; ++i) {
      made.push_back(
          {filter.instantiate(on.queue, shape), transform.instantiate(on.queue),
           last.instantiate(on.queue,
                            {.channels = channels, .spectra = spectra, .spectra_per_heap = heap})});
      fengine_part& part = made.back();
      if (i == 0) {
        part.filter.ensure_all_bound();
        part.transform.bind("src", part.filter.buffer("spectra"));
        if (order.in_place) part.transform.bind("dest", part.filter.buffer("spectra"));
      } else {
        for (const char* name : {"spectra", "weights", "total_power"}) {
          part.filter.bind(name, made[0].filter.buffer(name));
        }
        part.filter.ensure_all_bound();
        for (const auto& [name, slot] : made[0].transform.slots()) {
          part.transform.bind(name, made[0].transform.buffer(name));
        }
      }
      part.transform.ensure_all_bound();
      part.last.bind("spectra", part.transform.buffer("dest"));
      part.last.ensure_all_bound();
      write_random(on, part.filter.buffer("samples"), false);
      // Real parts of about 28, so that few values are clamped, as in a receiver.
      write_random(on, part.last.buffer("gains"), true, 4);
      part.last.buffer("delay").zero(on.queue);
      part.last.buffer("phase").zero(on.queue);
    }
    const std::vector<float> weights = pfb_weights(filter.key().taps, 2 * channels);
    made[0].filter.buffer("weights").set(
        on.queue, tune::host_array<float>::wrap_const(weights, {weights.size()}));
    made[0].filter.buffer("total_power").zero(on.queue);
    return made;
  }

  /// The share of the values that were clamped.
  double clamped(quantise& op) const {
    const auto counts = op.buffer("saturated").get<std::uint32_t>(on.queue);
    double sum = 0;
    for (std::size_t heap = 0; heap < counts.size()[0]; ++heap) {
      sum += static_cast<double>(counts(heap, 0)) + counts(heap, 1);
    }
    return sum / static_cast<double>(on.size(std::size_t{1} << 24));
  }

  bench_device& on;
  std::size_t unzip;
  pfb_template filter;
  quantise_template last;
  std::map<std::size_t, std::optional<fft_tuning>> transforms{};  // by channels
};

void bench_fengine(bench_device& on, std::size_t unzip) {
  double searched = 0;
  fengine engine = timed_search(searched, [&] { return fengine(on, unzip); });
  fmt::print("F-engine, unzip {}: filter bank {}, quantise {}, tuned in {:.1f} s\n{:<30} {:>9}",
             unzip, text_of(engine.filter), text_of(engine.last), searched, "", "us");
  for (const char* head : {"in 4 parts", "apart", "filter", "fft", "quantise", "sum", "clamped"}) {
    fmt::print(" {:>10}", head);
  }
  fmt::print("\n");
  for (const std::size_t channels : {1024, 4096, 8192, 32768}) {
    std::vector<fengine_part> whole = engine.make(channels, 1);
    std::vector<fengine_part> four = engine.make(channels, 4);
    std::vector<fengine_part> apart =
        engine.make(channels, 1, {.in_place = false, .filters_backwards = false});
    const auto all_of = [&](std::vector<fengine_part>& parts) {
      return in_one_graph(on, [&parts] {
        for (fengine_part& part : parts) part.run();
      });
    };
    std::vector<contender> contenders{all_of(whole), all_of(four), all_of(apart)};
    contenders.push_back({[&] { apart[0].filter.run(); }});
    contenders.push_back({[&] { apart[0].transform.run(); }});
    contenders.push_back({[&] { apart[0].last.run(); }});
    bench::time_in_turn(on.queue, contenders, on.given.rounds);
    fmt::print("{:<30} {:>9.1f}", fmt::format("F-engine, {} channels", channels),
               contenders[0].median() * 1e6);
    double sum = 0;
    for (std::size_t i = 1; i < contenders.size(); ++i) {
      if (i >= contenders.size() - 3) sum += contenders[i].median();
      fmt::print(" {:>10.1f}", contenders[i].median() * 1e6);
    }
    fmt::print(" {:>10.1f} {:>10.1e}\n", sum * 1e6, engine.clamped(apart[0].last));
    std::fflush(stdout);
  }
}

void run(bench_device on) {
  bench::search_afresh(on.context, on.given.limit, on.given.table);
  fmt::print("{} {}\n{:<30} {:>9} {:>9} {:>10} {:>8} {:>8} {:>9} {:>10}  {}\n",
             on.device.info().backend, on.device.name(), "", "us", "in a row", "Gsample/s", "GB/s",
             "of copy", "TFLOP/s", "search", "tuning");
  bench_pfb_tunings(on, on.given.tunings);
  if (on.wants("pfb")) {
    bench_pfb(on, {.bits = 8}, {1024, 4096, 8192, 32768});
    bench_pfb(on, {.bits = 10}, {1024, 4096, 8192, 32768});
  }
  if (on.wants("pfb_whole")) bench_pfb(on, {.bits = 10, .unzip = 1}, {32768});
  if (on.wants("pfb_complex")) bench_pfb(on, {.bits = 0}, {32768, 65536});
  if (on.wants("unpack")) {
    bench_unpack(on, {.bits = 10, .type = tune::dtype::float32});
    bench_unpack(on, {.bits = 10, .type = tune::dtype::int16});
    bench_unpack(on, {.bits = 8, .type = tune::dtype::float32});
  }
  if (on.wants("fengine")) {
    for (const std::size_t unzip : on.given.unzips) bench_fengine(on, unzip);
  }
  if (on.wants("ddc")) {
    bench_ddc(on, {.taps = 128, .subsampling = 8, .bits = 10});
    bench_ddc(on, {.taps = 128, .subsampling = 8, .bits = 8});
    bench_ddc(on, {.taps = 256, .subsampling = 16, .bits = 10});
  }
}

}  // namespace

int main(int argc, char** argv) {
  tune::serve_if_worker(argc, argv);
  settings given;
  CLI::App app("Measures the front of a receiver; see the head of the source for the method.");
  app.add_option("--rounds", given.rounds, "how often each operation is timed");
  app.add_option("--limit", given.limit, "try so many configurations, chosen at random");
  app.add_option("--device", given.devices, "indices, as LIBTUNE_DEVICE counts; default: all");
  app.add_option("--only", given.only, "pfb, pfb_whole, pfb_complex, fengine, ddc or unpack");
  app.add_option("--pfb", given.tunings,
                 "time pfb with such tunings in place of searching: wgs,adjacent,wide");
  app.add_option("--bits", given.bits, "of the samples of --pfb; 0: complex ones");
  app.add_option("--unzip", given.unzips, "transforms of a spectrum of fengine: 1, 2 or 4");
  app.add_flag("--table", given.table, "show every configuration of each search");
  CLI11_PARSE(app, argc, argv);
  ::setenv("LIBTUNE_CACHE", "off", 1);
  for (const tune::device& device : bench::chosen_devices(given.devices)) {
    run(bench_device{.device = device, .given = given});
  }
}
