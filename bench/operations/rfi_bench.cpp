// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Question: how fast is one-dimensional RFI flagging, and each of its stages?
//
// The shapes are from katsdpsigproc's benchmark: kat7, 8192 channels x 112 baselines, and big,
// 10240 x 8320; on devices other than GPUs the second has 208 baselines. The window has 13 channels
// and the threshold is 11 standard deviations. Each stage is tuned on each device, without a
// database; then it works on visibilities of normal noise, a hundredth of them strong, or on their
// deviations; the flagger also without strong ones, and with a tenth. Timed in turn, round by
// round, by markers on the device: the stage, and a copy of the stage's least traffic (each input
// read once, each output written once), half of it read. Reported are visibilities per second, and
// the time of the copy over the time of the stage.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <complex>
#include <cstdio>
#include <cstdlib>
#include <fmt/format.h>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "bench/operations/device_time.hpp"
#include "libtune/child/serve_if_worker.hpp"
#include "operations/telescope/rfi/flagger.hpp"
#include "operations/workload.hpp"

namespace {

using namespace tune::operations::rfi;  // NOLINT: the subject of the program
using bench::contender;
using bench::timed_search;

constexpr double usually_strong = 0.01;  // a part of the visibilities

struct settings {
  int rounds = 20;
  std::size_t limit = 0;
  std::vector<std::size_t> devices;
  std::vector<std::string> only;
};

struct sky {
  std::string name;
  std::size_t channels;
  std::size_t baselines;

  double samples() const { return static_cast<double>(channels * baselines); }
};

struct bench_device {
  tune::device device;
  settings given;
  tune::context context = device.create_context();
  tune::command_queue queue = context.create_command_queue({.profiling = true});

  bool wants(const std::string& name) const {
    return given.only.empty() ||
           std::find(given.only.begin(), given.only.end(), name) != given.only.end();
  }
};

/// A stage in the report.
struct stage {
  std::string name;
  double bytes = 0;  // bytes read and written for a sample
  std::string tuning;
  double search_seconds = 0;
};

template <class Template>
std::string text_of(const Template& made) {
  return tune::to_string(tune::to_values(made.tuning()));
}

/// Complex normal noise, a part of it 60 larger; the pattern repeats every few channels.
std::vector<std::complex<float>> visibilities(std::size_t count, double strong) {
  std::mt19937 engine(1);
  std::normal_distribution<float> normal;
  std::uniform_real_distribution<double> uniform;
  std::vector<std::complex<float>> made(count);
  for (auto& sample : made) {
    const float more = uniform(engine) < strong ? 60.0F : 0.0F;
    sample = {normal(engine) + more, normal(engine)};
  }
  return made;
}

template <class T>
void write_again(bench_device& on, const tune::device_array& array, const std::vector<T>& part) {
  tune::operations::write_again(on.queue, array.buffer(), array.layout().bytes(),
                                std::as_bytes(std::span(part)));
}

void write_visibilities(bench_device& on, const tune::device_array& vis, double strong) {
  write_again(on, vis, visibilities(1000003, strong));
}

void report(bench_device& on, const sky& seen, const stage& about, tune::operation& op) {
  const auto bytes = static_cast<std::size_t>(about.bytes * seen.samples() / 2);
  const tune::device_array from(on.context, {tune::dtype::uint8, {bytes}});
  const tune::device_array to(on.context, {tune::dtype::uint8, {bytes}});
  std::vector<contender> contenders{{[&] { op.run(); }}, {[&] { to.copy_from(on.queue, from); }}};
  bench::time_in_turn(on.queue, contenders, on.given.rounds);
  const double seconds = contenders[0].median();
  fmt::print("{:<5} {:<42} {:>9.3f} {:>10.2f} {:>8.3f} {:>8.1f} s  {}\n", seen.name, about.name,
             seconds * 1e3, seen.samples() / seconds / 1e9,
             bench::ratio(contenders[1], contenders[0]), about.search_seconds, about.tuning);
  std::fflush(stdout);
}

void bench_background(bench_device& on, const std::vector<sky>& skies, const background_key& key,
                      const std::string& name) {
  double searched = 0;
  const auto made =
      timed_search(searched, [&] { return background_median_filter_template(on.context, key); });
  for (const sky& seen : skies) {
    auto op = made.instantiate(on.queue, seen.channels, seen.baselines);
    op.ensure_all_bound();
    write_visibilities(on, op.buffer("vis"), usually_strong);
    if (key.flag_use != flag_use::no_flags) op.buffer("flags").zero(on.queue);
    const double flag_bytes = key.flag_use == flag_use::full_flags ? 1 : 0;
    report(on, seen, {name, 12 + flag_bytes, text_of(made), searched}, op);
  }
}

/// Deviations of these visibilities from their background, and the noise that makes them about
/// normal.
void write_deviations(bench_device& on, tune::operation& op) {
  constexpr std::size_t channels = 200003;
  const auto vis = visibilities(channels, usually_strong);
  tune::host_array<std::complex<float>> spectrum({channels, 1});
  std::copy(vis.begin(), vis.end(), spectrum.data());
  const auto deviations = background_median_filter_host(13)(spectrum);
  write_again(on, op.buffer("deviations"),
              std::vector<float>(deviations.data(), deviations.data() + channels));
  op.buffer("noise").fill(on.queue, 1.0F);
}

void bench_noise(bench_device& on, const std::vector<sky>& skies, data_order order,
                 const std::string& name) {
  for (const sky& seen : skies) {
    double searched = 0;
    const auto made = timed_search(
        searched, [&] { return noise_estimate_template(on.context, order, seen.channels); });
    auto op = made.instantiate(on.queue, seen.channels, seen.baselines);
    op.ensure_all_bound();
    write_deviations(on, op);
    report(on, seen, {name, 4, text_of(made), searched}, op);
  }
}

template <class Template, class Key>
void bench_threshold(bench_device& on, const std::vector<sky>& skies, const Key& key,
                     const std::string& name) {
  double searched = 0;
  const auto made = timed_search(searched, [&] { return Template(on.context, key); });
  for (const sky& seen : skies) {
    auto op = made.instantiate(on.queue, seen.channels, seen.baselines);
    op.ensure_all_bound();
    write_deviations(on, op);
    report(on, seen, {name, 5, text_of(made), searched}, op);
  }
}

void bench_flagger(bench_device& on, const std::vector<sky>& skies, const flagger_template& made,
                   double searched, const std::string& name) {
  for (const sky& seen : skies) {
    auto op = made.instantiate(on.queue, seen.channels, seen.baselines);
    op.ensure_all_bound();
    for (const int percent : {0, 1, 10}) {
      write_visibilities(on, op.buffer("vis"), percent / 100.0);
      report(on, seen, {fmt::format("{}, {} % strong", name, percent), 9, "", searched}, op);
    }
  }
}

void run(bench_device on) {
  bench::search_afresh(on.context, on.given.limit);
  const bool is_gpu = on.device.kind() == tune::device_kind::gpu;
  const std::vector<sky> skies{{"kat7", 8192, 112},
                               {"big", 10240, is_gpu ? std::size_t{8320} : std::size_t{208}}};
  fmt::print("{} {}\n{:<5} {:<42} {:>9} {:>10} {:>8} {:>10}  {}\n", on.device.info().backend,
             on.device.name(), "", "", "ms", "Gvis/s", "of copy", "search", "tuning");
  if (on.wants("background")) {
    bench_background(on, skies, {}, "background");
    bench_background(on, skies, {.order = data_order::baseline_major}, "background, transposed");
    bench_background(on, skies, {.flag_use = flag_use::full_flags}, "background, flags");
  }
  constexpr data_order turned = data_order::baseline_major;
  if (on.wants("noise")) {
    bench_noise(on, skies, turned, "noise, transposed");
    bench_noise(on, skies, data_order::channel_major, "noise");
  }
  if (on.wants("threshold")) {
    using simple = threshold_simple_template;
    using sum = threshold_sum_template;
    bench_threshold<simple>(on, skies, threshold_simple_key{}, "threshold simple");
    bench_threshold<simple>(on, skies, threshold_simple_key{turned},
                            "threshold simple, transposed");
    bench_threshold<sum>(on, skies, threshold_sum_key{.order = turned}, "threshold sum");
    bench_threshold<sum>(on, skies, threshold_sum_key{.order = data_order::channel_major},
                         "threshold sum, flags turned");
  }
  if (on.wants("flagger")) {
    double searched = 0;
    const flagger_template fused =
        timed_search(searched, [&] { return make_flagger(on.context, {.channels = 10240}); });
    bench_flagger(on, skies, fused, searched, "flagger");
    const flagger_template parts = timed_search(searched, [&] {
      return flagger_template(
          on.context, {on.context, {}}, {on.context, turned, 10240},
          threshold_sum_template(on.context, threshold_sum_key{.order = turned}));
    });
    bench_flagger(on, skies, parts, searched, "flagger with transpositions");
  }
}

}  // namespace

int main(int argc, char** argv) {
  tune::serve_if_worker(argc, argv);
  settings given;
  CLI::App app("Measures one-dimensional RFI flagging; see the head of the source for the method.");
  app.add_option("--rounds", given.rounds, "how often each stage is timed");
  app.add_option("--limit", given.limit, "try so many configurations, chosen at random");
  app.add_option("--device", given.devices, "indices, as LIBTUNE_DEVICE counts; default: all");
  app.add_option("--only", given.only, "background, noise, threshold or flagger");
  CLI11_PARSE(app, argc, argv);
  ::setenv("LIBTUNE_CACHE", "off", 1);
  for (const tune::device& device : bench::chosen_devices(given.devices)) {
    run(bench_device{.device = device, .given = given});
  }
}
