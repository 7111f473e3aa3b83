// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// A process that tunes on a fake device, for tests that start many of them:
//   tuning_process TALLY NUMBER
// Every process finds another configuration the fastest, as if its times were noise: those that
// tune on their own end with different answers.
#include <bit>
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

#include "libtune/tune/observer.hpp"
#include "libtune/tune/options.hpp"
#include "tests/tune/process_tally.hpp"
#include "tests/tune/scale.hpp"

namespace {

using namespace std::chrono_literals;
using tune::testing::process_tally;

constexpr int configurations = 6;

int number_of(int wgs, int rows) {
  return 2 * std::countr_zero(static_cast<unsigned>(wgs) / 2) + rows - 1;
}

/// A device of its own, but with the name of one that other processes have as well.
tune::testing::fake_device make_device(process_tally& tally, std::size_t number) {
  const auto fake = sample::make_device(tune::testing::device_name(tally, number));
  const int liked = static_cast<int>(::getpid() % configurations);
  fake.set_time([liked](const tune::testing::fake_launch& launch) {
    const bool best = number_of(static_cast<int>(launch.integer("wgs")),
                                static_cast<int>(launch.integer("rows"))) == liked;
    return best ? 100ns : 200ns;
  });
  fake.add_kernel("scale", 2, [&tally, number](tune::testing::fake_launch&) {
    if (tally.measuring[number]++ != 0) ++tally.overlaps;
    std::this_thread::sleep_for(std::chrono::microseconds(tally.launch_us));
    --tally.measuring[number];
  });
  return fake;
}

/// Tells of a search as soon as it starts, so that a test can stop or kill it.
struct search_counter final : tune::observer {
  explicit search_counter(process_tally& tally) : tally_(tally) {}
  void search_started(const tune::search_started_event&) override {
    tally_.searching = ::getpid();
    ++tally_.searches;
  }

 private:
  process_tally& tally_;
};

void ask(process_tally& tally, const sample::counted_autotuner& counted,
         const tune::context& context, int key) {
  try {
    tune::tuning_options options;
    options.database = tally.database.data();
    options.wait = std::chrono::milliseconds(tally.wait_ms);
    options.measure =
        tune::measure_settings{.time_limit = 0ns, .min_iterations = 1, .max_iterations = 1};
    options.observers = {std::make_shared<search_counter>(tally)};
    const sample::scale_tuning answer = counted.autotune(context, {.size = 64 + key}, options);
    if (answer == sample::test_default) {
      ++tally.defaults;
    } else {
      ++tally.tuned;
      tally.answers |= std::uint64_t{1} << number_of(answer.wgs, answer.rows);
    }
  } catch (const std::exception& failure) {
    ++tally.errors;
    std::cerr << failure.what() << '\n';
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const tune::testing::shared_tally shared(argv[1]);
  process_tally& tally = *shared;
  const int number = std::atoi(argv[2]);
  const auto fake = make_device(tally, static_cast<std::size_t>(number % tally.devices));
  const auto context = fake.device().create_context();
  const sample::counted_autotuner counted;
  ++tally.ready;
  while (!tally.go) std::this_thread::sleep_for(100us);
  std::vector<std::jthread> threads;
  for (int i = 0; i < tally.threads; ++i) {
    threads.emplace_back([&] { ask(tally, counted, context, number % tally.keys); });
  }
  threads.clear();
  return 0;
}
