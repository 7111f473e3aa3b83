// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "libtune/tune/observer.hpp"

namespace tune::testing {

inline constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

inline tuning_subject sample_subject() {
  tuning_subject subject;
  subject.function = "blur.autotune";
  subject.version = 3;
  subject.arguments = {{"type", std::string("float32")}, {"radius", std::int64_t{2}}};
  subject.device.identity = {"some device", "some platform", "1.2"};
  return subject;
}

inline std::vector<named_value> sample_configuration(std::int64_t x, std::int64_t y) {
  return {{"block_x", x}, {"block_y", y}, {"tile", std::int64_t{1}}};
}

inline samples samples_of(const std::vector<double>& nanoseconds) {
  samples made;
  for (const double time : nanoseconds) made.add(run_time(time));
  return made;
}

inline trial measured_trial(std::size_t index, std::vector<named_value> configuration,
                            const std::vector<double>& nanoseconds) {
  trial made;
  made.index = index;
  made.configuration = std::move(configuration);
  made.outcome = outcome::measured;
  made.samples = samples_of(nanoseconds);
  made.score = made.samples.median();
  if (made.samples.size() > 2) {
    made.bounds = {made.samples.min(), *std::ranges::max_element(made.samples.times())};
  }
  made.preparation = std::chrono::microseconds(12345);
  return made;
}

inline trial failed_trial(std::size_t index, std::vector<named_value> configuration, outcome result,
                          std::string reason) {
  trial made;
  made.index = index;
  made.configuration = std::move(configuration);
  made.outcome = result;
  made.reason = std::move(reason);
  return made;
}

/// A search in which everything was measured.
inline search_finished_event successful_search() {
  return {.subject = sample_subject(),
          .trials = {measured_trial(0, sample_configuration(16, 2), {53000, 53100, 53200}),
                     measured_trial(1, sample_configuration(16, 4), {50000}),
                     measured_trial(2, sample_configuration(32, 2), {52500, 52500})},
          .best = 1,
          .elapsed = std::chrono::milliseconds(1500)};
}

/// The same, with metrics that not all trials have.
inline search_finished_event search_with_metrics() {
  search_finished_event search = successful_search();
  search.trials[0].metrics = {
      {"gflops", 812.5, "GFLOP/s"}, {"energy", not_a_number, "J"}, {"registers", 64}};
  search.trials[1].metrics = {{"energy", 0.25, "J"}, {"registers", 64}};
  search.trials[2].metrics = {{"registers", 64}};
  return search;
}

/// A search with a trial of most outcomes.
inline search_finished_event mixed_search() {
  search_finished_event search = successful_search();
  trial untimed = failed_trial(6, sample_configuration(64, 8), outcome::invalid_time,
                               "a time is NaN, infinite, zero or negative");
  untimed.samples = samples_of({51000, not_a_number});
  for (trial item :
       {failed_trial(3, sample_configuration(32, 4), outcome::over_limit, "it needs too much"),
        failed_trial(4, sample_configuration(64, 2), outcome::compile_failed,
                     "blur.kernel does not compile\nerror: \"x\", unknown\nhere"),
        failed_trial(5, sample_configuration(64, 4), outcome::skipped, ""), untimed,
        failed_trial(7, sample_configuration(96, 4), outcome::over_limit, "it needs too much")}) {
    search.trials.push_back(std::move(item));
  }
  return search;
}

/// A search in which nothing could be measured.
inline search_finished_event failed_search() {
  search_finished_event search = mixed_search();
  search.trials.erase(search.trials.begin(), search.trials.begin() + 3);
  search.best.reset();
  return search;
}

}  // namespace tune::testing
