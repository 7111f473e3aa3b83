// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Question: how well does the energy of a run repeat, and how long does its measurement take?
//   energy_bench [--rounds 10]
//
// Two kernels in four sizes each, one limited by arithmetic and one by memory, are measured
// together like the finalists of a search (measure_energy), ten times. Reported for each: the
// joules of a run, the mean power, the spread of the ten (the standard deviation and the largest
// distance from the mean, in percent), the uncertainty given by the meter, and the time for each.
// For comparison the simple way: the counter read before and after as many milliseconds of runs.
// kernel_tuner_energy.py does the same with Kernel Tuner and its NVML observer.
#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <fmt/format.h>
#include <fstream>
#include <memory>
#include <numeric>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "libtune/extra/sensors/energy_meter.hpp"
#include "libtune/libtune.hpp"

namespace {

using clock_type = std::chrono::steady_clock;

constexpr std::size_t groups = 1056;
constexpr std::size_t items = 256;
constexpr std::size_t floats = std::size_t{1} << 27;

struct variant {
  const char* kernel;
  unsigned length;
};
constexpr std::array variants{variant{"chain", 200},    variant{"chain", 2'000},
                              variant{"chain", 20'000}, variant{"chain", 60'000},
                              variant{"copy", 2},       variant{"copy", 16},
                              variant{"copy", 128},     variant{"copy", 240}};

std::string read_file(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  if (text.str().empty()) {
    fmt::print(stderr, "{} cannot be read; run this from the top of the source tree\n", path);
    std::exit(1);
  }
  return text.str();
}

struct statistics {
  double mean;
  double spread;
  double largest;
};

statistics statistics_of(const std::vector<double>& values) {
  const auto count = static_cast<double>(values.size());
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / count;
  double squares = 0;
  double largest = 0;
  for (const double value : values) {
    squares += (value - mean) * (value - mean);
    largest = std::max(largest, std::abs(value - mean));
  }
  const double deviation = std::sqrt(squares / std::max(1.0, count - 1));
  return {mean, 100 * deviation / mean, 100 * largest / mean};
}

double seconds_since(clock_type::time_point begin) {
  return std::chrono::duration<double>(clock_type::now() - begin).count();
}

// Reads the counter before and after about as much time as the meter uses for one load.
double naive_joules(tune::energy_sensor& sensor, const tune::energy_load& load,
                    std::chrono::duration<double> time) {
  const int runs = std::max(1, static_cast<int>(time / load.expected));
  const double before = sensor.joules();
  load.run(runs);
  return (sensor.joules() - before) / runs;
}

// Each variant, on memory that all share.
std::vector<tune::measure> make_measures(const tune::context& context) {
  auto queue = context.create_tuning_command_queue();
  const tune::buffer data = context.create_buffer(floats * sizeof(float));
  queue.zero(data, data.size_bytes());
  const auto program =
      tune::compile(context, {"kernels.cu", read_file("bench/energy/kernels.cu")}, tune::defines());
  std::vector<tune::measure> measures;
  for (const variant& each : variants) {
    auto kernel = std::make_shared<tune::kernel>(program.create_kernel(each.kernel));
    measures.push_back(tune::make_measure(queue, [=]() mutable {
      kernel->set_arguments(data, 0.999F, each.length);
      queue.enqueue(*kernel, {{groups * items}, {items}});
    }));
  }
  return measures;
}

std::vector<tune::energy_load> loads_of(std::vector<tune::measure>& measures) {
  std::vector<tune::energy_load> loads;
  loads.reserve(measures.size());
  for (tune::measure& each : measures) {
    each.run();
    loads.push_back({[&each](int runs) {
                       each.repeat(runs);
                       return true;
                     },
                     tune::samples(each.sample(10)).median()});
  }
  return loads;
}

// A row of the table: the rounds of libtune, and those of plain readings.
void print_row(const variant& of, const tune::energy_load& load,
               const std::vector<tune::energy_result>& rounds, const std::vector<double>& naive) {
  std::vector<double> joules;
  joules.reserve(rounds.size());
  for (const tune::energy_result& round : rounds) joules.push_back(round.joules);
  const statistics ours = statistics_of(joules);
  const statistics plain = statistics_of(naive);
  const tune::energy_result& last = rounds.back();
  fmt::print(
      "| {} {} | {:.1f} | {:.4f} | {:.1f} | {:.2f} % | {:.2f} % | {:.2f} % | {} | {:.0f}{} | "
      "{:.0f} | {:.4f} | {:.2f} % | {:.2f} % |\n",
      of.kernel, of.length, load.expected.count() * 1e-3, ours.mean * 1e3, last.watts, ours.spread,
      ours.largest, 100 * last.uncertainty, last.samples.size(), last.clock_mhz,
      last.power_capped ? " (capped)" : "", last.temperature_c, plain.mean * 1e3, plain.spread,
      plain.largest);
  if (!last.throttled.empty()) fmt::print("  throttled: {}\n", last.throttled);
}

}  // namespace

int main(int count, char** arguments) {
  int rounds = 10;
  if (count == 3 && std::string_view(arguments[1]) == "--rounds") rounds = std::atoi(arguments[2]);
  const tune::device device = tune::select_device();
  const auto found = tune::find_energy_sensor(device);
  if (!found.sensor) {
    fmt::print("{}: no energy sensor: {}\n", device.name(), found.absence);
    return 0;
  }
  if (device.info().language != tune::kernel_language::cuda_cpp) {
    fmt::print("{}: the kernels of this program are CUDA's\n", device.name());
    return 0;
  }
  const tune::context context = device.create_context();
  std::vector<tune::measure> measures = make_measures(context);
  const std::vector<tune::energy_load> loads = loads_of(measures);
  fmt::print("{}, {}, {} rounds\n", device.name(), found.sensor->name(), rounds);
  const tune::energy_settings settings;
  std::vector<std::vector<tune::energy_result>> measured(loads.size());
  const auto begin = clock_type::now();
  for (int round = 0; round < rounds; ++round) {
    auto of_round = tune::measure_energy(*found.sensor, loads, settings);
    for (std::size_t i = 0; i < loads.size(); ++i) measured[i].push_back(std::move(of_round[i]));
  }
  const double each = seconds_since(begin) / rounds / static_cast<double>(loads.size());
  std::vector<std::vector<double>> naive(loads.size());
  for (int round = 0; round < rounds; ++round) {
    for (std::size_t i = 0; i < loads.size(); ++i) {
      naive[i].push_back(naive_joules(*found.sensor, loads[i], settings.time_each));
    }
  }
  fmt::print("{:.3f} s for each\n", each);
  fmt::print(
      "| kernel | us | mJ of a run | W | spread | largest | told | visits | clock | deg C | "
      "plain reading, mJ | spread | largest |\n"
      "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n");
  for (std::size_t i = 0; i < loads.size(); ++i) {
    print_row(variants[i], loads[i], measured[i], naive[i]);
  }
  return 0;
}
