// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// A program that ends in different ways while it has metrics: metrics_application <"return",
// "exit", "static" or "abort">. LIBTUNE_METRICS_FILE names the file.
#include <cstdlib>
#include <string>

#include "libtune/extra/metrics.hpp"

namespace {

using namespace std::chrono_literals;

int run(const std::string& how) {
  static auto* const metrics = new tune::metrics_exporter();
  tune::frame_clock frames("application", 1s);
  frames.record(2s);
  if (how == "abort") {
    if (!metrics->write()) return 1;
    std::_Exit(4);
  }
  if (how == "exit") std::exit(3);
  if (how == "static") return 0;  // the exporter is never destroyed
  delete metrics;
  return 0;
}

}  // namespace

int main(int, char** arguments) { return run(arguments[1]); }
