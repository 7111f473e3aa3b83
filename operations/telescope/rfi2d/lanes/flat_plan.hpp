// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <list>
#include <vector>

#include "operations/telescope/rfi2d/lanes/block.hpp"
#include "operations/telescope/rfi2d/parameters.hpp"

namespace tune::operations {

/// A plan as plain data, and the arrays that it points to.
struct flat_plan {
  explicit flat_plan(const rfi2d_plan& given) {
    const auto flatten = [](const std::vector<rfi2d_plan::window>& from,
                            std::vector<block_window>& to) {
      for (const auto& window : from) to.push_back({window.length, window.factor, window.clamp});
      return block_windows{to.data(), to.size()};
    };
    chunk_ends = given.chunk_ends;
    for (const auto& background : given.backgrounds) {
      backgrounds.push_back({mirror(background.time), mirror(background.freq)});
    }
    plan = {.times = given.times,
            .channels = given.channels,
            .average = given.average,
            .averaged = given.averaged,
            .time_windows = flatten(given.time_windows, time_windows),
            .freq_windows = flatten(given.freq_windows, freq_windows),
            .chunk_ends = chunk_ends.data(),
            .chunks = chunk_ends.size() - 1,
            .reject = given.reject,
            .backgrounds = backgrounds.data(),
            .background_count = backgrounds.size(),
            .time_extend = given.time_extend,
            .freq_extend = given.freq_extend,
            .most_flags_of_time = given.most_flags_of_time,
            .most_flags_of_channel = given.most_flags_of_channel};
  }
  flat_plan(const flat_plan&) = delete;
  flat_plan& operator=(const flat_plan&) = delete;

  block_taps mirror(const gaussian_taps& given) {
    const std::size_t reach = given.reach();
    std::vector<float>& taps = all_taps.emplace_back(2 * (reach + block_taps::zeros) + 1);
    float* const centre = taps.data() + reach + block_taps::zeros;
    for (std::size_t i = 0; i <= reach; ++i) *(centre + i) = *(centre - i) = given.half()[i];
    return {centre, reach};
  }

  std::vector<block_window> time_windows;
  std::vector<block_window> freq_windows;
  std::vector<std::size_t> chunk_ends;
  std::vector<block_background> backgrounds;
  std::list<std::vector<float>> all_taps;
  block_plan plan{};
};

}  // namespace tune::operations
