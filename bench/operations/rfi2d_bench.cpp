// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// How many visibilities a second the 2-D flagger flags, on the host and on each device.
//
// Times x channels x baselines of complex noise around a constant, with interference in some
// channels, some times and some samples, and one sample in a hundred flagged. Default parameters.
// The host flags it with one thread, on fewer baselines since that takes long, and with all; the
// best of the rounds counts. Devices are tuned first, without a database; the median of the rounds
// counts, measured by markers on the device, with the data there already. Flags of host and device
// are compared, all of them.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <complex>
#include <cstdint>
#include <cstdlib>
#include <fmt/format.h>
#include <thread>
#include <vector>

#include "libtune/libtune.hpp"
#include "operations/rfi2d/rfi2d_host.hpp"

namespace {

using tune::host_array;
using tune::operations::rfi2d_host_flagger;

struct settings {
  std::size_t times = 30;
  std::size_t channels = 4096;
  std::size_t baselines = 2016;
  std::size_t threads = std::max(1U, std::thread::hardware_concurrency());
  int rounds = 5;
};

struct observation {
  host_array<std::complex<float>> data;
  host_array<std::uint8_t> flags;
};

/// Numbers that are nearly normal, with mean 0 and variance 1: four bytes' worth of sums of uniform
/// ones, which are made much faster than by the standard library.
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

/// Returns the seconds of the fastest round.
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

}  // namespace

int main(int argc, char** argv) {
  settings given;
  CLI::App app("Measures the 2-D flagger; see the head of the source for the method.");
  app.add_option("--times", given.times, "times of an observation");
  app.add_option("--channels", given.channels, "channels");
  app.add_option("--baselines", given.baselines, "baselines");
  app.add_option("--threads", given.threads, "threads of the host");
  app.add_option("--rounds", given.rounds, "how often each is timed");
  CLI11_PARSE(app, argc, argv);

  const observation few = observe(given, std::min<std::size_t>(given.baselines, 64));
  const double one = million_per_second(few, time_host(few, 1, given.rounds));
  fmt::print("host, 1 thread: {:.1f} Mvis/s\n", one);
  const observation all = observe(given, given.baselines);
  const double many = million_per_second(all, time_host(all, given.threads, given.rounds));
  fmt::print("host, {} threads: {:.1f} Mvis/s ({:.2f} of 1)\n", given.threads, many, many / one);
}
