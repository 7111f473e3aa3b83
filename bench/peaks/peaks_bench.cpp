// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Prints the measured peaks of each device, with the time that measuring takes; then twice the
// rates of later measurements, which show how much they vary.
//
//   peaks_bench
#include <chrono>
#include <fmt/format.h>
#include <string_view>

#include "libtune/device/devices.hpp"
#include "libtune/measure/peaks.hpp"

namespace {

template <class Measure>
void print(std::string_view name, const char* unit, const Measure& measure) {
  fmt::print("  {:<15}", name);
  for (int i = 0; i < 3; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    const double rate = measure(i > 0);
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - begin;
    if (rate <= 0) {
      fmt::print(" cannot be measured ({:.3f} s)", spent.count());
      break;
    }
    fmt::print(" {:>10.5g} {} ({:.3f} s)", 1e-9 * rate, unit, spent.count());
  }
  fmt::print("\n");
}

void print_peaks(const tune::device& of) {
  fmt::print("{}\n", of.name());
  const tune::context context = of.create_context();
  const auto find = [&](const tune::wanted_peaks& wanted, bool again) {
    return again ? renew_peaks(context, wanted) : peaks_of(context, wanted);
  };
  print("memory", "GB/s", [&](bool again) { return find({}, again).bytes_per_second; });
  for (const auto by :
       {tune::arithmetic::float32, tune::arithmetic::float64, tune::arithmetic::float16,
        tune::arithmetic::int32, tune::arithmetic::tensor_float16, tune::arithmetic::tensor_tf32,
        tune::arithmetic::tensor_int8}) {
    print(arithmetic_name(by), "GOP/s", [&](bool again) {
      return find({.memory = false, .by = by}, again).operations_per_second;
    });
  }
}

}  // namespace

int main() {
  for (const tune::device& each : tune::all_devices()) print_peaks(each);
}
