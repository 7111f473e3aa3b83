// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "tests/operations/telescope/rfi2d_lanes.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <doctest/doctest.h>
#include <limits>
#include <vector>

#include "tests/operations/telescope/numpy_random.hpp"

using namespace tune::operations;  // NOLINT: the subject of the tests

namespace {

/// Smooths one line, whose samples all have the weight 1.
std::vector<float> smooth_line(const std::vector<float>& line, const gaussian_taps& given) {
  const std::size_t n = line.size(), reach = given.reach();
  std::vector<float> taps(2 * (reach + block_taps::zeros) + 1);
  float* const centre = taps.data() + reach + block_taps::zeros;
  for (std::size_t i = 0; i <= reach; ++i) *(centre + i) = *(centre - i) = given.half()[i];
  constexpr std::size_t room = 512;
  alignas(64) static std::array<std::array<lanes, room>, 4> memory;
  for (std::size_t i = 0; i < n; ++i) {
    memory[0][i] = zero_lanes + line[i];
    memory[1][i] = zero_lanes + 1.0F;
  }
  smooth({memory[0].data(), memory[1].data()}, n, 0, n, {centre, reach},
         {memory[2].data(), memory[3].data()});
  std::vector<float> result;
  for (std::size_t i = 0; i < n; ++i) result.push_back(memory[2][i][5]);
  return result;
}

/// The median of what is below infinity, simply; infinity if that is nothing.
float simple_median(std::vector<float> numbers) {
  std::erase(numbers, std::numeric_limits<float>::infinity());
  if (numbers.empty()) return std::numeric_limits<float>::infinity();
  std::sort(numbers.begin(), numbers.end());
  const std::size_t middle = numbers.size() / 2;
  return numbers.size() % 2 != 0 ? numbers[middle] : (numbers[middle - 1] + numbers[middle]) * 0.5F;
}

}  // namespace

TEST_CASE("the radius of the boxes follows the width of the Gaussian") {
  const std::array<double, 7> sigmas{0.5, 1, 2.5, 5, 10, 12.5, 25};
  const std::array<std::size_t, 7> radii{0, 1, 2, 4, 8, 10, 21};
  for (std::size_t i = 0; i < sigmas.size(); ++i) CHECK(box_radius(sigmas[i]) == radii[i]);
}

TEST_CASE("one box is a moving average, with zeros outside of the line") {
  const gaussian_taps box(std::sqrt(2.0), 100, 1);
  CHECK(box.reach() == 2);
  const std::vector<float> smoothed = smooth_line({50, 10, 60, -70, 30, 20, -15}, box);
  const std::vector<float> expected{24, 10, 16, 10, 5, -7, 7};
  for (std::size_t i = 0; i < expected.size(); ++i) {
    CHECK(smoothed[i] == doctest::Approx(expected[i]).epsilon(1e-6));
  }
}

TEST_CASE("an impulse becomes nearly a Gaussian") {
  for (const double sigma : {2.5, 5.0, 10.0, 12.5}) {
    std::vector<float> impulse(301);
    impulse[150] = 1;
    const std::vector<float> smoothed = smooth_line(impulse, gaussian_taps(sigma, 301));
    double sum = 0, mean = 0, variance = 0;
    for (std::size_t i = 0; i < smoothed.size(); ++i) {
      const double x = static_cast<double>(i) - 150;
      sum += smoothed[i];
      mean += x * smoothed[i];
      variance += x * x * smoothed[i];
    }
    CHECK(std::abs(sum - 1) < 1e-5);
    CHECK(std::abs(mean) < 1e-5);
    const double effective = std::sqrt(variance);
    CHECK(std::abs(effective - sigma) < 1);
    for (double x = 0; x < 2 * sigma; x += 1) {
      const double gaussian = std::exp(-x * x / (2 * variance)) / std::sqrt(2 * M_PI * variance);
      CHECK(smoothed[150 + static_cast<std::size_t>(x)] == doctest::Approx(gaussian).epsilon(0.1));
    }
  }
}

TEST_CASE("gaps are interpolated, and the ends held") {
  const float none = 0;
  std::array<lanes, 10> level{};
  const std::array<float, 10> given{none, none, 4, none, none, 10, none, -2, none, none};
  const std::array<float, 10> expected{4, 4, 4, 6, 8, 10, 4, -2, -2, -2};
  std::array<lane_bits, 10> undefined{};
  for (std::size_t i = 0; i < given.size(); ++i) {
    level[i][3] = given[i];
    undefined[i] = i == 2 || i == 5 || i == 7 ? 0 : 0xFFFF;
  }
  interpolate_line(level.data(), undefined.data(), level.size(), 3);
  for (std::size_t i = 0; i < given.size(); ++i) CHECK(level[i][3] == expected[i]);
}

TEST_CASE("medians are those of sorting, of every length and with ties") {
  numpy_random random(2);
  for (const std::size_t n : {1, 2, 3, 7, 30, 95, 96, 97, 200, 1000}) {
    for (const int kind : {0, 1, 2}) {
      std::vector<lanes> x(n);
      std::array<std::vector<float>, lane_count> lists;
      int_lanes count{};
      for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t lane = 0; lane < lane_count; ++lane) {
          double value = std::abs(random.normal(0, 1));
          if (kind == 1) value = std::floor(4 * value);
          if (kind == 2) value = std::exp(20 * value);
          // More and more are left out, up to all of the last list.
          const bool out = random.random_sample() * 15 < static_cast<double>(lane);
          x[i][lane] = out ? infinity : static_cast<float>(value);
          lists[lane].push_back(x[i][lane]);
          count[lane] += out ? 0 : 1;
        }
      }
      const lanes searched = median_by_search(x.data(), n, count);
      const lanes chosen = median(x.data(), n, count);
      for (std::size_t lane = 0; lane < lane_count; ++lane) {
        CAPTURE(n);
        CAPTURE(lane);
        CHECK(searched[lane] == simple_median(lists[lane]));
        CHECK(chosen[lane] == simple_median(lists[lane]));
      }
    }
  }
}

TEST_CASE("the background of a constant is the constant, and of nothing 0") {
  for (const bool flagged : {false, true}) {
    rfi2d_lanes pieces({}, 30, 80);
    for (std::size_t t = 0; t < 30; ++t) {
      for (std::size_t f = 0; f < 80; ++f) pieces.set(t, f, 7.5F, flagged);
    }
    pieces.compute_background();
    for (std::size_t t = 0; t < 30; ++t) {
      for (std::size_t f = 0; f < 80; ++f) {
        CHECK(pieces.background(t, f) == doctest::Approx(flagged ? 0 : 7.5).epsilon(1e-5));
      }
    }
  }
}

TEST_CASE("flagged samples do not reach the background, and gaps are bridged") {
  rfi2d_lanes pieces({.background_iterations = 0, .spike_width_time = 2, .spike_width_freq = 3}, 30,
                     120);
  for (std::size_t t = 0; t < 30; ++t) {
    for (std::size_t f = 0; f < 120; ++f) {
      const bool gap = f >= 40 && f < 80;
      const bool out = t % 3 == 0 || gap;
      pieces.set(t, f, out ? 1000.0F : (f < 40 ? 2.0F : 4.0F), out);
    }
  }
  pieces.compute_background();
  for (std::size_t t = 0; t < 30; ++t) {
    CHECK(pieces.background(t, 5) == doctest::Approx(2).epsilon(1e-5));
    CHECK(pieces.background(t, 110) == doctest::Approx(4).epsilon(1e-5));
    // A box of radius 2 or less four times reaches 8 channels into the gap of 40.
    CHECK(pieces.background(t, 59) == doctest::Approx(3).epsilon(0.05));
    for (std::size_t f = 49; f < 71; ++f) {
      CHECK(pieces.background(t, f) >= pieces.background(t, f - 1));
    }
  }
}

TEST_CASE("strong samples are rejected before the background is computed for good") {
  rfi2d_lanes pieces({.background_iterations = 3, .freq_chunks = 1}, 40, 100);
  numpy_random random(3);
  for (std::size_t t = 0; t < 40; ++t) {
    for (std::size_t f = 0; f < 100; ++f) {
      const bool spike = f % 25 == 7;
      pieces.set(t, f, static_cast<float>(random.normal(10, 0.1)) + (spike ? 5.0F : 0.0F), false);
    }
  }
  pieces.compute_background();
  for (std::size_t t = 0; t < 40; ++t) {
    for (std::size_t f = 0; f < 100; ++f) {
      CHECK(pieces.background(t, f) == doctest::Approx(10).epsilon(1e-2));
    }
  }
}

TEST_CASE("SumThreshold finds lines along both axes, and nothing where all is flagged") {
  constexpr std::size_t times = 100, channels = 90;
  for (const bool along_time : {true, false}) {
    for (const bool all_flagged : {false, true}) {
      rfi2d_lanes pieces({.freq_chunks = 1}, times, channels);
      numpy_random random(4);
      std::vector<bool> injected(times * channels);
      for (std::size_t t = 0; t < times; ++t) {
        for (std::size_t f = 0; f < channels; ++f) {
          const std::size_t along = along_time ? t : f, across = along_time ? f : t;
          const bool in_line = across % 11 == 3 && along >= 20 && along < 28;
          const bool is_spike = across % 17 == 8 && along == 50;
          injected[t * channels + f] = in_line || is_spike;
          const float more = is_spike ? 20.0F : (in_line ? 6.0F : 0.0F);
          pieces.set(t, f, static_cast<float>(random.standard_normal()) + more, all_flagged);
        }
      }
      along_time ? pieces.threshold_times() : pieces.threshold_frequencies();
      std::size_t differ = 0, found = 0;
      for (std::size_t t = 0; t < times; ++t) {
        for (std::size_t f = 0; f < channels; ++f) {
          found += pieces.found(t, f) ? 1 : 0;
          differ += pieces.found(t, f) != injected[t * channels + f] ? 1 : 0;
        }
      }
      if (all_flagged) {
        CHECK(found == 0);
      } else {
        CHECK(differ < times * channels / 100);
      }
    }
  }
}

TEST_CASE("flagged samples do not count for SumThreshold's noise") {
  rfi2d_lanes pieces({.windows_time = {1}}, 1000, 1);
  numpy_random random(5);
  for (std::size_t t = 0; t < 1000; ++t) {
    const bool flagged = t < 500;
    const double value = flagged ? random.normal(0, 100) : random.normal(0, 3);
    pieces.set(t, 0, static_cast<float>(value), flagged);
  }
  pieces.set(700, 0, 12.5F, false);
  pieces.set(720, 0, -12.5F, false);
  pieces.set(740, 0, 20.0F, false);
  pieces.set(760, 0, -20.0F, false);
  pieces.threshold_times();
  CHECK_FALSE(pieces.found(700, 0));
  CHECK_FALSE(pieces.found(720, 0));
  CHECK(pieces.found(740, 0));
  CHECK(pieces.found(760, 0));
}
