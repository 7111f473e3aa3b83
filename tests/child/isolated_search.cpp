// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// A program that tunes in children, which kill_test starts, and kills together with them:
// isolated_search <database> <log> [<patience in ms>]. It prints the winner.
#include <chrono>
#include <cstdio>
#include <cstdlib>

#include "libtune/child/serve_if_worker.hpp"
#include "libtune/device/devices.hpp"
#include "libtune/tune/options.hpp"
#include "tests/child/sample_tuner.hpp"

int main(int count, char** arguments) {
  tune::serve_if_worker(count, arguments);
  if (count != 3 && count != 4) return 2;
  auto options = isolated::isolated_options(arguments[1]);
  options.watchdog.floor = std::chrono::milliseconds(count == 4 ? std::atoi(arguments[3]) : 10'000);
  const isolated::sample_key key{.configurations = 40, .sleep_us = 11'000, .log = arguments[2]};
  const auto best = isolated::sample_autotune(tune::select_device().create_context(), key, options);
  std::printf("%d\n", best.n);
  return best.n == 1 ? 0 : 1;
}
