// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "bench/operations/device_time.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>

namespace bench {
namespace {

double median_of(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace

double contender::median() const { return median_of(seconds); }

void time_in_turn(tune::command_queue& queue, std::vector<contender>& contenders, int rounds) {
  for (int round = 0; round <= rounds; ++round) {
    for (contender& item : contenders) {
      const tune::event start = queue.enqueue_marker();
      item.enqueue();
      const tune::event end = queue.enqueue_marker();
      queue.finish();
      if (round == 0) continue;
      item.seconds.push_back(std::chrono::duration<double>(end.time_since(start)).count());
    }
  }
}

double ratio(const contender& a, const contender& b) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < a.seconds.size(); ++i) {
    ratios.push_back(a.seconds[i] / b.seconds[i]);
  }
  return median_of(ratios);
}

}  // namespace bench
