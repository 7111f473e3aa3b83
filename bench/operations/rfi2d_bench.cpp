// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Question: how many visibilities per second does the 2-D flagger process, on the host and on each
// device?
//
// The data: times x channels x baselines of complex noise around a constant, with interference in
// some channels, some times and some samples, and one sample in a hundred flagged. Default
// parameters. The host flags it with one thread, on fewer baselines because that takes long, and
// with all; the best of the rounds counts. Devices are tuned first, without a database; the median
// of the rounds counts, measured by markers on the device, with the data already there. All flags
// of host and device are compared.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <complex>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fmt/format.h>
#include <thread>
#include <utility>
#include <vector>

#include "bench/operations/device_time.hpp"
#include "libtune/child/serve_if_worker.hpp"
#include "libtune/libtune.hpp"
#include "operations/telescope/rfi2d/rfi2d.hpp"
#include "operations/telescope/rfi2d/rfi2d_host.hpp"

namespace {

using tune::host_array;
using tune::operations::rfi2d;
using tune::operations::rfi2d_host_flagger;
using tune::operations::rfi2d_template;

struct settings {
  std::size_t times = 30;
  std::size_t channels = 4096;
  std::size_t baselines = 2016;
  std::size_t threads = std::max(1U, std::thread::hardware_concurrency());
  int rounds = 5;
  bool host = true;
  bool parts = false;
  std::size_t limit = 0;
  std::vector<std::size_t> devices;
};

struct observation {
  host_array<std::complex<float>> data;
  host_array<std::uint8_t> flags;
};

/// Approximately normal numbers with mean 0 and variance 1: sums of four uniform bytes, which are
/// much faster than the standard library.
class noise {
 public:
  float next() {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    state_ ^= state_ << 17;
    const auto part = [&](int shift) { return static_cast<int>(state_ >> shift & 0xFFFF); };
    return static_cast<float>(part(0) + part(16) + part(32) + part(48) - 2 * 0xFFFF) / 37837.0F;
  }
  std::uint64_t bits() const { return state_; }

 private:
  std::uint64_t state_ = 88172645463325252;
};

observation observe(const settings& given, std::size_t baselines) {
  observation made{host_array<std::complex<float>>({given.times, given.channels, baselines}),
                   host_array<std::uint8_t>({given.times, given.channels, baselines})};
  noise random;
  std::size_t i = 0;
  for (std::size_t t = 0; t < given.times; ++t) {
    for (std::size_t f = 0; f < given.channels; ++f) {
      const bool interferes = f % 97 == 5 || (t == given.times / 2 && f % 8 < 5);
      for (std::size_t b = 0; b < baselines; ++b, ++i) {
        const float re = random.next();
        made.data.data()[i] = {20.0F + re + (interferes ? 30.0F : 0.0F), random.next()};
        made.flags.data()[i] = random.bits() % 100 == 0 ? 1 : 0;
      }
    }
  }
  return made;
}

/// Returns the seconds of the fastest round of the host.
double time_host(const observation& given, std::size_t threads, int rounds) {
  const rfi2d_host_flagger flagger({}, threads);
  double best = 1e300;
  for (int round = 0; round < rounds; ++round) {
    const auto start = std::chrono::steady_clock::now();
    const auto flags = flagger.flag(given.data, given.flags);
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
    best = std::min(best, taken.count());
  }
  return best;
}

double million_per_second(const observation& given, double seconds) {
  return static_cast<double>(given.data.padded_elements()) / seconds / 1e6;
}

/// Returns the rate of all threads.
double bench_host(const settings& given, const observation& all) {
  const observation few = observe(given, std::min<std::size_t>(given.baselines, 64));
  const double one = million_per_second(few, time_host(few, 1, given.rounds));
  fmt::print("host, 1 thread: {:.1f} Mvis/s\n", one);
  const double many = million_per_second(all, time_host(all, given.threads, given.rounds));
  fmt::print("host, {} threads: {:.1f} Mvis/s ({:.2f} of 1)\n", given.threads, many, many / one);
  return many;
}

/// The times without parts of the work, which show the cost of the parts.
void bench_parts(const rfi2d_template& tuned, tune::command_queue& queue, rfi2d& whole,
                 int rounds) {
  using tune::operations::rfi2d_parameters;
  const std::vector<std::pair<const char*, rfi2d_parameters>> parts{
      {"all", {}},
      {"no rejection", {.background_iterations = 0}},
      {"no windows", {.windows_time = {}, .windows_freq = {}}},
      {"neither", {.windows_time = {}, .windows_freq = {}, .background_iterations = 0}},
      {"nor smoothing",
       {.windows_time = {},
        .windows_freq = {},
        .background_iterations = 0,
        .spike_width_time = 0,
        .spike_width_freq = 0}},
      {"nor smearing",
       {.windows_time = {},
        .windows_freq = {},
        .background_iterations = 0,
        .spike_width_time = 0,
        .spike_width_freq = 0,
        .time_extend = 1,
        .freq_extend = 1}}};
  const tune::shape& size = whole.buffer("vis").layout().size();
  for (const auto& [name, parameters] : parts) {
    rfi2d op = tuned.instantiate(queue, size[0], size[1], size[2], parameters);
    for (const tune::named_slot& slot : whole.slots()) op.bind(slot.name, whole.buffer(slot.name));
    std::vector<bench::contender> timed{{[&] { op.run(); }}};
    bench::time_in_turn(queue, timed, rounds);
    fmt::print("  {:<16} {:8.2f} ms\n", name, 1e3 * timed[0].median());
  }
}

std::size_t count_differences(const host_array<std::uint8_t>& a,
                              const host_array<std::uint8_t>& b) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < a.padded_elements(); ++i) count += a.data()[i] != b.data()[i] ? 1 : 0;
  return count;
}

/// The device's figures: tuned and with the test default.
void bench_device(const tune::device& device, const settings& given, const observation& all,
                  double host_rate) {
  const tune::context context = device.create_context();
  bench::search_afresh(context, given.limit);
  tune::command_queue queue = context.create_command_queue({.profiling = true});
  const auto start = std::chrono::steady_clock::now();
  const rfi2d_template tuned(context);
  const std::chrono::duration<double> search = std::chrono::steady_clock::now() - start;
  const rfi2d_template plain(context, {}, tune::operations::rfi2d_tuning{});
  const tune::shape& size = all.data.size();
  rfi2d ours = tuned.instantiate(queue, size[0], size[1], size[2]);
  rfi2d standard = plain.instantiate(queue, size[0], size[1], size[2]);
  ours.ensure_all_bound();
  for (const tune::named_slot& slot : ours.slots())
    standard.bind(slot.name, ours.buffer(slot.name));
  ours.buffer("vis").set(queue, all.data);
  ours.buffer("input_flags").set(queue, all.flags);
  std::vector<bench::contender> timed{{[&] { ours.run(); }}, {[&] { standard.run(); }}};
  bench::time_in_turn(queue, timed, given.rounds);
  ours.run();
  host_array<std::uint8_t> flags(size);  // without the padding of the device's array
  ours.buffer("flags").get(queue, flags);
  const std::size_t wrong =
      count_differences(flags, rfi2d_host_flagger({}, given.threads).flag(all.data, all.flags));
  const double rate = million_per_second(all, timed[0].median());
  fmt::print("{} {}: {:.1f} Mvis/s, {:.2f} ms, {:.2f} of the test default's speed\n",
             device.info().backend, device.name(), rate, 1e3 * timed[0].median(),
             bench::ratio(timed[1], timed[0]));
  if (given.host) fmt::print("  {:.2f} of the host's speed\n", rate / host_rate);
  fmt::print("  {} of {} flags differ from the host's\n", wrong, flags.padded_elements());
  fmt::print("  search {:.1f} s, {}\n", search.count(),
             tune::to_string(tune::to_values(tuned.tuning())));
  if (given.parts) bench_parts(tuned, queue, ours, given.rounds);
}

}  // namespace

int main(int argc, char** argv) {
  tune::serve_if_worker(argc, argv);
  settings given;
  CLI::App app("Measures the 2-D flagger; see the head of the source for the method.");
  app.add_option("--times", given.times, "times of an observation");
  app.add_option("--channels", given.channels, "channels");
  app.add_option("--baselines", given.baselines, "baselines");
  app.add_option("--threads", given.threads, "threads of the host");
  app.add_option("--rounds", given.rounds, "how often each is timed");
  app.add_flag("--host,!--no-host", given.host, "time the host");
  app.add_flag("--parts", given.parts, "time the device also without some of the work");
  app.add_option("--limit", given.limit, "try so many configurations, chosen at random");
  app.add_option("--device", given.devices, "indices, as LIBTUNE_DEVICE counts; default: all");
  CLI11_PARSE(app, argc, argv);
  ::setenv("LIBTUNE_CACHE", "off", 1);

  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  const observation all = observe(given, given.baselines);
  const double host_rate = given.host ? bench_host(given, all) : 0;

  for (const tune::device& device : bench::chosen_devices(given.devices)) {
    bench_device(device, given, all, host_rate);
  }
}
